"""The tally: what each query's rankings gave to which class of site.

A ranking deals out one whole of attention in each of several measures: evenly over its
eligible sites, over the returned ones by each position model, to the chosen one. So each
ranking counts the same, however long its list. Amounts are sums of these parts over the
sites of a class, and additive over rankings and over parts of a window: any share or
mean is a ratio of two sums.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from registry.fairness.arrays import Booleans, Floats, Integers, Numbers
from registry.fairness.inference.bootstrap import Clusters
from registry.fairness.window.adding import (
    Addition,
    Dealt,
    Group,
    Lists,
    Portions,
    Units,
    add_dealt,
)
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

_DEALT_MAX = 4
"""Kinds of lists that `deal` comes with."""

WHOLE, DECLARED, COMMISSION = range(3)
"""Columns before those of the classes: all that was dealt out; what went to sites with
a declared commission; that times the commission in percent."""

Weights = Callable[[int], Floats]

POSITION_MODELS: Mapping[int, Weights] = {
    LOGARITHMIC: logarithmic_weights,
    RANK_BIASED: lambda depth: rank_biased_weights(depth, PERSISTENCE),
    TOP_ONE: top_one_weights,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """What one cell of a window dealt out.

    classes: of the columns behind the first three. amounts: (clusters, measures,
    columns). seen: per site, whether it was eligible, shown or chosen.
    """

    classes: tuple[Classes, ...]
    amounts: Floats
    seen: Booleans
    _counts: dict[str, list[int]] = field(default_factory=dict)

    def columns_of(self, dimension: str, names: Sequence[str]) -> list[int]:
        start = COMMISSION + 1
        for one in self.classes:
            if one.dimension == dimension:
                return [start + one.names.index(name) for name in names]
            start += len(one.names)
        raise KeyError(dimension)

    def count_sites(self, dimension: str, names: Sequence[str]) -> int:
        (one,) = (one for one in self.classes if one.dimension == dimension)
        if dimension not in self._counts:
            seen = np.bincount(one.code[self.seen], minlength=len(one.names))
            self._counts[dimension] = seen.tolist()
        return sum(self._counts[dimension][one.names.index(name)] for name in names)


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
    seen = np.zeros((_DEALT_MAX, rows * len(sites)), np.bool_)
    for whole in parts:
        part, row = _in_cells(whole, cut.of_rankings(whole))
        unit = row * len(clusters) + clusters.number(part.keys)
        begin = row * len(sites)  # of the marks of the cell that a ranking is in
        additions = [
            Addition(
                lists, Units(unit[lists.rankings]), dealt, marks, begin[lists.rankings]
            )
            for marks, (lists, dealt) in zip(seen, deal(part, measures), strict=False)
        ]
        if cut.items is not None:
            counts = len(clusters), len(sites)
            additions = [_by_item(one, cut.items, *counts) for one in additions]
        sums.add(additions)
    marked = seen.any(axis=0).reshape(rows, len(sites))
    columns = sums.columns()[:places]
    amounts = columns.reshape(cells, len(clusters), *columns.shape[2:])
    return [
        Tally(
            classes=classes,
            amounts=amounts[cell],
            seen=marked[cell % rows] & (place == cell // rows),
        )
        for cell in range(cells)
    ]


def _in_cells(part: Rankings, cell: Integers) -> tuple[Rankings, Integers]:
    """The rankings that are in one, and which."""
    kept = cell >= 0
    return (part, cell) if kept.all() else (part.only(kept), cell[kept])


def _by_item(
    addition: Addition, cells: Integers, clusters: int, site_count: int
) -> Addition:
    """The same, with sums and marks apart by the cell of each item."""
    lists, units, dealt, marks, begin = addition
    if marks is not None and begin is not None:
        begins = np.repeat(begin, lists.counts) + cells * site_count
        marks[begins + lists.sites] = True
    of_items = units.spread(lists.counts) + cells * clusters
    return Addition(lists, Units(units.of_lists, of_items), dealt)


def tally_sites(parts: Collection[Rankings], site_count: int) -> Floats:
    """What each site got, shape (measures, sites)."""
    amounts: Floats = np.zeros((1, len(MEASURES), site_count))
    each = Group(code=np.arange(site_count), sums=amounts)
    for part in parts:
        additions = [
            Addition(lists, Units(np.zeros_like(lists.rankings)), dealt)
            for lists, dealt in deal(part, MEASURES)
        ]
        add_dealt(additions, [each])
    return amounts.reshape(len(MEASURES), site_count)


def deal(part: Rankings, measures: Collection[int]) -> Iterator[tuple[Lists, Dealt]]:
    """Measures that deal out to the same lists come together."""
    reported = part.chosen >= 0
    if ELIGIBLE in measures:
        every = np.arange(len(part))
        even = 1 / np.maximum(part.sampled_counts, 1)
        dealt = {ELIGIBLE: Portions(even, every, 0)}
        if SELECTED in measures:
            dealt[ELIGIBLE_THERE] = Portions(even * reported, every, 0)
        yield Lists(every, part.sampled_counts, part.sampled), dealt
    if SELECTED in measures:
        rankings = np.flatnonzero(reported)
        yield _deal_all(SELECTED, rankings, part.chosen[rankings])
    yield from _deal_by_rank(part, [one for one in POSITION_MODELS if one in measures])


def _deal_by_rank(
    part: Rankings, measures: Collection[int]
) -> Iterator[tuple[Lists, Dealt]]:
    """What a model deals out to the first rank alone goes to lists of its own."""
    counts = part.returned_counts
    if TOP_ONE in measures:
        starts = np.cumsum(counts) - counts
        rankings = np.flatnonzero(counts)
        yield _deal_all(TOP_ONE, rankings, part.returned[starts[rankings]])
    deep = [measure for measure in measures if measure != TOP_ONE]
    if deep:
        at = counts.astype(np.int64) * int(counts.max(initial=0))
        tables = {one: normalised_weights(counts, POSITION_MODELS[one]) for one in deep}
        dealt = {one: Portions(table.ravel(), at, 1) for one, table in tables.items()}
        yield Lists(np.arange(len(part)), counts, part.returned), dealt


def _deal_all(measure: int, rankings: Integers, sites: Numbers) -> tuple[Lists, Dealt]:
    """To one site a ranking."""
    counts = np.ones(len(rankings), np.int32)
    nowhere = np.zeros(len(rankings), np.int64)
    return Lists(rankings, counts, sites), {measure: Portions(np.ones(1), nowhere, 0)}


def normalised_weights(counts: Numbers, weights_of: Weights) -> Floats:
    """Row n: the weights of a list of n, with sum 1; zeros behind its end."""
    depth = int(counts.max(initial=0))
    table = np.zeros((depth + 1, depth))
    for count in np.flatnonzero(np.bincount(counts)).tolist():
        weights = weights_of(count)
        table[count, :count] = weights / weights.sum()
    return table
