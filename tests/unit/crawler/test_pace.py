import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.restraint.pace import Pace
from registry.errors import Refused


def test_a_burst_goes_at_once_and_the_rest_in_step() -> None:
    pace = Pace(per_s=10, burst=3)
    waits = [pace.reserve("a", now_s=100, patience_s=1) for _ in range(6)]
    assert waits == pytest.approx([0, 0, 0, 0.1, 0.2, 0.3])


def test_a_turn_too_far_off_is_refused_and_not_taken() -> None:
    pace = Pace(per_s=1, burst=1)
    assert pace.reserve("a", now_s=0, patience_s=0) == 0
    for _ in range(3):
        with pytest.raises(Refused) as refused:
            pace.reserve("a", now_s=0, patience_s=0.5)
        assert (refused.value.code, refused.value.retry_after_s) == ("network_busy", 1)
    assert pace.reserve("a", now_s=1, patience_s=0) == 0


def test_each_place_has_its_own_pace() -> None:
    pace = Pace(per_s=1, burst=1)
    assert [pace.reserve(name, now_s=0, patience_s=0) for name in "abc"] == [0, 0, 0]


def test_only_so_many_places_are_remembered() -> None:
    pace = Pace(per_s=1, burst=1, capacity=2)
    for name in "abc":
        pace.reserve(name, now_s=0, patience_s=0)
    assert pace.reserve("a", now_s=0, patience_s=0) == 0
    with pytest.raises(Refused):
        pace.reserve("c", now_s=0, patience_s=0)


@given(st.lists(st.floats(0, 3), min_size=1, max_size=60), st.integers(1, 5))
def test_no_span_of_time_holds_more_than_the_burst_and_the_rate(
    pauses_s: list[float], burst: int
) -> None:
    pace, now_s, begun_s = Pace(per_s=2, burst=burst), 0.0, []
    for pause_s in pauses_s:
        now_s += pause_s
        begun_s.append(now_s + pace.reserve("a", now_s=now_s, patience_s=1e9))
    for first, start_s in enumerate(begun_s):
        for last, end_s in enumerate(begun_s[first:], start=1):
            assert last <= burst + 2 * (end_s - start_s) + 1e-6, (first, last)
