"""Breakdowns: the comparisons of §9.7 over parts of a window."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal

import numpy as np

from registry.ranking.decay import decay_table
from registry.ranking.policy import Policy
from registry.reports.arrays import Booleans, Integers
from registry.reports.estimate import count_queries, resample
from registry.reports.metrics.comparison import Comparer
from registry.reports.metrics.comparison_cells import Dimension
from registry.reports.metrics.measures import Measure
from registry.reports.report_survey import Survey
from registry.reports.row_types import Row, cell_rows
from registry.reports.window.aggregate import (
    ELIGIBLE,
    LOGARITHMIC,
    SELECTED,
    WHOLE,
    Aggregate,
    aggregate,
)
from registry.reports.window.classes import OTHER_CATEGORIES, by_category, fold_names
from registry.reports.window.columns import (
    SCORED_MAX,
    UNREPORTED,
    Rankings,
    ScoredColumns,
)
from registry.reports.window.cuts import Cut, cut_by_name, cut_by_site

CELLS_MAX = 20
"""Parts of one breakdown: those of most rankings."""

BANDS_KM = (10, 50, 250)
NO_PLACE, NO_CELL = "site without a place", "request without a place"
BAND_NAMES = (
    f"under {BANDS_KM[0]} km",
    *(f"{a} to {b} km" for a, b in pairwise(BANDS_KM)),
    f"{BANDS_KM[-1]} km or more",
    NO_PLACE,
    NO_CELL,
)

_TABLED: frozenset[Measure] = frozenset({"logarithmic", "selected"})

By = Literal["operator", "requestedCategory", "siteCategory", "distanceBand"]
Baseline = Literal["eligible", "returned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """Items of §9.7 over a part of the window.

    by: which part; of the distance bands only the disclosed scores know. baseline: what
    stands as the eligible share: of all eligible sites, or of the returned ones.
    """

    by: By
    value: str
    baseline: Baseline
    rankings: int
    queries: int
    withheld: str = ""
    dimensions: tuple[Dimension, ...] = ()

    def rows(self) -> Iterator[Row]:
        of = Row(section="breakdowns", part=(self.by, self.value))
        yield replace(of, figure="baseline", value=self.baseline)
        if self.withheld:
            yield replace(
                of,
                figure="dimensions",
                withheld=self.withheld,
                rankings=self.rankings,
                queries=self.queries,
            )
        for dimension in self.dimensions:
            yield from cell_rows(of, dimension)


def list_breakdowns(survey: Survey) -> list[Callable[[], list[Breakdown]]]:
    """Return what computes each breakdown; they rest on nothing common.

    Withheld, like every figure, is a part on which too few queries bear; a category
    that too few queries name is left out, with its name.
    """
    by_site = [] if survey.terms.category else [_by_site_category]
    functions = [_by_operator, _by_requested_category, *by_site, _by_distance]
    return [partial(function, survey) for function in functions]


def charted_rows(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield shares of attention and selections, of parts that are not withheld."""
    figures = {"eligibleShare", "share", "gap", "reading"}
    for row in rows:
        if row.measure in _TABLED and row.figure in figures and not row.withheld:
            yield row


def _by_operator(survey: Survey) -> list[Breakdown]:
    names = _most_named(survey.operators)
    cut = cut_by_name(
        lambda part: (part.operators, part.operator), names, _only(survey)
    )
    return _break_down(survey, "operator", names, cut)


def _by_requested_category(survey: Survey) -> list[Breakdown]:
    """Return parts without those withheld: their names are in the askers' own words."""
    names = _most_named(survey.requested)
    cut = cut_by_name(
        lambda part: (part.categories, part.category), names, _only(survey)
    )
    parts = _break_down(survey, "requestedCategory", names, cut)
    return [
        part for part in parts if not part.withheld
    ]  # a report may be kept for good


def _by_site_category(survey: Survey) -> list[Breakdown]:
    categories = by_category(survey.sites)
    names = [name for name in categories.names if name != OTHER_CATEGORIES]
    cut = cut_by_site(np.where(categories.code < len(names), categories.code, -1))
    return _break_down(survey, "siteCategory", names, cut)


