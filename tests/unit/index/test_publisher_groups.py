import random
from dataclasses import replace

import numpy as np
import pytest

from registry.index.building.publisher_groups import groups_of, representatives_of
from registry.ranking.capability_depth import is_near_duplicate
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.policy import Policy


def packed(terms: set[int]) -> bytes:
    return np.array(sorted(terms), np.uint64).tobytes()


def one_by_one(
    publishers: list[int], sites: list[set[int]], policy: Policy
) -> list[int]:
    """As the definition has it: each site with each representative before it."""
    representatives: list[int] = []
    for position, own in enumerate(sites):
        leading = [
            representative
            for representative in sorted(set(representatives))
            if publishers[representative] == publishers[position]
        ]
        like = [
            item
            for item in leading
            if is_near_duplicate(own, sites[item], policy.duplicate_site_bp)
        ]
        if like:
            representatives.append(like[0])
        elif len(leading) < policy.publisher_places_max:
            representatives.append(position)
        else:
            representatives.append(
                max(leading, key=lambda item: len(sites[item] & own))
            )
    return representatives


def random_sites(rng: random.Random, count: int) -> list[set[int]]:
    """Variants of a few sites, so that copies and near-duplicates occur."""
    kinds = [set(rng.sample(range(60), rng.randint(0, 12))) for _ in range(8)]
    return [
        (rng.choice(kinds) | set(rng.sample(range(60), rng.randint(0, 2))))
        - set(rng.sample(range(60), rng.randint(0, 3)))
        for _ in range(count)
    ]


@pytest.mark.parametrize("number", range(30))
def test_all_at_once_is_as_one_by_one(number: int) -> None:
    rng = random.Random(number)
    count = rng.randint(0, 50)
    publishers = [rng.randint(1, 4) for _ in range(count)]
    sites = random_sites(rng, count)
    policy = replace(P, publisher_places_max=rng.choice([1, 2, 5, 256]))
    groups = groups_of(publishers, list(map(packed, sites)), {}, policy)
    assert representatives_of(publishers, groups) == one_by_one(
        publishers, sites, policy
    )


def test_a_publisher_that_says_what_it_said_is_not_looked_at_again() -> None:
    sites = [packed({1, 2}), packed({1, 2, 3}), packed({7}), packed({8})]
    known = groups_of([5, 5, 6, 6], sites, {}, P)
    changed = groups_of([5, 5, 6, 6], [*sites[:3], packed({9})], known, P)
    assert changed[5] is known[5]
    assert changed[6] is not known[6]


def test_thousands_of_subdomains_are_compared_with_few_leaders() -> None:
    sites = [packed({n * 10 + i for i in range(10)}) for n in range(3000)]
    groups = groups_of([1] * 3000, sites, {}, P)
    assert len(set(groups[1].representatives)) == P.publisher_places_max
