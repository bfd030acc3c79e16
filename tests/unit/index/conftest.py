import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from registry.ranking.encoders.vectors import (
    DIMENSIONS,
    SITE_BYTES,
    quantise_request,
    quantise_sites,
    unpack_sites,
)
from registry.ranking.policy import STATIC_POLICY
from registry.ranking.profile import ActionProfile, Profile
from registry.ranking.quality import ProbeFigures
from registry.sites.place import Point

APART = replace(STATIC_POLICY, duplicate_signature_bytes=33)
"""Sites of several publishers say the same here, and have a place each."""

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PLAIN = Profile(
    policy=STATIC_POLICY.digest,
    site_id=1,
    publisher=1,
    category="restaurant",
    country="JO",
    formats=("wab",),
    point=None,
    local=False,
    site_terms=("food",),
    actions=(
        ActionProfile(
            name="bookTable",
            name_terms=("book", "tabl"),
            description_terms=("dinner",),
            parameter_terms=("guest",),
        ),
    ),
    embedding=bytes(SITE_BYTES),
    capability_depth=5000,
    quality=7000,
    probes=ProbeFigures(),
    changed_at=NOW - timedelta(days=10),
    commission_tier=1,
)
ACTION_NAMES = [f"do thing {number}" for number in range(12)]
VOCABULARY = [f"term{number}" for number in range(30)]

MakeProfile = Callable[..., Profile]


@pytest.fixture(scope="session")
def now() -> datetime:
    return NOW


@pytest.fixture
def site() -> MakeProfile:
    """A plain site with its own publisher, and whatever is said otherwise."""

    def make(site_id: int, **changes: Any) -> Profile:
        return replace(PLAIN, **{"site_id": site_id, "publisher": site_id} | changes)

    return make


def request_vector(site: Profile) -> bytes:
    """Of a request that means what the site means."""
    (vector,) = unpack_sites(np.frombuffer(site.embedding, np.uint8).reshape(1, -1))
    return quantise_request(vector.astype(np.int64))


def random_vector(rng: random.Random) -> bytes:
    vector = [rng.randint(-999, 999) for _ in range(DIMENSIONS)]
    return quantise_sites(np.array([vector], np.int64)).tobytes()


@pytest.fixture(scope="session")
def random_site() -> Callable[[random.Random, int], Profile]:
    """Of few words, publishers, places and values, so that ties and copies occur."""

    def words(rng: random.Random, most: int) -> tuple[str, ...]:
        return tuple(rng.sample(VOCABULARY, rng.randint(0, most)))

    def make(rng: random.Random, site_id: int) -> Profile:
        local = rng.random() < 0.6
        actions = tuple(
            ActionProfile(
                name=f"action{number}",
                name_terms=words(rng, 3),
                description_terms=words(rng, 8),
                parameter_terms=words(rng, 4),
            )
            for number in range(rng.randint(0, 4))
        )
        return replace(
            PLAIN,
            site_id=site_id,
            publisher=rng.randint(1, 30),
            category=rng.choice(["restaurant", "hotel"]),
            country=rng.choice(["JO", "DE"]),
            formats=rng.choice([("wab",), ("awp", "wab"), ()]),
            point=Point(rng.uniform(-60, 60), rng.uniform(-180, 180))
            if local
            else None,
            local=local,
            site_terms=words(rng, 5),
            actions=actions,
            embedding=random_vector(rng),
            capability_depth=rng.choice([0, 5000, 10_000]),
            quality=rng.choice([0, 7000]),
            changed_at=NOW - timedelta(hours=rng.randint(-5, 9000)),
            commission_tier=rng.randint(0, 1),
            conformance=rng.choice(["strict", "tolerated"]),
            permissions=rng.choice([(), ("click",), ("click", "fill forms")]),
            requires_auth=rng.choice([(), (True,), (False, True)]),
            action_names=tuple(sorted(rng.sample(ACTION_NAMES, rng.randint(0, 3)))),
            languages=rng.choice([(), ("de",), ("de", "en")]),
        )

    return make