def _by_distance(survey: Survey) -> list[Breakdown]:
    scored = survey.scored
    located = np.repeat(scored.located, scored.counts)
    bands = distance_bands(scored.factors[:, 1], located, survey.policy)
    cells = aggregate(
        [_as_rankings(scored)],
        survey.sites,
        survey.declared,
        survey.clusters,
        cut=Cut(items=bands),
        cells=len(BAND_NAMES),
        measures=(ELIGIBLE, LOGARITHMIC),
        commissions=False,
    )
    return [
        _compare(survey, ("distanceBand", name), cell, "returned", (LOGARITHMIC,))
        for name, cell in zip(BAND_NAMES, cells, strict=True)
    ]


def _most_named(rankings: Counter[str]) -> tuple[str, ...]:
    counts = {name: count for name, count in rankings.items() if name and count}
    names, _ = fold_names(list(counts), list(counts.values()), CELLS_MAX)
    return tuple(name for name in names if name in counts)


def _only(survey: Survey) -> Booleans | None:
    return survey.in_terms if survey.terms.category else None


def _break_down(
    survey: Survey, by: By, names: Sequence[str], cut: Cut
) -> list[Breakdown]:
    cells = aggregate(
        survey.parts,
        survey.sites,
        survey.declared,
        survey.clusters,
        cut=cut,
        cells=len(names),
        measures=(ELIGIBLE, LOGARITHMIC, SELECTED),
        commissions=False,
    )
    return [
        _compare(survey, (by, name), cell)
        for name, cell in zip(names, cells, strict=True)
    ]


def _compare(
    survey: Survey,
    part: tuple[By, str],
    cell: Aggregate,
    baseline: Baseline = "eligible",
    measures: Sequence[int] = (LOGARITHMIC, SELECTED),
) -> Breakdown:
    queries = count_queries(cell, LOGARITHMIC)
    breakdown = Breakdown(
        by=part[0],
        value=part[1],
        baseline=baseline,
        rankings=round(float(cell.amounts[:, LOGARITHMIC, WHOLE].sum())),
        queries=queries,
        withheld=survey.terms.withhold(queries),
    )
    if breakdown.withheld:
        return breakdown
    comparer = Comparer(
        evidence=resample(cell, survey.draws), terms=survey.terms, measures=measures
    )
    dimensions = tuple(map(comparer.compare, survey.declared))
    return replace(breakdown, dimensions=dimensions)


def _as_rankings(scored: ScoredColumns) -> Rankings:
    """Return the scored rankings as a part whose eligible sites are the returned."""
    none = np.zeros(len(scored), np.int32)
    return Rankings(
        keys=scored.keys,
        operator=none,
        operators=("",),
        category=none,
        categories=("",),
        returned=scored.sites,
        returned_counts=scored.counts,
        sampled=scored.sites,
        sampled_counts=scored.counts,
        chosen=none + UNREPORTED,
        most_eligible=0,
        empty=0,
    )


def distance_bands(proximity: Integers, located: Booleans, policy: Policy) -> Integers:
    """Return indices into BAND_NAMES. proximity: of a factor, 0..10000.

    No whole kilometre has the neutral value of a site without a place, so that the
    factor gives the band.
    """
    table = decay_table(policy.distance_scale_km)
    least = [-int(table[min(limit, len(table)) - 1]) for limit in BANDS_KM]
    bands = np.searchsorted(least, -proximity, side="left")
    bands = np.where(
        proximity == policy.proximity_neutral, BAND_NAMES.index(NO_PLACE), bands
    )
    return np.where(located, bands, BAND_NAMES.index(NO_CELL))


DEFINITIONS = {
    "breakdowns": (
        "The same comparisons over the rankings of one operator, over those whose "
        "request named one category, over the sites of one category, and over the "
        "sites in one band of distance. The twenty largest of each are shown; a "
        "requested category that too few queries name is left out altogether."
    ),
    "distanceBand": (
        "From the proximity factor of the disclosed scores. Its baseline is the "
        "share among the returned sites in the band, because the distances of all "
        "eligible sites are not recorded."
    ),
    "scored": (
        f"At most {SCORED_MAX} rankings whose scores are not erased, those whose "
        "ids have the first ends, of eight characters. Merit, consistency, effective weights, ties and "
        "distance bands rest on them, under the policy in force at the report."
    ),
}
