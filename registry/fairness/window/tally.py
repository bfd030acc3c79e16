"""The tally: what each query's rankings gave to which class of site.

A ranking deals out one whole of attention in each of several measures: evenly over its
eligible sites, over the returned ones by each position model, to the chosen one. So each
ranking counts the same, however long its list. Amounts are sums of these parts over the
sites of a class, and additive over rankings and over parts of a window: any share or
mean is a ratio of two sums.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.fairness.arrays import Booleans, Floats, Integers, Numbers
from registry.fairness.inference.bootstrap import Clusters
from registry.fairness.window.classes import Classes
from registry.fairness.window.column_sums import ColumnSums
from registry.fairness.window.columns import Rankings, Sites
from registry.fairness.window.cuts import UNCUT, Cut
from registry.fairness.window.position import (
    logarithmic_weights,
    rank_biased_weights,
    top_one_weights,
)

PERSISTENCE = 0.8
"""Of the rank-biased model: the chance that a reader of one rank looks at the next."""

ELIGIBLE, LOGARITHMIC, RANK_BIASED, TOP_ONE, SELECTED, ELIGIBLE_THERE = range(6)
"""Measures. The last is ELIGIBLE over the rankings with a chosen site only: what
SELECTED is to be compared with."""

MEASURES = range(6)

WHOLE, DECLARED, COMMISSION = range(3)
"""Columns before those of the classes: all that was dealt out; what went to sites with
a declared commission; that times the commission in percent."""

Weights = Callable[[int], Floats]

POSITION_MODELS: Mapping[int, Weights] = {
    LOGARITHMIC: logarithmic_weights,
    RANK_BIASED: lambda depth: rank_biased_weights(depth, PERSISTENCE),
    TOP_ONE: top_one_weights,
}


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """Pairs of a part's rankings and of sites that they deal out to."""

    rankings: Integers
    sites: Integers


Dealt = Mapping[int, Floats]
"""What each measure deals out to each item."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """What one cell of a window dealt out.

    classes: of the columns behind the first three. amounts: (clusters, measures,
    columns). seen: per site, whether it was eligible, shown or chosen.
    """

    classes: tuple[Classes, ...]
    amounts: Floats
    seen: Booleans

    def columns_of(self, dimension: str, names: Sequence[str]) -> list[int]:
        start = COMMISSION + 1
        for one in self.classes:
            if one.dimension == dimension:
                return [start + one.names.index(name) for name in names]
            start += len(one.names)
        raise KeyError(dimension)

    def count_sites(self, dimension: str, names: Sequence[str]) -> int:
        (one,) = (one for one in self.classes if one.dimension == dimension)
        wanted = [one.names.index(name) for name in names]
        seen = np.bincount(one.code[self.seen], minlength=len(one.names))
        return int(seen[wanted].sum())


def tally(
    parts: Collection[Rankings],
    sites: Sites,
    classes: tuple[Classes, ...],
    clusters: Clusters,
    *,
    cut: Cut = UNCUT,
    cells: int = 1,
    measures: Collection[int] = MEASURES,
    commissions: bool = True,
) -> list[Tally]:
    """One tally per cell. measures: the others stay 0; so does COMMISSION if not asked."""
    if not cells:
        return []
    places, rows = cut.shape(cells)
    place = cut.of_sites(len(sites), places)
    nowhere = cut.sites is not None  # sites of no cell have sums of their own, unused
    shape = places + nowhere, rows * len(clusters), len(MEASURES)
    sums = ColumnSums(sites, classes, shape, place=place, commissions=commissions)
    seen = np.zeros((rows, len(sites)), np.bool_)
    for whole in parts:
        part, row = _in_cells(whole, cut.of_rankings(whole))
        unit = row * len(clusters) + clusters.number(part.keys)
        for items, dealt in deal(part, measures):
            units: Integers = unit[items.rankings]
            cell = row[items.rankings] if rows > 1 else 0
            if cut.items is not None:
                units += cut.items * len(clusters)
                cell = cut.items
            sums.add(units, items.sites, dealt)
            seen[cell, items.sites] = True
    columns = sums.columns()[:places]
    amounts = columns.reshape(cells, len(clusters), *columns.shape[2:])
    return [
        Tally(
            classes=classes,
            amounts=amounts[cell],
            seen=seen[cell % rows] & (place == cell // rows),
        )
        for cell in range(cells)
    ]


def _in_cells(part: Rankings, cell: Integers) -> tuple[Rankings, Integers]:
    """The rankings that are in one, and which."""
    kept = cell >= 0
    return (part, cell) if kept.all() else (part.only(kept), cell[kept])


def tally_sites(parts: Collection[Rankings], site_count: int) -> Floats:
    """What each site got, shape (measures, sites)."""
    amounts = np.zeros((len(MEASURES), site_count))
    for part in parts:
        for items, dealt in deal(part, MEASURES):
            for measure, weights in dealt.items():
                np.add.at(amounts[measure], items.sites, weights)
    return amounts


def deal(part: Rankings, measures: Collection[int]) -> Iterator[tuple[Items, Dealt]]:
    """Measures that deal out to the same items come together."""
    reported = part.chosen >= 0
    if ELIGIBLE in measures:
        counts = part.sampled_counts
        even = 1 / np.maximum(counts, 1)
        dealt = {ELIGIBLE: np.repeat(even, counts)}
        if SELECTED in measures:
            dealt[ELIGIBLE_THERE] = np.repeat(even * reported, counts)
        yield Items(_spread(counts), _wide(part.sampled)), dealt
    if SELECTED in measures:
        rankings = np.flatnonzero(reported)
        chosen = Items(rankings, _wide(part.chosen[rankings]))
        yield chosen, {SELECTED: np.ones(len(rankings))}
    yield from _deal_by_rank(part, [one for one in POSITION_MODELS if one in measures])


def _deal_by_rank(
    part: Rankings, measures: Collection[int]
) -> Iterator[tuple[Items, Dealt]]:
    """What a model deals out to the first rank alone goes to items of its own."""
    counts = part.returned_counts
    starts = np.cumsum(counts) - counts
    if TOP_ONE in measures:
        rankings = np.flatnonzero(counts)
        first = Items(rankings, _wide(part.returned[starts[rankings]]))
        yield first, {TOP_ONE: np.ones(len(rankings))}
    deep = [measure for measure in measures if measure != TOP_ONE]
    if deep:
        tables = {one: normalised_weights(counts, POSITION_MODELS[one]) for one in deep}
        place = np.repeat(counts * int(counts.max(initial=0)) - starts, counts)
        place += np.arange(len(place))
        dealt = {one: table.ravel()[place] for one, table in tables.items()}
        yield Items(_spread(counts), _wide(part.returned)), dealt


def normalised_weights(counts: Numbers, weights_of: Weights) -> Floats:
    """Row n: the weights of a list of n, with sum 1; zeros behind its end."""
    depth = int(counts.max(initial=0))
    table = np.zeros((depth + 1, depth))
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        weights = weights_of(count)
        table[count, :count] = weights / weights.sum()
    return table


def _spread(counts: Numbers) -> Integers:
    """The number of its ranking for each item."""
    return np.repeat(np.arange(len(counts)), counts)


def _wide(numbers: Numbers) -> Integers:
    """As NumPy looks them up; else it would widen them anew for each look-up."""
    return numbers.astype(np.int64)
