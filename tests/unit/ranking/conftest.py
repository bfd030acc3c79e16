from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, make_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.words.lexicon import Lexicon, lexicon_of
from registry.sites.action import Action, Parameter
from registry.sites.site import Site

BISTRO = Site(
    name="Bistro Nord",
    description="Seasonal dinner by the harbour.",
    category="restaurant",
    actions=(
        Action(
            name="bookTable",
            description="Reserve a table for dinner",
            parameters=(
                Parameter(name="date", type="string", description="Day of the visit"),
                Parameter(name="guests", type="integer", description="How many come"),
            ),
            auth_required=False,
            sensitivity="write",
        ),
        Action(name="viewMenu", description="Read the menu of the day"),
    ),
)


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return load_encoder()


@pytest.fixture(scope="session")
def lexicon(encoder: Encoder) -> Lexicon:
    return lexicon_of(encoder, DEFAULT_POLICY)


@pytest.fixture
def bistro() -> Site:
    return BISTRO


@pytest.fixture
def profile_of(encoder: Encoder) -> Callable[..., Profile]:
    def make(site: Site, **changes: Any) -> Profile:
        given: dict[str, Any] = {
            "site_id": 7,
            "publisher": 70,
            "host": "xq.test",
            "registrable_domain": "xq.test",
            "formats": ("wab",),
            "place": None,
            "probes": ProbeFigures(),
            "changed_at": datetime(2026, 11, 1, tzinfo=UTC),
            "encoder": encoder,
            "policy": DEFAULT_POLICY,
        }
        return make_profile(site, **(given | changes))

    return make
