"""Sentences of the pages and of `search`."""

import pytest

from registry.interfaces.web import page_wording
from registry.ranking.explain import ProximityFacts


@pytest.mark.parametrize(
    ("band", "local", "city", "sentence"),
    [
        ("under 25 km", True, 250441, "under 25 km away"),
        (None, False, 0, "what it offers is not bound to a place"),
        (None, True, 250441, "no place was given, so it is the same for all"),
        (
            *(None, True, 0),
            "it names no city that is known: where a place is given, it counts as far",
        ),
    ],
)
def test_proximity_is_said_of_the_search_that_was_made(
    band: str | None, local: bool, city: int, sentence: str
) -> None:
    facts = ProximityFacts(distance_band=band, local=local, geonames_id=city)
    assert page_wording._proximity(facts) == sentence
