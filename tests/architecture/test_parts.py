"""The parts in which `make test` runs: nothing is left out, and no failure is lost."""

from collections import Counter

from tests.parts import FOLDER, NO_TESTS, exit_code, parts, sum_up, up_to_summary


def test_every_file_of_tests_is_in_a_single_part() -> None:
    dealt = Counter(path for _, files in parts() for path in files)
    assert set(dealt.values()) == {1}
    assert set(dealt) == set(FOLDER.rglob("test_*.py"))
    assert all(files for _, files in parts())


def test_a_part_that_failed_or_was_killed_fails_the_whole() -> None:
    assert exit_code([0, NO_TESTS, 0]) == 0
    assert exit_code([NO_TESTS, NO_TESTS]) == NO_TESTS
    assert exit_code([0, 1, 0]) == 1
    assert exit_code([0, -9]) != 0


def test_what_the_parts_counted_is_added_up() -> None:
    lines = (
        "= 1 failed, 20 passed, 3 skipped, 4 subtests passed in 5.00s (0:00:05) =",
        "===== 300 passed in 61.50s (0:01:01) =====",
        "no summary, for it was killed in 3 s",
    )
    assert sum_up(lines) == "1 failed, 320 passed, 3 skipped, 4 subtests passed"


def test_what_a_library_says_behind_the_summary_hides_no_count() -> None:
    output = "tests/a.py ..\n\n==== 2 passed in 0.50s ====\nleaked 28 instances!\n"
    text, summary = up_to_summary(output)
    assert text.endswith(summary)
    assert sum_up([summary]) == "2 passed"
    assert up_to_summary("..\n2 passed in 0.50s\n")[1] == "2 passed in 0.50s"
    assert up_to_summary("Killed\n") == ("Killed", "")
