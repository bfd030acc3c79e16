"""Inference: what the figures of a window can and can not tell.

Owns the intervals and tests beside every published figure. All intervals are at 95%
unless a function takes another z or level. Randomness comes in as a seeded Generator,
so that an auditor gets the same interval.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from registry.fairness.exposure import Floats, Integers

Z_95 = 1.959963984540054
MINIMUM_REPLICATES = 2_000
_BLOCK_CELLS = 1_000_000
"""Draws held at once: bounds the memory of resampling at some 16 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """low <= high; either may be infinite."""

    low: float
    high: float

    def excludes(self, value: float) -> bool:
        return value < self.low or value > self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRatio:
    """One rate over another, with its interval."""

    ratio: float
    interval: Interval


def katz_rate_ratio(
    hits: int, trials: int, other_hits: int, other_trials: int, z: float = Z_95
) -> RateRatio:
    """exp(ln RR ± z · √(1/a - 1/n + 1/b - 1/m)), Katz et al. 1978.

    Where a group has no hit the logarithm has no bound: half a hit is added to both
    (Walter 1975), and the interval stays wide but finite.
    """
    _check_count(hits, trials)
    _check_count(other_hits, other_trials)
    a, n, b, m = map(float, (hits, trials, other_hits, other_trials))
    if 0 in (hits, other_hits):
        a, n, b, m = a + 0.5, n + 0.5, b + 0.5, m + 0.5
    log_ratio = math.log((a / n) / (b / m))
    spread = z * math.sqrt(max(0.0, 1 / a - 1 / n + 1 / b - 1 / m))
    return RateRatio(
        ratio=math.exp(log_ratio),
        interval=Interval(
            low=math.exp(log_ratio - spread), high=math.exp(log_ratio + spread)
        ),
    )


def proportion_interval(hits: int, trials: int, z: float = Z_95) -> Interval:
    """Wilson's score interval (1927): sound for small counts, and inside 0..1."""
    _check_count(hits, trials)
    share = hits / trials
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    spread = (
        z / scale * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    )
    return Interval(low=max(0.0, middle - spread), high=min(1.0, middle + spread))


def rule_of_three(trials: int) -> float:
    """Upper 95% bound on a rate of which no case was seen in that many trials."""
    if trials < 1:
        raise ValueError("a bound needs at least one trial")
    return min(1.0, 3 / trials)


def resample_sums(
    rows: Floats,
    clusters: Integers,
    rng: np.random.Generator,
    replicates: int = MINIMUM_REPLICATES,
) -> Floats:
    """Column sums of bootstrap samples that draw whole clusters, with replacement.

    rows: shape (rows, columns), additive amounts. clusters: one number per row, 0 up
    without gaps; rows of one cluster depend on each other and stand or fall together.
    Returns shape (replicates, columns): any ratio of sums is then one division.
    """
    if replicates < MINIMUM_REPLICATES:
        raise ValueError(f"percentiles need {MINIMUM_REPLICATES} replicates or more")
    totals = _sum_clusters(rows, clusters)
    count = len(totals)
    block = max(1, _BLOCK_CELLS // count)
    sums = [
        _draw_counts(rng, min(block, replicates - done), count) @ totals
        for done in range(0, replicates, block)
    ]
    return np.concatenate(sums)


def percentile_interval(replicates: Floats, level: float = 0.95) -> Interval:
    """The middle of the replicates; those without a value (NaN) don't count."""
    tail = (1 - level) / 2
    low, high = np.nanquantile(replicates, (tail, 1 - tail))
    return Interval(low=float(low), high=float(high))


def permutation_p_value(
    values: Floats,
    in_group: NDArray[np.bool_],
    strata: Integers,
    rng: np.random.Generator,
    permutations: int = MINIMUM_REPLICATES,
) -> float:
    """How often shuffled labels part the group's mean from the rest's as far as now.

    values, in_group, strata: one per item; labels are shuffled within a stratum (a
    category) only, so that what differs between categories does not count as bias.
    Two-sided, the real labelling counted in: never 0.
    """
    order = np.argsort(strata, kind="stable")
    values, in_group, strata = values[order], in_group[order], strata[order]
    contrast = in_group / in_group.sum() - ~in_group / (~in_group).sum()
    threshold = abs(contrast @ values) * (1 - 1e-12)
    block = max(1, _BLOCK_CELLS // len(values))
    as_far = 0
    for done in range(0, permutations, block):
        keys = rng.random((min(block, permutations - done), len(values)))
        shuffled = contrast[np.argsort(strata + keys, axis=1)]
        as_far += int(np.count_nonzero(np.abs(shuffled @ values) >= threshold))
    return (1 + as_far) / (1 + permutations)


def _sum_clusters(rows: Floats, clusters: Integers) -> Floats:
    return np.stack([np.bincount(clusters, column) for column in rows.T], axis=1)


def _draw_counts(rng: np.random.Generator, samples: int, count: int) -> Floats:
    """How often each of count clusters is in each sample, shape (samples, count)."""
    drawn = rng.integers(0, count, (samples, count))
    drawn += np.arange(samples)[:, None] * count
    counts = np.bincount(drawn.ravel(), minlength=samples * count)
    return counts.reshape(samples, count).astype(np.float64)


def _check_count(hits: int, trials: int) -> None:
    if not 0 <= hits <= trials or trials < 1:
        raise ValueError(f"{hits} of {trials} is no proportion")
