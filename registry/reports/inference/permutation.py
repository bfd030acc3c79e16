"""Permutation tests: how often shuffled labels part groups as far as the real ones.

Labels are shuffled within a stratum (a category) only, so that what differs between
categories does not count as bias. Two-sided. Source: Good 2005, chapter 3; Phipson &
Smyth 2010 (the real labelling is counted in, so that no p-value is 0).
"""

import math

import numpy as np

from registry.reports.arrays import Booleans, Floats, Integers, Numbers

EXACT_MAX = 1_000
"""Items up to which labels are shuffled in earnest; of more, the sum over a group is
normal enough for the two moments of its permutation distribution, which are known."""

_SHUFFLES = 2_000
_BLOCK_CELLS = 500_000
_ROUNDING = 1e-12


def permutation_p_values(
    values: Floats,
    in_groups: Booleans,
    strata: Integers,
    rng: np.random.Generator,
    shuffles: int = _SHUFFLES,
) -> Floats:
    """Return how often a group's mean is as far from the rest's as it is now, 0..1.

    Of each group in each kind of value, all from the same shuffles. A group of none or
    of all has the value 1. values: (items, kinds). in_groups: (items, groups). strata:
    (items,). Returns (groups, kinds).
    """
    if len(values) > EXACT_MAX:
        return normal_p_values(values, in_groups, strata)
    order = np.argsort(strata, kind="stable")
    values, in_groups, strata = values[order], in_groups[order], strata[order]
    labels = in_groups.T.astype(np.float64)
    middle = labels @ _stratum_means(values, strata)[strata]
    distance = np.abs(labels @ values - middle) * (1 - _ROUNDING) - _ROUNDING
    block = max(1, _BLOCK_CELLS // max(1, len(values)))
    as_far = np.zeros(middle.shape)
    for done in range(0, shuffles, block):
        keys = rng.random((min(block, shuffles - done), len(values)))
        shuffled = np.take(labels, np.argsort(strata + keys, axis=1), axis=1)
        sums = np.moveaxis(shuffled, 0, 1) @ values
        as_far += (np.abs(sums - middle) >= distance).sum(axis=0)
    return (1 + as_far) / (1 + shuffles)


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


def normal_p_values(values: Floats, in_groups: Booleans, strata: Integers) -> Floats:
    """Return the same from the mean and variance that shuffled labels give a group's sum."""
    if not len(values):
        return np.ones((in_groups.shape[1], values.shape[1]))
    means = _stratum_means(values, strata)
    sizes = np.bincount(strata)
    apart = values - means[strata]
    squares = _stratum_sums(np.square(apart), strata)
    labelled = _stratum_sums(in_groups.astype(np.float64), strata).T
    rest = labelled * (sizes - labelled) / np.maximum(sizes * (sizes - 1), 1)
    variance = rest @ squares
    excess = np.abs(in_groups.T.astype(np.float64) @ apart)
    spread = np.sqrt(2 * np.where(variance > _ROUNDING, variance, np.inf))
    tail = np.vectorize(math.erfc, otypes=[np.float64])
    p_values: Floats = tail(excess / spread)
    return p_values


def _stratum_means(values: Floats, strata: Integers) -> Floats:
    counts = np.maximum(np.bincount(strata), 1)
    means: Floats = _stratum_sums(values, strata) / counts[:, None]
    return means


def _stratum_sums(values: Floats, strata: Integers) -> Floats:
    """Shape (strata, columns)."""
    return np.stack([np.bincount(strata, column) for column in values.T], axis=1)
