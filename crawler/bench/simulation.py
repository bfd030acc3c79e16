"""Freshness of the registry by the rule that says when it comes again.

Made-up sites change by chance, each at its own rate, which no rule is told. Each rule
starts without any knowledge and has the same number of visits to spend. The rates are
the quantiles of a log-normal distribution: half of the sites change less than once a
week, two thirds between once in seven weeks and once a day, the fastest tenth more than
1.9 times a day and one in sixty more than ten times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist, fmean
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crawler.frontier.allocation import (
    MAX_RECRAWL,
    MIN_RECRAWL,
    USUAL,
    VISITS_PER_DAY,
    allocate,
)
from crawler.frontier.schedule import RECRAWL_SPREAD
from registry.sites.change_history import ChangeHistory, Floats

MEDIAN_CHANGES_PER_DAY = 1 / 7
SIGMA = 2.0  # of the logarithm
FAST_CHANGES_PER_DAY = 10.0
SHORTEST_DAYS = MIN_RECRAWL.total_seconds() / 86_400
LONGEST_DAYS = MAX_RECRAWL.total_seconds() / 86_400
STEP_DAYS = 1 / 24  # shorter than any gap between two visits of a site
STEPS_PER_DAY = 24
HALVINGS = 8

Sites = npt.NDArray[np.intp]
Kind = Callable[[int], "RevisitRule"]


class RevisitRule(Protocol):
    """A rule that sets the next visit of sites just visited."""

    def gaps_after(self, visited: Sites, gaps: Floats, unchanged: Floats) -> Floats:
        """Days until the next visit. gaps: days since the last one."""

    def end_day(self) -> None:
        """End a simulated day."""


class FixedInterval:
    """A rule that visits all sites equally often."""

    def gaps_after(self, visited: Sites, _gaps: Floats, _unchanged: Floats) -> Floats:
        return np.full(len(visited), 1 / VISITS_PER_DAY)

    def end_day(self) -> None:
        pass


class BackOff:
    """A rule that halves the gap after a change, else multiplies it by `growth`."""

    def __init__(self, sites: int, growth: float) -> None:
        self._gaps = np.full(sites, 1 / VISITS_PER_DAY)
        self._growth = growth

    def gaps_after(self, visited: Sites, _gaps: Floats, unchanged: Floats) -> Floats:
        factors = np.where(unchanged > 0, self._growth, 0.5)
        gaps = self._gaps[visited] * factors
        self._gaps[visited] = np.clip(gaps, SHORTEST_DAYS, LONGEST_DAYS)
        return self._gaps[visited]

    def end_day(self) -> None:
        pass


class Allocated:
    """Rule of the crawler: rates estimated from visits, and the budget shared by them."""

    def __init__(self, sites: int) -> None:
        self._history = np.zeros((3, sites))
        self._allocation = USUAL

    def gaps_after(self, visited: Sites, gaps: Floats, unchanged: Floats) -> Floats:
        learnt = _histories(self._history[:, visited]).after(gaps, unchanged)
        self._history[:, visited] = (
            learnt.visits,
            learnt.unchanged,
            learnt.mean_gap_days,
        )
        return 1 / self._allocation.visits_per_day(learnt.changes_per_day)

    def end_day(self) -> None:
        self._allocation = allocate(_histories(self._history).changes_per_day)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationOutcome:
    """freshness: share of the time that what was fetched last is still so, in the mean.

    visits, fast_visits: a day, of a site and of one that changes often, in the mean.
    """

    freshness: float
    visits: float
    fast_visits: float


def compare(*, sites: int, days: int, seeds: int) -> dict[str, Any]:
    """Mean figures of as many simulations as there are seeds, and of each."""
    rates = change_rates(sites)
    growth = find_growth(rates, days)
    kinds: dict[str, Kind] = {
        "": Allocated,
        "fixed_": lambda _: FixedInterval(),
        "backoff_": lambda number: BackOff(number, growth),
    }
    runs = []
    for seed in range(1, seeds + 1):
        figures: dict[str, float] = {"seed": seed}
        for prefix, kind in kinds.items():
            outcome = simulate(rates, kind(sites), days=days, seed=seed)
            figures |= _figures(prefix, outcome)
        runs.append(figures)
    means = {
        name: round(fmean(run[name] for run in runs), 4)
        for name in runs[0]
        if name != "seed"
    }
    return {
        **means,
        "known_rates_mean_freshness": round(freshness_of_known(rates), 4),
        "backoff_growth": round(growth, 3),
        "sites": sites,
        "days": days,
        "runs": runs,
    }


def change_rates(sites: int) -> Floats:
    """Changes a day of each site; the same for each seed."""
    normal = NormalDist()
    deviations = [normal.inv_cdf((number + 0.5) / sites) for number in range(sites)]
    return MEDIAN_CHANGES_PER_DAY * np.exp(SIGMA * np.array(deviations))


def simulate(
    rates: Floats, rule: RevisitRule, *, days: int, seed: int
) -> SimulationOutcome:
    """Simulate visits. Each site is fetched at the start, and again within a day."""
    chance = np.random.default_rng(seed)
    visited_at = np.zeros(len(rates))
    due_at = chance.random(len(rates))
    fresh_days = np.zeros(len(rates))
    visits = np.zeros(len(rates))
    for step in range(days * STEPS_PER_DAY):
        due = np.flatnonzero(due_at <= (step + 1) * STEP_DAYS)
        gaps = due_at[due] - visited_at[due]
        stands = chance.exponential(1 / rates[due])
        fresh_days[due] += np.minimum(stands, gaps)
        visits[due] += 1
        visited_at[due] = due_at[due]
        wanted = rule.gaps_after(due, gaps, (stands > gaps).astype(np.float64))
        spread = RECRAWL_SPREAD * (2 * chance.random(len(due)) - 1)
        due_at[due] += wanted * (1 + spread)
        if step % STEPS_PER_DAY == STEPS_PER_DAY - 1:
            rule.end_day()
    fresh_days += np.minimum(chance.exponential(1 / rates), days - visited_at)
    fast = rates > FAST_CHANGES_PER_DAY
    return SimulationOutcome(
        freshness=float(fresh_days.mean()) / days,
        visits=float(visits.mean()) / days,
        fast_visits=float(visits[fast].sum() / max(1, fast.sum())) / days,
    )


def find_growth(rates: Floats, days: int) -> float:
    """The growth with which back-off spends the budget: with hindsight, in its favour."""
    slow, fast = 1.01, 3.0
    for _ in range(HALVINGS):
        middle = (slow + fast) / 2
        rule = BackOff(len(rates), middle)
        if simulate(rates, rule, days=days, seed=0).visits > VISITS_PER_DAY:
            slow = middle
        else:
            fast = middle
    return slow


def freshness_of_known(rates: Floats) -> float:
    """Return the freshness if all rates were known: no learning can exceed it."""
    visits = allocate(rates).visits_per_day(rates)
    return float((visits / rates * -np.expm1(-rates / visits)).mean())


def _histories(columns: Floats) -> ChangeHistory[Floats]:
    visits, unchanged, mean_gap_days = columns
    return ChangeHistory(
        visits=visits, unchanged=unchanged, mean_gap_days=mean_gap_days
    )


def _figures(prefix: str, outcome: SimulationOutcome) -> dict[str, float]:
    return {
        f"{prefix}mean_freshness": round(outcome.freshness, 4),
        f"{prefix}visits_per_day": round(outcome.visits, 3),
        f"{prefix}fast_visits_per_day": round(outcome.fast_visits, 2),
    }
