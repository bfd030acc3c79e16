"""Effective weights: what each factor really does to the order, beside its nominal weight.

A factor that hardly differs between the sites of an answer moves nothing, whatever it
weighs. Two measures: the share of a factor's contributions in the variance within
rankings, and the pairs of sites that would change places without it. Both see returned
sites only: among those that were ranked first, factors make up for each other, so that
the figures tell of the answers as given, not of all eligible sites.

Sources: Saisana, Saltelli & Tarantola 2005 (importance against weight in composite
indicators), Paruolo, Saisana & Saltelli 2013.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from registry.fairness.arrays import Floats, Integers, Numbers
from registry.fairness.inference.bootstrap import Clusters
from registry.fairness.window.columns import Scored

FACTORS = 5
VARIANCES, SWAPS, PAIRS = slice(0, FACTORS), slice(FACTORS, 2 * FACTORS), 2 * FACTORS
"""Columns of `weight_sums`."""

_BLOCK_CELLS = 2_000_000


def contribution_variances(contributions: Integers) -> Floats:
    """Within each ranking, per factor. contributions: shape (rankings, sites, 5)."""
    variances: Floats = contributions.var(axis=1)
    return variances


def swapped_pairs(contributions: Integers) -> tuple[Integers, Integers]:
    """Pairs that stand the other way round without a factor, and pairs not tied.

    Shapes (rankings, 5) and (rankings,).
    """
    scores = contributions.sum(axis=2)
    leads = scores[:, :, None] - scores[:, None, :]
    ahead = leads > 0
    swaps = [
        (ahead & (leads < part[:, :, None] - part[:, None, :])).sum(axis=(1, 2))
        for part in np.moveaxis(contributions, 2, 0)
    ]
    return np.stack(swaps, axis=1), ahead.sum(axis=(1, 2))


def weight_sums(scored: Scored, weights: Sequence[int], clusters: Clusters) -> Floats:
    """Per cluster: variances, swaps (five each) and pairs; each sum over rankings."""
    sums = np.zeros((len(clusters), 2 * FACTORS + 1))
    cluster_of = clusters.number(scored.keys)
    for rankings, items in same_length(scored.counts):
        contributions = scored.factors[items] * np.asarray(weights, np.int64)
        swaps, pairs = swapped_pairs(contributions)
        rows = np.concatenate(
            [contribution_variances(contributions), swaps, pairs[:, None]], axis=1
        )
        np.add.at(sums, cluster_of[rankings], rows)
    return sums


def same_length(counts: Numbers) -> Iterator[tuple[Integers, Integers]]:
    """Rankings of two or more sites in blocks of one length, and their items.

    Yields: numbers of rankings (n,), and of their items (n, length).
    """
    starts = np.cumsum(counts) - counts
    for length in np.unique(counts[counts > 1]).tolist():
        rankings = np.flatnonzero(counts == length)
        step = max(1, _BLOCK_CELLS // (length * length))
        for first in range(0, len(rankings), step):
            block = rankings[first : first + step]
            yield block, starts[block][:, None] + np.arange(length)
