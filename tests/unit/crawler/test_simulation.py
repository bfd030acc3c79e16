"""The simulation behind the choice of a schedule; its figures are in ADR 0019."""

import numpy as np
import pytest

from crawler.bench.simulation import (
    Allocated,
    BackOff,
    FixedInterval,
    change_rates,
    compare,
    freshness_of_known,
    simulate,
)

SITES, DAYS = 1000, 30


def test_figures_are_the_same_at_each_run() -> None:
    first, second = (compare(sites=100, days=10, seeds=2) for _ in range(2))
    assert first == second
    assert first["runs"][0] != first["runs"][1]


def test_allocation_is_freshest_of_the_same_budget() -> None:
    comparison = compare(sites=SITES, days=DAYS, seeds=1)
    for prefix in ("", "fixed_", "backoff_"):
        assert comparison[f"{prefix}visits_per_day"] == pytest.approx(1, abs=0.02)
    others = (comparison["fixed_mean_freshness"], comparison["backoff_mean_freshness"])
    assert comparison["mean_freshness"] > max(others) + 0.015
    assert comparison["mean_freshness"] < comparison["known_rates_mean_freshness"]


def test_a_fixed_interval_is_as_fresh_as_the_formula_says() -> None:
    rates = change_rates(SITES)
    outcome = simulate(rates, FixedInterval(), days=DAYS, seed=3)
    expected = float((-np.expm1(-rates) / rates).mean())
    assert outcome.freshness == pytest.approx(expected, abs=0.005)


def test_fast_sites_get_less_from_the_allocation_than_from_back_off() -> None:
    rates = change_rates(SITES)
    ours, theirs = (
        simulate(rates, rule, days=DAYS, seed=3).fast_visits
        for rule in (Allocated(SITES), BackOff(SITES, growth=1.3))
    )
    assert ours < 0.75 * theirs


def test_known_rates_are_the_bound() -> None:
    assert freshness_of_known(np.full(10, 1e-6)) == pytest.approx(1, abs=1e-4)
    assert freshness_of_known(change_rates(SITES)) == pytest.approx(0.86, abs=0.01)
