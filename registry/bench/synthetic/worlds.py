"""Simulated worlds: windows of rankings in which it is known how each kind fares.

Labels are drawn at random; sites differ lastingly, queries repeat by Zipf's law, and a
world may handicap the kind `chain` in the ranking or favour it in agents' choices.
"""

from dataclasses import dataclass

import numpy as np

from registry.reports.arrays import Booleans, Floats, Integers, Numbers
from registry.reports.window.columns import (
    INDEPENDENCES,
    SIZES,
    UNREPORTED,
    Observed,
    Rankings,
    ScoredColumns,
    SiteColumns,
)

_ELIGIBLE, _SHOWN = 20, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Shape of a world. lasting: spread of the sites' merits, in spreads of one ranking's.

    liking: spread of agents' lasting likes, in logarithms of odds. handicap: of chains, in
    spreads of one ranking's. odds: of agents for a chain beside another site of its rank.
    """

    name: str
    sites: int = 60
    rankings: int = 500
    queries: int = 500
    zipf: float = 1.0
    lasting: float = 0.0
    liking: float = 0.0
    handicap: float = 0.0
    odds: float = 1.0
    chains: float = 0.3
    reported: float = 0.7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Population:
    """Sites of a world, from which windows are drawn.

    merits: of the sites, before a query's and a ranking's own. likes: logarithms of
    agents' odds for each site.
    """

    world: World
    sites: SiteColumns
    merits: Floats
    likes: Floats


def draw_population(world: World, rng: np.random.Generator) -> Population:
    """Return sites with labels drawn by lot."""
    is_chain = rng.random(world.sites) < world.chains
    merits = world.lasting * rng.normal(size=world.sites)
    likes = world.liking * rng.normal(size=world.sites)
    return Population(
        world=world,
        sites=_label(is_chain, rng),
        merits=merits - world.handicap * is_chain,
        likes=likes + np.log(world.odds) * is_chain,
    )


def draw_window(population: Population, rng: np.random.Generator) -> Observed:
    """Return what a report is made of: other queries each time, of the same sites."""
    world = population.world
    weights = 1 / np.arange(1, world.queries + 1) ** world.zipf
    query = rng.choice(world.queries, world.rankings, p=weights / weights.sum())
    lots = rng.random((world.queries, world.sites))
    candidates = np.argsort(lots, axis=1)[:, :_ELIGIBLE]
    merits = population.merits[candidates] + rng.normal(size=candidates.shape)
    eligible = candidates[query]
    own = merits[query] + rng.normal(size=eligible.shape)
    shown = np.take_along_axis(eligible, np.argsort(-own, axis=1)[:, :_SHOWN], axis=1)
    part = _rankings(query, eligible, shown, _choose(population, shown, rng))
    return Observed(parts=[part], scored=_NO_SCORES, sites=population.sites)


def _choose(
    population: Population, shown: Integers, rng: np.random.Generator
) -> Integers:
    """Return sites, by odds that halve with each rank, or UNREPORTED."""
    odds = population.likes[shown] - np.log(2) * np.arange(shown.shape[1])
    taken = np.argmax(odds + rng.gumbel(size=shown.shape), axis=1)
    sites = np.take_along_axis(shown, taken[:, None], axis=1)[:, 0]
    is_reported = rng.random(len(shown)) < population.world.reported
    chosen: Integers = np.where(is_reported, sites, UNREPORTED)
    return chosen


def _label(is_chain: Booleans, rng: np.random.Generator) -> SiteColumns:
    count = len(is_chain)
    sizes = rng.integers(0, SIZES.index("unknown"), count)
    kinds = np.array([INDEPENDENCES.index("independent"), INDEPENDENCES.index("chain")])
    return SiteColumns(
        size=sizes.astype(np.int32),
        independence=kinds[is_chain.astype(np.int64)].astype(np.int32),
        commission=np.full(count, np.nan),
        category=np.zeros(count, np.int32),
        categories=("",),
        publisher=np.arange(count, dtype=np.int32),
        registered_day=rng.uniform(20_000, 20_454, count),
    )


def _rankings(
    query: Integers, eligible: Integers, shown: Integers, chosen: Integers
) -> Rankings:
    count = len(query)
    none = np.zeros(count, np.int32)
    keys = query.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return Rankings(
        keys=keys,
        operator=none,
        operators=("",),
        category=none,
        categories=("",),
        returned=shown.ravel().astype(np.int32),
        returned_counts=_repeat(shown),
        sampled=eligible.ravel().astype(np.int32),
        sampled_counts=_repeat(eligible),
        chosen=chosen.astype(np.int32),
        most_eligible=eligible.shape[1],
        empty=0,
    )


def _repeat(lists: Integers) -> Numbers:
    return np.full(len(lists), lists.shape[1], np.int32)


_NO_SCORES = ScoredColumns(
    keys=np.zeros(0, np.uint64),
    counts=np.zeros(0, np.int32),
    sites=np.zeros(0, np.int32),
    factors=np.zeros((0, 5), np.int64),
    tiers=np.zeros(0, np.int64),
    located=np.zeros(0, np.bool_),
)
