from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.freshness import days_between, freshnesses, seconds_of
from registry.ranking.policy import DEFAULT_POLICY, FULL

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def freshness(age: timedelta) -> int:
    days = days_between(np.array([seconds_of(NOW - age)]), seconds_of(NOW))
    return int(freshnesses(days, DEFAULT_POLICY)[0])


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_older_is_never_fresher(days: int, other: int) -> None:
    younger, older = sorted((days, other))
    value = freshness(timedelta(days=older))
    assert DEFAULT_POLICY.freshness_floor <= value <= freshness(timedelta(days=younger))


def test_freshness_decays_from_full_to_the_floor() -> None:
    assert freshness(timedelta()) == FULL
    assert freshness(timedelta(days=180)) == round(FULL / 2.718281828)
    assert freshness(timedelta(days=3650)) == DEFAULT_POLICY.freshness_floor


def test_a_change_ahead_of_the_clock_is_of_today() -> None:
    assert freshness(timedelta(days=-3)) == FULL


def test_instants_count_whatever_their_zone() -> None:
    eastern = timezone(timedelta(hours=3))
    assert seconds_of(NOW.astimezone(eastern)) == seconds_of(NOW)
