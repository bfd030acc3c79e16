import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from registry.index.building.builder import Builder, uncommitted_index
from registry.index.query.index import Index
from registry.index.query.sample import splitmix64
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import search
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile
from registry.ranking.relevance import ParsedQuery

MakeProfile = Callable[..., Profile]
MakeRandom = Callable[[random.Random, int], Profile]


def answers(index: Index, now: datetime) -> list[Any]:
    request = ParsedQuery(
        term_of={"term1": "term1", "term2": "term2"},
        vector=bytes(DIMENSIONS),
        confidence_bp=0,
    )
    ranked = search(index, Query(request=request), now=now, seed=bytes(32), k=99)
    return [ranked.sites, ranked.eligible, ranked.term_weights, ranked.generation]


def test_changes_followed_equal_an_index_built_anew(
    random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(3)
    sites = {number: random_site(rng, number) for number in range(60)}
    builder = Builder.build(sites.values(), P)
    for _ in range(6):
        gone = rng.sample(sorted(sites), 5)
        fresh = {n: random_site(rng, n) for n in rng.sample(range(90), 8)}
        builder = builder.with_changes(fresh.values(), [*gone, 12_345])
        sites = {n: s for n, s in sites.items() if n not in gone} | fresh
        built = Builder.build(sites.values(), P)
        assert answers(builder.index, now) == answers(built.index, now)


def test_an_index_without_a_generation_answers_as_one_with_it(
    random_site: MakeRandom, now: datetime
) -> None:
    rng = random.Random(4)
    sites = [random_site(rng, number) for number in range(60)]
    *bare, generation = answers(uncommitted_index(sites, P), now)
    assert bare == answers(Builder.build(sites, P).index, now)[:-1]
    assert generation == Builder.build([], P).index.generation


def test_searches_keep_the_index_they_run_on(site: MakeProfile) -> None:
    builder = Builder.build([site(1), site(2)], P)
    index = builder.index
    changed = builder.with_changes([], [1]).index
    assert (len(index), len(changed)) == (2, 1)
    assert set(index.profiles()) == {1, 2}


def test_generation_names_the_content(site: MakeProfile) -> None:
    builder = Builder.build([site(1), site(2)], P)
    same = Builder.build([site(2), site(1)], P)
    assert builder.index.generation == same.index.generation
    others = [
        builder.with_changes([site(2, quality=1)], []),
        builder.with_changes([], [2]),
        Builder.build([site(1), site(2)], replace(P, relevance_min=1)),
    ]
    assert len({item.index.generation for item in (builder, *others)}) == 4
    back = builder.with_changes([], [2]).with_changes([site(2)], [])
    assert back.index.generation == builder.index.generation


def test_a_term_weighs_less_the_more_sites_say_it(site: MakeProfile) -> None:
    index = Builder.build([site(1), site(2), site(3, site_terms=("oboe",))], P).index
    weights = index.term_weights(["tabl", "food", "oboe", "absent"])
    assert list(weights.values()) == sorted(weights.values())


def test_splitmix64_of_its_published_sequence() -> None:
    # The first outputs of the generator seeded with 1234567.
    step = 0x9E3779B97F4A7C15
    states = [(1234567 + step * number) % 2**64 for number in range(2)]
    assert splitmix64(np.array(states, np.uint64)).tolist() == [
        6457827717110365317,
        3203168211198807973,
    ]
