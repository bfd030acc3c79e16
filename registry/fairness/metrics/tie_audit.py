"""Tie audit: the places of sites of equal score against those of a fair shuffle.

In a window each tie has other sites. So the places of each site over its ties are held
against their mean, and the distance of all sites together against that of shuffled ties.
"""

from dataclasses import dataclass

import numpy as np

from registry.fairness.arrays import Floats, Integers, Numbers, group_sums
from registry.fairness.window.columns import Scored

RUNS_MAX = 5_000
_SHUFFLES = 999


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Neighbours of equal rank but for the shuffle. sites: one run after the other."""

    sites: Numbers
    lengths: Integers

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def places(self) -> Integers:
        """Of each site in its run, 0 up."""
        ends = np.cumsum(self.lengths)
        starts = np.repeat(ends - self.lengths, self.lengths)
        return np.arange(len(self.sites)) - starts


def tied_runs(scored: Scored, scores: Integers, tier: Integers) -> Runs:
    """Of two sites or more. tier: of each site, which breaks ties before the shuffle."""
    ranking = np.repeat(np.arange(len(scored)), scored.counts)
    tiers = tier[scored.sites]
    apart = [column[1:] != column[:-1] for column in (ranking, scores, tiers)]
    starts = np.flatnonzero(np.append(True, np.logical_or.reduce(apart)))
    if not len(ranking):
        return Runs(scored.sites, np.zeros(0, np.int64))
    lengths = np.diff(np.append(starts, len(ranking)))
    tied = np.flatnonzero(lengths > 1)[:RUNS_MAX]
    kept = np.isin(np.repeat(np.arange(len(lengths)), lengths), tied)
    return Runs(scored.sites[kept], lengths[tied])


def distance_from_shuffle(runs: Runs, places: Integers) -> float:
    """Σ (S - E)² / V over sites. places: of each site in its run, 0 up.

    S sums a site's places over its runs; a place in a run of k has mean (k - 1) / 2 and
    variance (k² - 1) / 12.
    """
    return _Expected.of(runs).distance(places)


@dataclass(frozen=True, slots=True, eq=False)
class _Expected:
    """Of a fair shuffle. site: of each item, 0 up. variance: of each site."""

    site: Integers
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, runs: Runs) -> "_Expected":
        length = np.repeat(runs.lengths, runs.lengths)
        _, site = np.unique(runs.sites, return_inverse=True)
        variance = group_sums(
            (np.square(length) - 1) / 12, site, int(site.max(initial=-1)) + 1
        )
        return cls(site=site, mean=(length - 1) / 2, variance=variance)

    def distance(self, places: Integers) -> float:
        excess = np.bincount(self.site, places - self.mean)
        return float((np.square(excess) / self.variance).sum())


def shuffle_p_value(
    runs: Runs, rng: np.random.Generator, shuffles: int = _SHUFFLES
) -> float:
    """How often shuffled runs are as far from their mean as these; never 0."""
    expected = _Expected.of(runs)
    observed = expected.distance(runs.places) * (1 - 1e-12)
    as_far = sum(
        expected.distance(_shuffled_places(runs, rng)) >= observed
        for _ in range(shuffles)
    )
    return (1 + as_far) / (1 + shuffles)


def _shuffled_places(runs: Runs, rng: np.random.Generator) -> Integers:
    """Each run in an order drawn anew: the rank of random numbers within the run."""
    run = np.repeat(np.arange(len(runs)), runs.lengths)
    order = np.argsort(run + rng.random(len(run)))
    places = np.empty(len(run), np.int64)
    places[order] = runs.places
    return places


def tiers_of(commission: Floats) -> Integers:
    """0 for a declared 0%, else 1 (WAB 1.0 §9.5.3)."""
    return np.where(commission == 0, 0, 1)
