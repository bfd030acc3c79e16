"""The arrays that all figures are computed in, and their parts of the whole."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Numbers = NDArray[np.int32]
"""Of sites, classes, names: what a column of a window holds millions of."""

Keys = NDArray[np.uint64]


def shares(amounts: Floats) -> Floats:
    """Parts of the whole. Raises: ValueError where there is nothing to share."""
    total = amounts.sum()
    if not total > 0 or (amounts < 0).any():
        raise ValueError("shares need amounts >= 0 with a sum above 0")
    parts: Floats = amounts / total
    return parts


def group_sums(values: Floats, groups: Integers, group_count: int) -> Floats:
    """values, groups: one per item. Sum per group, shape (group_count,)."""
    return np.asarray(np.bincount(groups, values, group_count), np.float64)


def group_means(values: Floats, groups: Integers, group_count: int) -> Floats:
    """NaN for a group without items."""
    sizes = np.bincount(groups, minlength=group_count)
    sums = group_sums(values, groups, group_count)
    return divide(sums, sizes.astype(np.float64))


def divide(parts: Floats, wholes: Floats) -> Floats:
    """NaN where there is no whole."""
    ratios = np.full(len(wholes), np.nan)
    np.divide(parts, wholes, out=ratios, where=wholes > 0)
    return ratios
