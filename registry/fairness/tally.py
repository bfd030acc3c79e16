"""The tally: what each query's rankings gave to which class of site.

A ranking deals out one whole of attention in each of several measures: evenly over its
eligible sites, over the returned ones by each position model, to the chosen one. So each
ranking counts the same, however long its list. Amounts are sums of these parts over the
sites of a class, and additive over rankings and over parts of a window: any share or
mean is a ratio of two sums.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.fairness.arrays import Booleans, Floats, Integers, Numbers
from registry.fairness.bootstrap import Clusters
from registry.fairness.classes import Classes
from registry.fairness.columns import Rankings, Sites
from registry.fairness.position import (
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
    """What one part deals out in one measure: weights[i] of rankings[i] to sites[i]."""

    rankings: Integers
    sites: Numbers
    weights: Floats


Cut = Callable[[Rankings, Items], Integers]
"""The cell of each item, 0 up; -1: in none."""


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
        return int(np.isin(one.code[self.seen], wanted).sum())


def tally(
    parts: Collection[Rankings],
    sites: Sites,
    classes: tuple[Classes, ...],
    clusters: Clusters,
    *,
    cut: Cut | None = None,
    cells: int = 1,
    measures: Collection[int] = MEASURES,
) -> list[Tally]:
    """One tally per cell. measures: the others stay 0."""
    width = COMMISSION + 1 + sum(len(one.names) for one in classes)
    amounts = np.zeros((cells, len(clusters), len(MEASURES), width))
    seen = np.zeros((cells, len(sites)), np.bool_)
    for part in parts:
        cluster_of = clusters.number(part.keys)
        for measure, items in deal(part, measures):
            cell = cut(part, items) if cut else np.zeros(len(items.sites), np.int64)
            kept = cell >= 0
            units = (cell * len(clusters) + cluster_of[items.rankings])[kept]
            left = Items(units, items.sites[kept], items.weights[kept])
            seen[cell[kept], left.sites] = True
            sums = _sum_columns(left, sites, classes, cells * len(clusters))
            amounts[:, :, measure] += sums.reshape(cells, len(clusters), width)
    return [
        Tally(classes=classes, amounts=amounts[cell], seen=seen[cell])
        for cell in range(cells)
    ]


def tally_sites(
    parts: Collection[Rankings], site_count: int, cut: Cut | None = None
) -> Floats:
    """What each site got, shape (measures, sites). cut: cell 0 counts."""
    amounts = np.zeros((len(MEASURES), site_count))
    for part in parts:
        for measure, items in deal(part, MEASURES):
            weights = items.weights
            if cut:
                weights = np.where(cut(part, items) == 0, weights, 0.0)
            amounts[measure] += np.bincount(items.sites, weights, site_count)
    return amounts


def deal(part: Rankings, measures: Collection[int]) -> Iterator[tuple[int, Items]]:
    if ELIGIBLE in measures:
        sampled = _spread(part.sampled_counts)
        even = 1 / part.sampled_counts[sampled]
        yield ELIGIBLE, Items(sampled, part.sampled, even)
        if SELECTED in measures:
            there = (part.chosen >= 0)[sampled]
            kept = Items(sampled[there], part.sampled[there], even[there])
            yield ELIGIBLE_THERE, kept
    if SELECTED in measures:
        reported = np.flatnonzero(part.chosen >= 0)
        chosen = part.chosen[reported]
        yield SELECTED, Items(reported, chosen, np.ones(len(chosen)))
    returned = _spread(part.returned_counts)
    ranks = _ranks(part.returned_counts)
    for measure, weights_of in POSITION_MODELS.items():
        if measure in measures:
            weights = normalised_weights(part.returned_counts, weights_of)
            weights = weights[part.returned_counts[returned], ranks]
            yield measure, Items(returned, part.returned, weights)


def normalised_weights(counts: Numbers, weights_of: Weights) -> Floats:
    """Row n: the weights of a list of n, with sum 1; zeros behind its end."""
    depth = int(counts.max(initial=0))
    table = np.zeros((depth + 1, depth))
    for count in np.unique(counts).tolist():
        weights = weights_of(count)
        table[count, :count] = weights / weights.sum()
    return table


def _sum_columns(
    items: Items, sites: Sites, classes: tuple[Classes, ...], count: int
) -> Floats:
    """Shape (count, columns). items: with a unit, 0..count, in place of the ranking."""
    units, weights = items.rankings, items.weights
    blocks = []
    for pair in _pairs(classes):
        widths = [len(one.names) for one in pair]
        joint = _joint_code(pair)[items.sites]
        size = math.prod(widths)
        sums = np.bincount(units * size + joint, weights, count * size)
        sums = sums.reshape(count, *widths)
        blocks += [sums] if len(pair) == 1 else [sums.sum(axis=2), sums.sum(axis=1)]
    declared = ~np.isnan(sites.commission)
    percent = np.where(declared, sites.commission, 0.0)
    columns = [
        blocks[0].sum(axis=1),
        np.bincount(units, weights * declared[items.sites], count),
        np.bincount(units, weights * percent[items.sites], count),
    ]
    return np.concatenate([np.stack(columns, axis=1), *blocks], axis=1)


def _pairs(classes: tuple[Classes, ...]) -> list[tuple[Classes, ...]]:
    """Counted together, for one look-up an item instead of two."""
    return [classes[begin : begin + 2] for begin in range(0, len(classes), 2)]


def _joint_code(pair: tuple[Classes, ...]) -> Integers:
    code = pair[0].code
    for one in pair[1:]:
        code = code * len(one.names) + one.code
    return code


def _spread(counts: Numbers) -> Integers:
    """The number of its ranking for each item."""
    return np.repeat(np.arange(len(counts)), counts)


def _ranks(counts: Numbers) -> Integers:
    """0 for the first item of each ranking, and so on."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(
        ends - counts, counts
    )
