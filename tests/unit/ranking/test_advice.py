from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from registry.index.building.builder import Builder
from registry.index.query.search import prepare_query, search
from registry.ranking.advice import (
    MAX_SUBJECTS,
    Advice,
    LastProbe,
    advise,
    advise_on_quality,
    describe_by_actions,
    try_changes,
)
from registry.ranking.advice_trial import AdviceTrial, requests_of
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import FULL, STATIC_POLICY
from registry.ranking.profile import Profile, make_profile, plain_name
from registry.ranking.quality import ProbeFigures, quality
from registry.ranking.words.site_words import ActionWords, site_text_reader
from registry.sites.action import Action, Parameter
from registry.sites.place import Place, Point
from registry.sites.site import LocationClaim, Site
from tests.unit.formats.strategies import SITES

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
ROUNDING = 200
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
    return load_encoder(STATIC_POLICY)


def _advise(site: Site, place: Place | None = AMMAN) -> tuple[Advice, ...]:
    return advise(
        site,
        host="acme.example",
        registrable_domain="acme.example",
        place=place,
        encoder=_encoder(),
        policy=STATIC_POLICY,
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
        pytest.param(
            _with(name="searchMenuByDish", description=""), "Describe", id="description"
        ),
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
    assert (advice.factor, advice.actions) == (
        "capability_depth",
        (site.actions[0].name,),
    )
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


def _profile(site: Site, number: int) -> Profile:
    return make_profile(
        site,
        encoder=_encoder(),
        policy=STATIC_POLICY,
        site_id=number,
        publisher=number,
        host=f"s{number}.example",
        registrable_domain=f"s{number}.example",
        formats=(),
        place=None,
        probes=ProbeFigures(),
        changed_at=NOON,
    )


def _scores(site: Site, others: list[Site]) -> dict[str, tuple[int, int]]:
    """By request for one of its actions the site's relevance and score in an index."""
    profiles = [
        _profile(item, number) for number, item in enumerate([site, *others], 1)
    ]
    index = Builder.build(profiles, STATIC_POLICY).index
    scores = {}
    for action in site.actions:
        query = prepare_query(plain_name(action.name), _encoder(), STATIC_POLICY)
        ranked = search(index, query, now=NOON, seed=b"", k=50)
        for own in ranked.sites:
            if own.site_id == 1:
                scores[action.name] = own.factors.relevance, own.score
    return scores


def _words(site: Site) -> list[ActionWords]:
    names = ("s1.example", "s1.example", None)
    reading = site_text_reader(
        site.name, *names, encoder=_encoder(), policy=STATIC_POLICY
    )
    return [reading.action(action) for action in site.actions]


def _changes(site: Site) -> list[tuple[Advice, Site]]:
    words = _words(site)
    trial = AdviceTrial(
        host="s1.example",
        registrable_domain="s1.example",
        place=None,
        requests=requests_of(words, _encoder(), STATIC_POLICY),
        encoder=_encoder(),
        policy=STATIC_POLICY,
    )
    return list(try_changes(site, words, trial))


WORDS = [
    "book",
    "table",
    "order",
    "bread",
    "repair",
    "bicycle",
    "find",
    "menu",
    "room",
    "price",
    "day",
    "guest",
    "send",
]
PHRASES = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
SPARSE = st.builds(
    Action,
    name=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map("_".join),
    description=PHRASES,
    parameters=st.lists(
        st.builds(
            Parameter,
            name=st.sampled_from(WORDS),
            type=st.sampled_from(["string", "unknown"]),
            description=PHRASES,
        ),
        max_size=3,
    ).map(tuple),
    auth_required=st.none() | st.booleans(),
    sensitivity=st.none() | st.just("read"),
)
SHOPS = st.builds(
    Site,
    description=PHRASES,
    category=st.sampled_from(["", "bakery"]),
    actions=st.lists(SPARSE, min_size=1, max_size=6, unique_by=lambda a: a.name).map(
        tuple
    ),
)


@given(SHOPS, st.lists(SHOPS, max_size=4))
def test_what_is_advised_raises_the_score_in_an_index_of_any_sites(
    site: Site, others: list[Site]
) -> None:
    """Following the advice lowered "book a table" from 8492 to 7876."""
    before = _scores(site, others)
    for advice, changed in _changes(site):
        after = _scores(changed, others)
        for request, (relevance, score) in before.items():
            # Beside the threshold rounding may decide.
            if relevance > STATIC_POLICY.relevance_min + ROUNDING:
                assert after[request][1] > score, (advice.how, request)


@given(SHOPS, st.lists(SHOPS, max_size=4))
def test_a_description_is_advised_where_it_raises_the_score(
    site: Site, others: list[Site]
) -> None:
    silent = structs.replace(site, description="")
    if not any(advice.factor == "relevance" for advice in _advise(silent)):
        return
    before = _scores(silent, others)
    after = _scores(describe_by_actions(silent, _words(silent)), others)
    for request, (relevance, score) in before.items():
        if relevance > STATIC_POLICY.relevance_min + ROUNDING:
            assert after[request][1] > score, request


def test_owners_learn_that_the_category_is_a_filter() -> None:
    (advice,) = _advise(structs.replace(WHOLE, category=""))
    assert (advice.factor, advice.gain) == ("eligibility", None)
    assert "filter" in advice.how


def test_nobody_is_advised_to_say_more_than_helps() -> None:
    query = [f"what_{word}" for word in WORDS]
    unsaid = tuple(Parameter(name=name, type="string") for name in query)
    many = _with(parameters=unsaid)
    assert not any("means" in advice.how for advice in _advise(many))


FAILED = LastProbe(
    url="https://acme.example/api/wab/ping",
    outcome="wrong_protocol",
    code="status",
    got="wrong_protocol: the server answered 404",
    wanted='JSON with "status": "ok"',
)


def test_failing_probes_are_advised_on_with_what_they_asked_got_and_want() -> None:
    """ "0 of 8 probes answered well" cost 7.4 of 15 points, and advice told nothing."""
    figures = ProbeFigures(probes=8, answers=8, successes=0, median_ms=8)
    (advice,) = advise_on_quality(figures, FAILED, STATIC_POLICY)
    assert (advice.factor, advice.probe) == ("quality", FAILED)
    for words in ("0 of 8", FAILED.url, "404", '"status": "ok"', "docs/probes.md"):
        assert words in advice.how
    mended = structs.replace(figures, successes=8)
    lost = quality(mended, STATIC_POLICY) - quality(figures, STATIC_POLICY)
    assert advice.gain == lost > 0


@pytest.mark.parametrize(
    ("successes", "outcome"),
    [
        pytest.param(8, "alive", id="all right"),
        pytest.param(3, "alive", id="mended since"),
        pytest.param(8, "never_checked", id="not asked"),
    ],
)
def test_good_probes_need_no_advice(successes: int, outcome: str) -> None:
    figures = ProbeFigures(probes=8, answers=8, successes=successes, median_ms=8)
    last = replace(FAILED, outcome=outcome)
    assert advise_on_quality(figures, last, STATIC_POLICY) == ()


@given(SITES)
def test_any_site_can_be_advised(site: Site) -> None:
    for advice in _advise(site, None):
        assert advice.how
        assert advice.gain is None or 0 < advice.gain <= FULL
