"""How often a site may be refreshed."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import RateLimited
from registry.usecases.sites.refresh import RefreshAllowance

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
TEN_MINUTES = timedelta(minutes=10)


@given(
    st.lists(st.integers(0, 3000), min_size=1, max_size=60),
    st.integers(1, 5),
)
def test_in_no_stretch_of_time_are_there_more_than_allowed(
    gaps_s: list[int], burst: int
) -> None:
    allowance = RefreshAllowance(interval=TEN_MINUTES, burst=burst)
    now, paid, taken = NOON, NEVER, list[datetime]()
    for gap_s in gaps_s:
        now += timedelta(seconds=gap_s)
        try:
            paid = allowance.take(paid, now)
        except RateLimited:
            continue
        taken.append(now)
    for index, start in enumerate(taken):
        for count, end in enumerate(taken[index:], 1):
            assert count <= burst + (end - start) / TEN_MINUTES


@given(st.integers(0, 10_000))
def test_after_the_seconds_that_are_named_it_is_taken(gap_s: int) -> None:
    allowance = RefreshAllowance(interval=TEN_MINUTES, burst=2)
    paid = allowance.take(allowance.take(NEVER, NOON), NOON)
    now = NOON + timedelta(milliseconds=gap_s)
    with pytest.raises(RateLimited) as caught:
        allowance.take(paid, now)
    wait_s = caught.value.retry_after_s
    assert wait_s is not None
    allowance.take(paid, now + timedelta(seconds=wait_s))
    with pytest.raises(RateLimited):
        allowance.take(paid, now + timedelta(seconds=wait_s - 1))
