import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.sites.change_history import (
    NEVER_VISITED,
    VISIT_DECAY,
    ChangeHistory,
    Floats,
)

gaps = st.floats(0.01, 30.0)
visits = st.lists(st.tuples(gaps, st.sampled_from([0.0, 1.0])), max_size=60)


def learn(result: list[tuple[float, float]]) -> ChangeHistory[float]:
    history = NEVER_VISITED
    for gap_days, unchanged in result:
        history = history.after(gap_days, unchanged)
    return history


def estimate(changes_per_day: float, *, gap_days: float, visits: int) -> float:
    """What is estimated in the mean, of a site that changes by chance at that rate."""
    chance = np.random.default_rng(7)
    sites = 2000
    none: Floats = np.zeros(sites)
    history = ChangeHistory(visits=none, unchanged=none, mean_gap_days=none)
    stands = math.exp(-changes_per_day * gap_days)
    for _ in range(visits):
        unchanged = (chance.random(sites) < stands).astype(np.float64)
        history = history.after(np.full(sites, gap_days), unchanged)
    return float(np.median(history.changes_per_day))


@given(visits)
def test_any_history_gives_a_finite_rate_above_zero(
    visits: list[tuple[float, float]],
) -> None:
    history = learn(visits)
    assert 0 <= history.unchanged <= history.visits <= 1 / (1 - VISIT_DECAY)
    assert 0 < history.changes_per_day < math.inf


@given(visits, gaps)
def test_a_visit_that_finds_a_change_says_more_than_one_that_finds_none(
    visits: list[tuple[float, float]], gap_days: float
) -> None:
    history = learn(visits)
    changed, same = (history.after(gap_days, item) for item in (0.0, 1.0))
    assert changed.changes_per_day > same.changes_per_day


@given(visits, gaps)
def test_the_same_visits_further_apart_are_a_lower_rate(
    visits: list[tuple[float, float]], gap_days: float
) -> None:
    near = learn([*visits, (gap_days, 0.0)])
    far = learn([*visits, (gap_days * 2, 0.0)])
    assert far.changes_per_day < near.changes_per_day


@given(visits)
def test_many_sites_are_counted_as_each_of_them(
    visits: list[tuple[float, float]],
) -> None:
    item = learn(visits)
    none: Floats = np.zeros(2)
    many = ChangeHistory(visits=none, unchanged=none, mean_gap_days=none)
    for gap_days, unchanged in visits:
        many = many.after(np.full(2, gap_days), np.full(2, unchanged))
    assert many.changes_per_day == pytest.approx([item.changes_per_day] * 2)


@pytest.mark.parametrize("changes_per_day", [0.05, 0.3, 1.0])
def test_the_estimate_is_near_the_rate(changes_per_day: float) -> None:
    result = estimate(changes_per_day, gap_days=1.0, visits=40)
    assert result == pytest.approx(changes_per_day, rel=0.25, abs=0.03)


def test_what_changed_every_time_may_change_faster_still() -> None:
    """The estimate stops at what twenty visits can tell."""
    fast, faster = (estimate(n, gap_days=1.0, visits=40) for n in (20.0, 200.0))
    assert fast == faster < 4.0


def test_a_site_that_takes_up_changing_is_noticed_within_two_weeks() -> None:
    calm = learn([(1.0, 1.0)] * 200)
    stirred = calm
    for _ in range(14):
        stirred = stirred.after(1.0, 0.0)
    assert calm.changes_per_day < 0.05
    assert stirred.changes_per_day > 0.5
