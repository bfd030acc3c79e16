"""Concentration: how few take how much.

Amounts are exposures or selections, one per eligible site; a site that got nothing is a
0 in the list, not absent from it, or the Gini coefficient flatters.
"""

import numpy as np

from registry.fairness.arrays import Floats, shares


def gini(amounts: Floats) -> float:
    """0 where all have the same, (n - 1) / n where one has all.

    Raises: ValueError for a negative amount or a sum of 0.
    """
    parts = np.sort(shares(amounts))
    count = len(parts)
    ranks = np.arange(1, count + 1)
    return float((2 * ranks - count - 1) @ parts / count)


def herfindahl_hirschman_index(amounts: Floats) -> float:
    """Sum of squared shares: from 1 / n (even) to 1 (one has all)."""
    parts = shares(amounts)
    return float(parts @ parts)


def effective_number(amounts: Floats) -> float:
    """How many equal sites would be as concentrated: 1 / HHI."""
    return 1 / herfindahl_hirschman_index(amounts)
