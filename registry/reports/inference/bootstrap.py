"""The cluster bootstrap: what chance could have made of a sum, or of a ratio of sums.

Whole clusters are drawn, with replacement: rankings of one query depend on each other
and stand or fall together. Randomness comes in as a seeded Generator, so that an auditor
gets the same interval. Source: Davison & Hinkley 1997, sections 3.8 and 5.3.
"""

import math
from dataclasses import dataclass

import numpy as np

from registry.reports.arrays import Floats, Integers, Keys
from registry.reports.inference.rates import Z_95, Interval

MINIMUM_REPLICATES = 2_000
CLUSTERS_MAX = 4_096
"""Queries beyond that many are put into so many groups by their keys, and whole groups
are drawn: the standard error of a sum is then known within 1.1% (1/√(2·4096)), less than
what 2,000 replicates leave open, and the cost no longer grows with the window."""

_HALF = 0.5
_WIDEST = 10.0
"""Greatest factor, of few clusters or unequal ones: by then an interval says nothing."""

_BLOCK_CELLS = 1_000_000
"""Draws held at once: bounds the memory of resampling at some 16 MB."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """The units of the bootstrap. folded: ascending; with modulus 0, keys as they are."""

    folded: Keys
    modulus: int

    def __len__(self) -> int:
        return len(self.folded)

    def number(self, keys: Keys) -> Integers:
        """0 up, one per key; keys: those that the clusters were made of."""
        if not self.modulus:
            return np.searchsorted(self.folded, keys)
        numbers_at = np.zeros(self.modulus, np.int64)
        numbers_at[self.folded] = np.arange(len(self))
        numbers: Integers = numbers_at[keys % np.uint64(self.modulus)]
        return numbers


def make_clusters(keys: Keys, most: int = CLUSTERS_MAX) -> Clusters:
    """Return clusters. keys: of queries, uniform 64-bit hashes; equal ones are one query."""
    distinct = np.unique(keys)
    if len(distinct) <= most:
        return Clusters(distinct, 0)
    return Clusters(np.unique(distinct % np.uint64(most)), most)


def draw_clusters(
    count: int, rng: np.random.Generator, replicates: int = MINIMUM_REPLICATES
) -> Floats:
    """Return how often each cluster is in each sample: shape (replicates, count).

    Sums of a sample are then one product, with amounts of shape (count, columns).
    """
    if replicates < MINIMUM_REPLICATES:
        raise ValueError(f"percentiles need {MINIMUM_REPLICATES} replicates or more")
    block = max(1, _BLOCK_CELLS // max(1, count))
    drawn = [
        _draw(rng, min(block, replicates - done), count)
        for done in range(0, replicates, block)
    ]
    return np.concatenate(drawn)


def percentile_interval(replicates: Floats, level: float = 0.95) -> Interval:
    """The middle of the replicates; those without a value (NaN) don't count."""
    tail = (1 - level) / 2
    valued = np.sort(replicates[~np.isnan(replicates)])
    if not len(valued):
        return Interval(low=np.nan, high=np.nan)
    return Interval(low=_quantile(valued, tail), high=_quantile(valued, 1 - tail))


def few_clusters_factor(weights: Floats) -> float:
    """Return what to widen an interval by, as few clusters bear on it or some weigh much.

    weights: of the clusters, > 0. Resampling shows a cluster's own spread too small by
    what it weighs (as CR3 mends, Bell & McCaffrey 2002), and the spread itself is known
    from as many draws as Kish's effective number of clusters: hence Student's quantile.
    """
    parts = weights / weights.sum()
    squares = np.square(parts)
    own = np.square(parts / np.maximum(1 - parts, 1 / _WIDEST))
    effective = 1 / squares.sum()
    widened = math.sqrt(own.sum() / squares.sum()) * student_95(effective - 1) / Z_95
    return min(_WIDEST, widened)


def student_95(freedom: float) -> float:
    """Return the 97.5% quantile of Student's t (Abramowitz & Stegun 26.7.5).

    Below three degrees of freedom that of three, where the expansion still holds.
    """
    z, v = Z_95, max(3.0, freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / v**power for power, term in enumerate(terms, 1))


def _quantile(ascending: Floats, part: float) -> float:
    """Return what `np.quantile` does; that takes ten times as long over a few thousand."""
    position = part * (len(ascending) - 1)
    below = int(position)
    low, high = ascending[below], ascending[min(below + 1, len(ascending) - 1)]
    above = position - below
    step = high - low  # from the nearer end, as there
    return float(low + step * above if above < _HALF else high - step * (1 - above))


def _draw(rng: np.random.Generator, samples: int, count: int) -> Floats:
    drawn = rng.integers(0, max(1, count), (samples, count))
    drawn += np.arange(samples)[:, None] * count
    counts = np.bincount(drawn.ravel(), minlength=samples * count)
    return counts.reshape(samples, count).astype(np.float64)
