"""Permutation tests: how often shuffled labels part groups as far as the real ones.

Labels are shuffled within a stratum (a category) only, so that what differs between
categories does not count as bias. Two-sided. Source: Good 2005, chapter 3; Phipson &
Smyth 2010 (the real labelling is counted in, so that no p-value is 0).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from registry.reports.arrays import Booleans, Floats, Integers, Numbers
from registry.reports.inference.rates import Z_95

EXACT_MAX = 1_000
"""Items up to which labels are shuffled in earnest; of more, the sum over a group is
normal enough for the two moments of its permutation distribution, which are known."""

_SHUFFLES = 2_000
_BLOCK_CELLS = 500_000
_ROUNDING = 1e-12
_Z_80 = 0.8416212335729143
"""Beyond the critical distance four in five are as far."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelTest:
    """Sums over groups beside those of shuffled labels; shapes (groups, kinds).

    p_values: how often shuffles part a group as far; 1 for a group of none or of all.
    family: how often they part any group in any kind of value as far, by its own spread.
    expected: mean of the shuffles; 95% of them lie within half_width of it. detectable:
    distance of which four in five would have a family value of `level` or less; infinite
    or NaN where labels are too few, or can not move.
    """

    p_values: Floats
    family: Floats
    expected: Floats
    half_width: Floats
    detectable: Floats


def permute_labels(
    values: Floats,
    in_groups: Booleans,
    strata: Integers,
    rng: np.random.Generator,
    *,
    level: float = 0.05,
    shuffles: int = _SHUFFLES,
) -> LabelTest:
    """Test each group in each kind of value, all by the same shuffles.

    values: (items, kinds). in_groups: (items, groups). strata: (items,).
    """
    order = np.argsort(strata, kind="stable")
    values, in_groups, strata = values[order], in_groups[order], strata[order]
    labels = in_groups.T.astype(np.float64)
    expected = labels @ _stratum_means(values, strata)[strata]
    distance = np.abs(labels @ values - expected)
    spread = _spread(values, in_groups, strata)
    if len(values) > EXACT_MAX:
        return _by_normal_curve(distance, spread, expected, level)
    distance = distance * (1 - _ROUNDING) - _ROUNDING
    shuffled = np.concatenate(
        [
            np.abs(sums - expected)
            for sums in _shuffled_sums(values, labels, strata, rng, shuffles)
        ]
    )
    scale = np.where(spread > 0, spread, np.inf)
    farthest = (shuffled / scale).max(axis=(1, 2), initial=0)
    as_far = farthest[:, None, None] >= distance / scale
    critical = np.quantile(farthest, 1 - level)
    if (farthest >= farthest.max() - _ROUNDING).mean() > level:
        critical = np.inf  # so few labellings that the farthest is no rare one
    return LabelTest(
        p_values=(1 + (shuffled >= distance).sum(axis=0)) / (1 + shuffles),
        family=(1 + as_far.sum(axis=0)) / (1 + shuffles),
        expected=expected,
        half_width=np.quantile(shuffled, 0.95, axis=0),
        detectable=(critical + _Z_80) * np.where(spread > 0, spread, np.nan),
    )


def _shuffled_sums(
    values: Floats,
    labels: Floats,
    strata: Integers,
    rng: np.random.Generator,
    count: int,
) -> Iterator[Floats]:
    """Yield shapes (some of the shuffles, groups, kinds). strata: ascending."""
    block = max(1, _BLOCK_CELLS // max(1, len(values)))
    for begin in range(0, count, block):
        keys = rng.random((min(block, count - begin), len(values)))
        shuffled = np.take(labels, np.argsort(strata + keys, axis=1), axis=1)
        yield np.moveaxis(shuffled, 0, 1) @ values


def merge_publishers(
    values: Floats, in_groups: Booleans, strata: Integers, publishers: Numbers
) -> tuple[Floats, Booleans, Integers]:
    """Return the same of publishers: their sites share a label and fare alike.

    Sites of a publisher with other labels, or in another category, stand by themselves.
    """
    keys = np.column_stack([publishers, strata, in_groups])
    _, first, owner = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    sums = [np.bincount(owner.ravel(), column, len(first)) for column in values.T]
    return np.stack(sums, axis=1), in_groups[first], strata[first]


def _by_normal_curve(
    distance: Floats, spread: Floats, expected: Floats, level: float
) -> LabelTest:
    """Return the same from mean and variance of the shuffles; `family` by Bonferroni."""
    cells = max(1, int((spread > 0).sum()))
    scale = np.where(spread > 0, spread, np.inf)
    tail = np.vectorize(math.erfc, otypes=[np.float64])
    p_values = tail(distance / scale / math.sqrt(2))
    critical = NormalDist().inv_cdf(1 - level / cells / 2)
    return LabelTest(
        p_values=p_values,
        family=np.minimum(1, cells * p_values),
        expected=expected,
        half_width=Z_95 * spread,
        detectable=(critical + _Z_80) * spread,
    )


def _spread(values: Floats, in_groups: Booleans, strata: Integers) -> Floats:
    """Return the standard deviation that shuffled labels give a group's sum."""
    if not len(values):
        return np.zeros((in_groups.shape[1], values.shape[1]))
    sizes = np.bincount(strata)
    squares = np.square(values - _stratum_means(values, strata)[strata])
    labelled = _stratum_sums(in_groups.astype(np.float64), strata).T
    rest = labelled * (sizes - labelled) / np.maximum(sizes * (sizes - 1), 1)
    variance = rest @ _stratum_sums(squares, strata)
    spread: Floats = np.sqrt(np.where(variance > _ROUNDING**2, variance, 0))
    return spread


def _stratum_means(values: Floats, strata: Integers) -> Floats:
    counts = np.maximum(np.bincount(strata), 1)
    means: Floats = _stratum_sums(values, strata) / counts[:, None]
    return means


def _stratum_sums(values: Floats, strata: Integers) -> Floats:
    """Shape (strata, columns)."""
    return np.stack([np.bincount(strata, column) for column in values.T], axis=1)
