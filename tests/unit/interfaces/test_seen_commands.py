"""Ids of commands: each once, in every process, in a file that does not grow."""

from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from registry.interfaces.http.shared_sets import WAYS
from registry.interfaces.wab.seen_commands import FORMAT, SeenCommands

KEY = b"k" * 32


def take_all(folder: Path, count: int) -> int:
    """Return how many of the ids were new to this process."""
    seen = SeenCommands(folder, KEY)
    return sum(seen.take("session", str(number)) for number in range(count))


def test_an_id_is_new_once_in_each_session() -> None:
    seen = SeenCommands(None, KEY)
    assert seen.take("a", "1")
    assert not seen.take("a", "1")
    assert seen.take("b", "1")
    assert seen.take("a", "2")


def test_names_do_not_run_together() -> None:
    seen = SeenCommands(None, KEY)
    assert seen.take("a", "bc")
    assert seen.take("ab", "c")


def test_of_two_processes_one_takes_an_id(tmp_path: Path) -> None:
    count = 2_000
    with get_context("spawn").Pool(2) as pool:
        taken = pool.starmap(take_all, [(tmp_path, count)] * 2)
    assert sum(taken) == count


def test_the_file_does_not_grow_and_the_newest_are_remembered(tmp_path: Path) -> None:
    seen = SeenCommands(tmp_path, KEY)
    size = (tmp_path / FORMAT.file_name).stat().st_size
    for number in range(20_000):
        assert seen.take("flood", str(number))
    assert (tmp_path / FORMAT.file_name).stat().st_size == size < 8 << 20
    assert not any(seen.take("flood", str(number)) for number in range(20_000))
    assert FORMAT.sets * WAYS == 524_288


def test_a_folder_that_can_not_be_had_leaves_it_working(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("no folder")
    seen = SeenCommands(place, KEY)
    assert seen.take("a", "1")
    assert not seen.take("a", "1")


def test_threads_do_not_take_an_id_twice(tmp_path: Path) -> None:
    seen = [SeenCommands(tmp_path, KEY) for _ in range(2)]
    with ThreadPoolExecutor(1) as pool:
        taken = list(pool.map(lambda n: seen[n % 2].take("a", str(n // 2)), range(200)))
    assert sum(taken) == 100
