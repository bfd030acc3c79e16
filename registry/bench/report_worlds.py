"""`bench report --worlds`: what reports say of simulated worlds, fair ones and others.

Figures: how many reports of fair worlds have any finding, how often the intervals hold
what they are of, and how often a bias of a known size is shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from registry.bench.synthetic.worlds import (
    Population,
    World,
    draw_population,
    draw_window,
)
from registry.reports.arrays import Floats
from registry.reports.build_report import build_report
from registry.reports.estimate import baseline_of
from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.metrics.comparison_cells import Comparison
from registry.reports.metrics.measures import JUDGED
from registry.reports.model import FairnessReport
from registry.reports.report_survey import sites_of
from registry.reports.report_terms import Algorithm, Terms, Window
from registry.reports.window.aggregate import aggregate_by_site
from registry.reports.window.choices import rank_odds
from registry.reports.window.classes import classify_declared
from registry.reports.window.columns import Observed
from registry.terminal.output import print_progress

FAIR = (
    World(name="alike"),
    World(name="lasting differences", lasting=1.0, liking=0.5),
    World(name="few sites", sites=12, lasting=0.5, liking=0.3),
    World(name="many queries", lasting=1.0, liking=0.5, rankings=5_000, queries=3_000),
)
_LARGE = {"sites": 400, "rankings": 5_000, "queries": 3_000}
UNFAIR = (
    World(name="ranking, 0.2 lower", lasting=0.3, handicap=0.2),
    World(name="ranking, 0.5 lower", lasting=0.3, handicap=0.5),
    World(name="ranking, 0.2 lower, large", lasting=0.3, handicap=0.2, **_LARGE),
    World(name="agents, odds 1.2", liking=0.2, odds=1.2),
    World(name="agents, odds 1.5", liking=0.2, odds=1.5),
    World(name="agents, odds 1.2, large", liking=0.2, odds=1.2, **_LARGE),
)
"""Worlds in which chains are ranked lower, in spreads of a ranking, or chosen more."""

_TRUTH_RANKINGS = 8_000
_WINDOW = Window(
    start_at=datetime(2026, 1, 1, tzinfo=UTC), end_at=datetime(2026, 2, 1, tzinfo=UTC)
)
_NUMBER_OF = {name: measure for measure, name in JUDGED.items()}


@dataclass(slots=True)
class Tally:
    """Counts over reports. shown: those with a finding by independence.

    of_sites: whether each interval of a gap holds the gap of these sites over all
    queries. of_kinds: whether that of a kind's gap holds 0.
    """

    reports: int = 0
    alarms: int = 0
    shown: int = 0
    of_sites: list[bool] = field(default_factory=list)
    of_kinds: list[bool] = field(default_factory=list)
    detectable: list[float] = field(default_factory=list)

    @staticmethod
    def coverage(held: Sequence[bool]) -> float:
        """Return the share of intervals that hold what they are of."""
        return float(np.mean(held)) if held else np.nan

    def figures(self) -> dict[str, Any]:
        """Return the rates. detectable: in the median, of chains, in points."""
        return {
            "reports": self.reports,
            "alarms": round(self.alarms / self.reports, 3),
            "chains_found": round(self.shown / self.reports, 3),
            "coverage_sites": round(self.coverage(self.of_sites), 3),
            "coverage_kinds_of_0": round(self.coverage(self.of_kinds), 3),
            "detectable_points": round(100 * float(np.median(self.detectable)), 1),
        }


def measure_worlds(reports: int) -> dict[str, Any]:
    """Return the figures of each world, by its name."""
    figures = {}
    for world in (*FAIR, *UNFAIR):
        tally = Tally()
        run_world(world, reports, tally)
        figures[world.name] = tally.figures()
        print_progress(f"{world.name}: {figures[world.name]}")
    return figures


def run_world(world: World, reports: int, tally: Tally) -> None:
    """Add reports of a world, each of other sites and queries, to the tally."""
    for seed in range(reports):
        rng = np.random.default_rng([seed, len(world.name)])
        population = draw_population(world, rng)
        report = report_of(draw_window(population, rng), seed)
        _add(tally, report, population, _truth(population, rng))


def report_of(observed: Observed, seed: int) -> FairnessReport:
    """Return the report of a window, with a seed of its own."""
    algorithm = Algorithm(policy_digest="", code_digest="")
    return build_report(observed, algorithm, Terms(window=_WINDOW, seed=seed))


def _truth(population: Population, rng: np.random.Generator) -> Floats:
    """Return what these sites get over many queries, each asked once."""
    once = replace(
        population.world,
        rankings=_TRUTH_RANKINGS,
        queries=_TRUTH_RANKINGS,
        zipf=0.0,
        reported=1.0,
    )
    parts = draw_window(replace(population, world=once), rng).parts
    return aggregate_by_site(parts, len(population.sites), rank_odds(parts))


def _add(
    tally: Tally, report: FairnessReport, population: Population, truth: Floats
) -> None:
    tally.reports += 1
    tally.alarms += not report.findings[0].startswith("No finding")
    tally.shown += any(
        " chains " in finding or " independent " in finding
        for finding in report.findings
    )
    for name, cell, gap in _cells(report, population, truth):
        if cell.gap is not None:
            tally.of_sites.append(cell.gap.low <= gap <= cell.gap.high)
        if cell.kind_gap is not None:
            tally.of_kinds.append(cell.kind_gap.low <= 0 <= cell.kind_gap.high)
        if name == "chain" and cell.detectable is not None:
            tally.detectable.append(cell.detectable)


def _cells(
    report: FairnessReport, population: Population, truth: Floats
) -> Iterator[tuple[str, Comparison, float]]:
    """Yield the cells of declared classes with their class and their true gap."""
    shares = truth / truth.sum(axis=1, keepdims=True)
    dimensions = report[DIMENSIONS]
    for dimension, classes in zip(
        dimensions, classify_declared(population.sites), strict=False
    ):
        for site_class in dimension.classes:
            own = sites_of(classes, site_class.members)
            for cell in site_class.comparisons:
                measure = _NUMBER_OF[cell.measure]
                gap = shares[measure, own] - shares[baseline_of(measure), own]
                yield site_class.name, cell, float(gap.sum())
