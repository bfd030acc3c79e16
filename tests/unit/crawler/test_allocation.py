from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.allocation import (
    MAX_RECRAWL,
    MIN_RECRAWL,
    USUAL,
    Allocation,
    allocate,
)
from registry.sites.change_history import NEVER_VISITED, Floats

DAY = timedelta(days=1)
FEWEST, MOST = DAY / MAX_RECRAWL, DAY / MIN_RECRAWL
budgets = st.floats(0.3, 3.5)


def many(slowest: float, fastest: float) -> st.SearchStrategy[Floats]:
    rates = st.floats(slowest, fastest)
    return st.lists(rates, min_size=1, max_size=50).map(np.array)


def worth(changes_per_day: Floats, visits_per_day: Floats) -> Floats:
    """The derivative of (f/λ)(1 - e^(-λ/f)) for f: what one more visit a day brings."""
    ratio = changes_per_day / visits_per_day
    result: Floats = (1 - (1 + ratio) * np.exp(-ratio)) / changes_per_day
    return result


@given(many(1e-3, 5.0), budgets)
def test_the_budget_is_spent(changes_per_day: Floats, budget: float) -> None:
    allocation = allocate(changes_per_day, visits_per_day=budget)
    spent = allocation.visits_per_day(changes_per_day).mean()
    assert spent == pytest.approx(budget, rel=1e-3)


@given(many(1e-3, 1e3), budgets)
def test_no_visit_is_worth_more_elsewhere(
    changes_per_day: Floats, budget: float
) -> None:
    """Which makes the sum the largest there is: it is concave in each site's visits."""
    allocation = allocate(changes_per_day, visits_per_day=budget)
    visits = allocation.visits_per_day(changes_per_day)
    brings = worth(changes_per_day, visits) / allocation.multiplier
    free = (visits > FEWEST) & (visits < MOST)
    assert brings[free] == pytest.approx(1, rel=1e-2)
    assert (brings[visits <= FEWEST] < 1.01).all()
    assert (brings[visits >= MOST] > 0.99).all()


@given(many(1e-9, 1e9))
def test_each_site_is_visited_within_the_bounds(changes_per_day: Floats) -> None:
    allocation = allocate(changes_per_day)
    for rate in changes_per_day:
        assert MIN_RECRAWL <= allocation.interval(float(rate)) <= MAX_RECRAWL


def test_changing_often_does_not_buy_visits_without_end() -> None:
    allocation = Allocation(multiplier=0.1)
    intervals = [allocation.interval(rate) for rate in (0.01, 0.1, 1.0, 4.0)]
    assert intervals == sorted(intervals, reverse=True)
    assert intervals[-1] < DAY / 2
    for rate in (10.0, 100.0, 1e9):
        assert allocation.interval(rate) == MAX_RECRAWL


@given(many(1e-3, 1e3), budgets, budgets)
def test_a_larger_budget_takes_visits_from_nobody(
    changes_per_day: Floats, first: float, other: float
) -> None:
    less, more = (
        allocate(changes_per_day, visits_per_day=budget).visits_per_day(changes_per_day)
        for budget in sorted((first, other))
    )
    assert (less <= more + 1e-9).all()


def test_a_registry_that_knows_nothing_comes_once_a_day() -> None:
    interval = USUAL.interval(NEVER_VISITED.changes_per_day)
    assert interval / DAY == pytest.approx(1, rel=1e-3)


def test_a_budget_beyond_the_bounds_gives_all_that_is_allowed() -> None:
    rates = np.array([0.1, 1.0])
    for budget, visits in ((0.01, FEWEST), (100.0, MOST)):
        result = allocate(rates, visits_per_day=budget).visits_per_day(rates)
        assert result == pytest.approx([visits] * 2)
