"""Arrays that all figures are computed in: their types, shares, sums and blocks."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Numbers = NDArray[np.int32]
"""Numbers of sites, classes, names: a column of a window holds millions."""

Keys = NDArray[np.uint64]

_BLOCK_CELLS = 2_000_000


def shares(amounts: Floats) -> Floats:
    """Return parts of the whole. Raises: ValueError where there is nothing to share."""
    total = amounts.sum()
    if not total > 0 or (amounts < 0).any():
        raise ValueError("shares need amounts >= 0 with a sum above 0")
    parts: Floats = amounts / total
    return parts


def group_sums(values: Floats, groups: Integers, group_count: int) -> Floats:
    """Return the sum per group. values, groups: one per item."""
    return np.asarray(np.bincount(groups, values, group_count), np.float64)


def group_means(values: Floats, groups: Integers, group_count: int) -> Floats:
    """Return the mean per group, NaN for a group without items."""
    sizes = np.bincount(groups, minlength=group_count)
    sums = group_sums(values, groups, group_count)
    return divide(sums, sizes.astype(np.float64))


def divide(parts: Floats, wholes: Floats) -> Floats:
    """Return the ratios, NaN where there is no whole."""
    ratios = np.full(len(wholes), np.nan)
    np.divide(parts, wholes, out=ratios, where=wholes > 0)
    return ratios


def same_length(counts: Numbers) -> Iterator[tuple[Integers, Integers]]:
    """Yield lists of two or more items in blocks of one length, and their items.

    Numbers of lists (n,), and of their items (n, length).
    """
    starts = np.cumsum(counts) - counts
    for length in np.unique(counts[counts > 1]).tolist():
        lists = np.flatnonzero(counts == length)
        step = max(1, _BLOCK_CELLS // (length * length))
        for first in range(0, len(lists), step):
            block = lists[first : first + step]
            yield block, starts[block][:, None] + np.arange(length)
