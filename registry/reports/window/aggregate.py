"""Exposure aggregated: what each query's rankings gave to which class of site.

A ranking gives one whole of exposure in each of several measures: evenly over its
eligible sites, over the returned ones by each position model, to the chosen one. So each
ranking counts the same, however long its list. Amounts are sums of these parts over the
sites of a class, and additive over rankings and over parts of a window: any share or
mean is a ratio of two sums.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from registry.reports.arrays import Booleans, Floats, Integers, Numbers
from registry.reports.inference.bootstrap import Clusters
from registry.reports.window.choices import choice_ranks
from registry.reports.window.classes import Classes
from registry.reports.window.column_sums import ColumnSums
from registry.reports.window.columns import Rankings, SiteColumns
from registry.reports.window.cuts import UNCUT, Cut
from registry.reports.window.exposure_sums import CellSums, Exposure, add_exposure
from registry.reports.window.position import (
    logarithmic_weights,
    rank_biased_weights,
    top_result_weights,
)

PERSISTENCE = 0.8
"""Chance, in the rank-biased model, that a reader of one rank looks at the next."""

ELIGIBLE, LOGARITHMIC, RANK_BIASED, TOP_RESULT, SELECTED, ELIGIBLE_THERE = range(6)
CHOSEN, BY_RANK = 6, 7
"""Measures. ELIGIBLE_THERE is ELIGIBLE over the rankings with a chosen site only: what
SELECTED is to be compared with. CHOSEN is SELECTED over the rankings that showed the
chosen site, and BY_RANK what they would bring if the rank alone decided."""

MEASURES = range(8)

WHOLE, DECLARED, COMMISSION = range(3)
"""Columns before those of the classes: all of the exposure; what went to sites with
a declared commission; that times the commission in percent."""

Weights = Callable[[int], Floats]

NO_ODDS: Floats = np.zeros(0)

POSITION_MODELS: Mapping[int, Weights] = {
    LOGARITHMIC: logarithmic_weights,
    RANK_BIASED: lambda depth: rank_biased_weights(depth, PERSISTENCE),
    TOP_RESULT: top_result_weights,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aggregate:
    """Exposure that one cell of a window gave.

    classes: of the columns behind the first three. amounts: (clusters, measures,
    columns). seen: per site, whether it was eligible, shown or chosen.
    """

    classes: tuple[Classes, ...]
    amounts: Floats
    seen: Booleans
    _counts: dict[str, list[int]] = field(default_factory=dict)

    def columns_of(self, dimension: str, names: Sequence[str]) -> list[int]:
        start = COMMISSION + 1
        for kind in self.classes:
            if kind.dimension == dimension:
                return [start + kind.names.index(name) for name in names]
            start += len(kind.names)
        raise KeyError(dimension)

    def count_sites(self, dimension: str, names: Sequence[str]) -> int:
        (kind,) = (kind for kind in self.classes if kind.dimension == dimension)
        if dimension not in self._counts:
            seen = np.bincount(kind.code[self.seen], minlength=len(kind.names))
            self._counts[dimension] = seen.tolist()
        return sum(self._counts[dimension][kind.names.index(name)] for name in names)


def aggregate(
    parts: Collection[Rankings],
    sites: SiteColumns,
    classes: tuple[Classes, ...],
    clusters: Clusters,
    *,
    cut: Cut = UNCUT,
    cells: int = 1,
    measures: Collection[int] = MEASURES,
    commissions: bool = True,
    odds: Floats = NO_ODDS,
) -> list[Aggregate]:
    """Return an aggregate for each cell. measures: the others stay 0.

    commissions: whether COMMISSION is summed, too. odds: of `choices.rank_odds`, for
    CHOSEN and BY_RANK.
    """
    if not cells:
        return []
    slots, rows = cut.shape(cells)
    slot = cut.of_sites(len(sites), slots)
    outside = cut.sites is not None  # sites of no cell have sums of their own, unused
    shape = slots + outside, rows * len(clusters), len(MEASURES)
    sums = ColumnSums(sites, classes, shape, slot=slot, commissions=commissions)
    seen = np.zeros(rows * len(sites), np.bool_)
    for whole in parts:
        part, row = _in_cells(whole, cut.of_rankings(whole))
        cluster = clusters.number(part.keys)
        for exposure in exposures(part, measures, odds):
            row_of = row[exposure.rankings] if cut.items is None else cut.items
            sums.add(exposure, row_of * len(clusters) + cluster[exposure.rankings])
            seen[row_of * len(sites) + exposure.sites] = True
    marked = seen.reshape(rows, len(sites))
    columns = sums.columns()[:slots]
    amounts = columns.reshape(cells, len(clusters), *columns.shape[2:])
    return [
        Aggregate(
            classes=classes,
            amounts=amounts[cell],
            seen=marked[cell % rows] & (slot == cell // rows),
        )
        for cell in range(cells)
    ]


def _in_cells(part: Rankings, cell: Integers) -> tuple[Rankings, Integers]:
    """Return the rankings that are in a cell, and which."""
    inside = cell >= 0
    return (part, cell) if inside.all() else (part.only(inside), cell[inside])


def aggregate_by_site(
    parts: Collection[Rankings], site_count: int, odds: Floats = NO_ODDS
) -> Floats:
    """Return what each site got, shape (measures, sites). odds: see `aggregate`."""
    amounts: Floats = np.zeros((1, len(MEASURES), site_count))
    by_site = CellSums(cell=np.arange(site_count), sums=amounts)
    for part in parts:
        for exposure in exposures(part, MEASURES, odds):
            add_exposure(exposure, np.zeros_like(exposure.rankings), [by_site])
    return amounts.reshape(len(MEASURES), site_count)


def exposures(
    part: Rankings, measures: Collection[int], odds: Floats = NO_ODDS
) -> Iterator[Exposure]:
    """Yield what a part gives; measures over the same entries come together."""
    reported = part.chosen >= 0
    if ELIGIBLE in measures:
        rankings = np.repeat(np.arange(len(part)), part.sampled_counts)
        even = 1 / np.maximum(part.sampled_counts, 1)
        amounts = {ELIGIBLE: even[rankings]}
        if SELECTED in measures:
            amounts[ELIGIBLE_THERE] = (even * reported)[rankings]
        yield Exposure(rankings, part.sampled, amounts)
    if SELECTED in measures:
        rankings = np.flatnonzero(reported)
        yield _whole(SELECTED, rankings, part.chosen[rankings])
    yield from _by_rank(part, [model for model in POSITION_MODELS if model in measures])
    if BY_RANK in measures and len(odds):
        yield from _chosen_by_rank(part, odds)


def _chosen_by_rank(part: Rankings, odds: Floats) -> Iterator[Exposure]:
    """Yield the choices of sites that were shown, and what the ranks would bring."""
    rankings = np.flatnonzero(choice_ranks(part) >= 0)
    yield _whole(CHOSEN, rankings, part.chosen[rankings])
    is_shown = np.zeros(len(part), np.bool_)
    is_shown[rankings] = True
    for exposure in _by_depth(
        part.only(is_shown), {BY_RANK: lambda depth: odds[:depth]}
    ):
        yield exposure._replace(rankings=rankings[exposure.rankings])


def _by_rank(part: Rankings, measures: Collection[int]) -> Iterator[Exposure]:
    """Yield the position models; one that knows the first rank alone has few entries."""
    counts = part.returned_counts
    if TOP_RESULT in measures:
        rankings = np.flatnonzero(counts)
        starts = np.cumsum(counts) - counts
        yield _whole(TOP_RESULT, rankings, part.returned[starts[rankings]])
    deep = {model: POSITION_MODELS[model] for model in measures if model != TOP_RESULT}
    if deep:
        yield from _by_depth(part, deep)


def _by_depth(part: Rankings, models: Mapping[int, Weights]) -> Iterator[Exposure]:
    """Yield what the models give to every site of the lists."""
    counts = part.returned_counts
    starts = np.cumsum(counts) - counts
    rankings = np.repeat(np.arange(len(part)), counts)
    rank = np.arange(len(rankings)) - starts[rankings]
    weight = counts[rankings] * np.int64(counts.max(initial=0)) + rank
    amounts = {
        model: normalised_weights(counts, weights_of).ravel()[weight]
        for model, weights_of in models.items()
    }
    yield Exposure(rankings, part.returned, amounts)


def _whole(measure: int, rankings: Integers, sites: Numbers) -> Exposure:
    """Return the exposure that goes to one site a ranking."""
    return Exposure(rankings, sites, {measure: np.ones(len(rankings))})


def normalised_weights(counts: Numbers, weights_of: Weights) -> Floats:
    """Row n: the weights of a list of n, with sum 1; zeros behind its end."""
    depth = int(counts.max(initial=0))
    table = np.zeros((depth + 1, depth))
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        weights = weights_of(count)
        table[count, :count] = weights / weights.sum()
    return table
