from functools import cache

import pytest
from hypothesis import given

from registry.ranking.advice import MAX_SUBJECTS, Advice, advise
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.sites.action import Action, Parameter
from registry.sites.place import Place, Point
from registry.sites.site import LocationClaim, Site
from tests.unit.formats.strategies import SITES

AMMAN = Place(geonames_id=1, name="Amman", country="JO", point=Point(31.95, 35.93))
GOOD = Action(
    name="searchMenu",
    description="Search the dishes on the menu by keyword",
    parameters=(Parameter(name="query", type="string", description="a word"),),
    auth_required=False,
    sensitivity="read",
)
WHOLE = Site(
    name="Acme",
    description="A small kitchen with a garden",
    category="restaurant",
    location=LocationClaim(city="Amman", country="JO"),
    actions=(GOOD,),
)


@cache
def _encoder() -> Encoder:
    return load_encoder()


def _advise(site: Site, place: Place | None = AMMAN) -> tuple[Advice, ...]:
    return advise(
        site,
        host="acme.example",
        registrable_domain="acme.example",
        place=place,
        encoder=_encoder(),
        policy=DEFAULT_POLICY,
    )


def _with(**changes: object) -> Site:
    action = {name: getattr(GOOD, name) for name in GOOD.__slots__} | changes
    return Site(
        **{name: getattr(WHOLE, name) for name in WHOLE.__slots__}
        | {"actions": (Action(**action),)}
    )


def test_a_site_that_says_everything_gets_no_advice() -> None:
    assert _advise(WHOLE) == ()


@pytest.mark.parametrize(
    ("site", "word"),
    [
        pytest.param(_with(description="Menu"), "Describe", id="description"),
        pytest.param(
            _with(parameters=(Parameter(name="query", description="a word"),)),
            "type",
            id="type",
        ),
        pytest.param(
            _with(parameters=(Parameter(name="query", type="string"),)),
            "means",
            id="documentation",
        ),
        pytest.param(_with(auth_required=None), "login", id="auth"),
        pytest.param(_with(sensitivity=None), "changes", id="sensitivity"),
    ],
)
def test_what_an_action_leaves_out_is_advised_with_its_gain(
    site: Site, word: str
) -> None:
    (advice,) = _advise(site)
    assert (advice.factor, advice.actions) == ("capability_depth", ("searchMenu",))
    assert word in advice.how
    assert advice.gain is not None
    assert 0 < advice.gain <= FULL


@pytest.mark.parametrize(
    ("place", "claim", "category", "word"),
    [
        pytest.param(None, None, "restaurant", "State city", id="none"),
        pytest.param(
            None, LocationClaim(city="Xyz"), "restaurant", "gazetteer", id="unknown"
        ),
    ],
)
def test_a_place_is_asked_of_sites_that_have_one(
    place: Place | None, claim: LocationClaim | None, category: str, word: str
) -> None:
    site = Site(
        description="d", category=category, location=claim, actions=WHOLE.actions
    )
    (advice,) = _advise(site, place)
    assert advice.factor == "proximity"
    assert word in advice.how


def test_a_category_without_a_place_needs_none() -> None:
    site = Site(description="d", category="software", actions=WHOLE.actions)
    assert _advise(site, None) == ()


def test_many_actions_are_counted_and_few_are_named() -> None:
    actions = tuple(Action(name=f"do thing {word}") for word in "abcdefghijklmnop")
    site = Site(description="d", category="software", actions=actions)
    advice = _advise(site, None)[0]
    assert (len(advice.actions), advice.count) == (MAX_SUBJECTS, 16)


@given(SITES)
def test_no_advice_would_lower_a_factor(site: Site) -> None:
    for advice in _advise(site, None):
        assert advice.how
        assert advice.gain is None or 0 <= advice.gain <= FULL
