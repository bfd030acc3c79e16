from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec import structs

from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import (
    Profile,
    Subject,
    encode_profile,
    make_profile,
    make_profiles,
    parse_profile,
    plain_name,
)
from registry.ranking.quality import ProbeFigures
from registry.ranking.relevance import impacts
from registry.ranking.terms import distinct_terms, split_words, stem
from registry.ranking.words.mask import EverydayWords
from registry.sites.action import Action, Parameter
from registry.sites.place import Place, Point
from registry.sites.site import LocationClaim, Site

MakeProfile = Callable[..., Profile]
KIEL = Place(geonames_id=1, name="Kiel", country="DE", point=Point(54.3, 10.1))
BRANDS = [
    "Nike",
    "McDonald's",
    "Target",
    "Über Eats",
    "Coca-Cola",
    "百度",
    "Bistro Nord",
]


def branded(site: Site, brand: str) -> Site:
    """The site as it would be if the brand were its name, in each text."""
    actions = tuple(
        structs.replace(
            action,
            name=f"{brand} {action.name}",
            description=f"{action.description} at {brand}",
            parameters=tuple(
                structs.replace(
                    parameter, description=f"{brand}: {parameter.description}"
                )
                for parameter in action.parameters
            ),
        )
        for action in site.actions
    )
    text = f"{brand}, your favourite. {site.description} Only {brand}!"
    return structs.replace(site, name=brand, description=text, actions=actions)


@pytest.mark.parametrize("brand", BRANDS)
def test_renaming_to_any_brand_changes_no_byte(
    profile_of: MakeProfile, bistro: Site, brand: str
) -> None:
    plain = profile_of(branded(bistro, "Zorblax"))
    assert encode_profile(profile_of(branded(bistro, brand))) == encode_profile(plain)


@pytest.mark.parametrize("brand", BRANDS)
def test_a_name_that_the_text_does_not_say_changes_no_byte(
    profile_of: MakeProfile, bistro: Site, brand: str
) -> None:
    renamed = profile_of(structs.replace(bistro, name=brand))
    assert encode_profile(renamed) == encode_profile(profile_of(bistro))


@st.composite
def marks(draw: st.DrawFn) -> str:
    """Words that could be anybody's brand."""
    word = draw(st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=10))
    everyday = EverydayWords(load_encoder(), DEFAULT_POLICY, frozenset())
    assume(not everyday.has(word) and stem(word) not in WORDS)
    return word


def shop_of(mark: str) -> Site:
    """A shop whose mark stands alone in each of its texts."""
    return Site(
        name=f"{mark.title()} Store",
        category="shoes",
        description=f"Shoes by {mark}. {mark.upper()} for runners; the store of {mark}.",
        actions=(
            Action(
                name=f"search{mark.title()}Shoes",
                description=f"Search {mark} running shoes made by {mark}",
                parameters=(
                    Parameter(name=f"{mark}_size", description=f"Size of {mark} shoe"),
                ),
            ),
            Action(name="findBranch", description="Where the next branch is"),
        ),
    )


WORDS = set(distinct_terms(split_words(str(shop_of("")))))


def profile_at(site: Site, host: str) -> Profile:
    return make_profile(
        site,
        site_id=1,
        publisher=1,
        host=host,
        registrable_domain=host.removeprefix("www."),
        formats=("wab",),
        place=None,
        probes=ProbeFigures(),
        changed_at=datetime(2026, 11, 1, tzinfo=UTC),
        encoder=load_encoder(),
        policy=DEFAULT_POLICY,
    )


@settings(max_examples=20)
@given(marks(), marks())
def test_one_mark_in_the_place_of_another_changes_no_byte(
    first: str, other: str
) -> None:
    ours, theirs = (
        encode_profile(profile_at(shop_of(mark), f"www.{mark}.example"))
        for mark in (first, other)
    )
    assert ours == theirs


@settings(max_examples=20)
@given(marks())
def test_no_mark_is_left_and_every_other_word_is(mark: str) -> None:
    named = profile_at(shop_of(mark), f"{mark}.example")
    nameless = profile_at(structs.replace(shop_of(""), name=""), "xq.test")
    assert replace(named, actions=()) == replace(nameless, actions=())
    assert impacts(named, DEFAULT_POLICY) == impacts(nameless, DEFAULT_POLICY)


@settings(max_examples=20)
@given(marks(), marks())
def test_renaming_a_site_and_its_host_alone_changes_no_byte(
    first: str, other: str
) -> None:
    ours, theirs = (
        encode_profile(
            profile_at(
                structs.replace(shop_of(""), name=f"{mark} Store"), f"{mark}.example"
            )
        )
        for mark in (first, other)
    )
    assert ours == theirs


@pytest.mark.parametrize("domain", ["nike.com", "zorblax.example"])
def test_a_domain_in_the_text_changes_no_byte(
    profile_of: MakeProfile, bistro: Site, domain: str
) -> None:
    text = f"{bistro.description} See www.{domain} or {domain.partition('.')[0]}"
    site = structs.replace(bistro, description=text)
    named = profile_of(site, host=f"www.{domain}", registrable_domain=domain)
    plain = structs.replace(bistro, description=f"{bistro.description} See or")
    assert encode_profile(named) == encode_profile(profile_of(plain))


def test_claims_outside_the_five_factors_change_no_byte(
    profile_of: MakeProfile, bistro: Site
) -> None:
    claimed = structs.replace(
        bistro,
        url="https://famous.example",
        commission_percent=12.5,
        is_independent=True,
    )
    assert encode_profile(profile_of(claimed)) == encode_profile(profile_of(bistro))


def test_what_filters_ask_for_is_in_no_factor(
    profile_of: MakeProfile, bistro: Site
) -> None:
    claimed = structs.replace(bistro, languages=("de",), permissions=(("click", True),))
    known = profile_of(claimed, conformance="strict")
    assert replace(known, languages=(), permissions=(), conformance="") == profile_of(
        bistro
    )


def test_filters_find_what_a_site_declares(
    profile_of: MakeProfile, bistro: Site
) -> None:
    claimed = structs.replace(
        bistro,
        languages=("de-AT", "de_CH", "en", "", "-"),
        permissions=(("readContent", True), ("click", False), ("read_content", True)),
        actions=(
            Action(name="add-to-cart", auth_required=True),
            Action(name="addToCart"),
            Action(name="Add to cart", auth_required=False),
            Action(name="???", auth_required=True),
        ),
    )
    profile = profile_of(claimed, conformance="strict")
    assert profile.languages == ("de", "en")
    assert profile.permissions == ("read content",)
    assert profile.action_names == ("add to cart",)
    assert profile.requires_auth == (False, True)
    assert profile.conformance == "strict"


def test_what_is_undeclared_is_neither(profile_of: MakeProfile, bistro: Site) -> None:
    silent = structs.replace(bistro, actions=(Action(name="a"),))
    assert profile_of(silent).requires_auth == ()
    assert profile_of(structs.replace(bistro, actions=())).requires_auth == ()


@pytest.mark.parametrize("brand", ["Zorblax", "Coca-Cola", "百度"])
def test_filters_find_no_site_by_its_name(
    profile_of: MakeProfile, bistro: Site, brand: str
) -> None:
    claimed = structs.replace(
        branded(bistro, brand), permissions=((f"{brand} read", True), (brand, True))
    )
    profile = profile_of(claimed)
    assert profile.action_names == ("book table", "view menu")
    assert profile.permissions == ("read",)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        pytest.param("addToCart", "add to cart", id="camel case"),
        pytest.param("add-to-cart", "add to cart", id="kebab case"),
        pytest.param("ADD_TO_CART", "add to cart", id="upper snake case"),
        pytest.param("  Add   to cart!", "add to cart", id="a sentence"),
        pytest.param("Réserver", "reserver", id="accents"),
        pytest.param("", "", id="nothing"),
        pytest.param("\0?!-_", "", id="no word"),
    ],
)
def test_an_identifier_is_one_however_it_is_written(name: str, plain: str) -> None:
    assert plain_name(name) == plain


@given(st.text(max_size=40))
def test_a_plain_name_stays_what_it_is(name: str) -> None:
    assert "  " not in plain_name(name)
    assert plain_name(name) == plain_name(f" {name} ")


def test_profile_has_no_field_for_identity_or_trade() -> None:
    allowed = {
        "policy",
        "site_id",
        "publisher",
        "category",
        "country",
        "formats",
        "point",
    }
    allowed |= {"local", "site_terms", "actions", "embedding", "capability_depth"}
    allowed |= {"quality", "probes", "changed_at", "commission_tier"}
    allowed |= {"conformance", "permissions", "requires_auth", "action_names"}
    allowed |= {"languages", "place_id"}
    assert {field.name for field in fields(Profile)} == allowed


def test_bytes_round_trip(profile_of: MakeProfile, bistro: Site) -> None:
    profile = profile_of(bistro, place=KIEL)
    assert parse_profile(encode_profile(profile)) == profile


def test_foreign_bytes_are_no_profile() -> None:
    with pytest.raises(msgspec.DecodeError):
        parse_profile(b"\x81\xa1a\x01")


@pytest.mark.parametrize("field", ["name", "description", "parameter", "site"])
def test_repeating_a_term_changes_nothing(profile_of: MakeProfile, field: str) -> None:
    def site(text: str) -> Site:
        action = Action(
            name=text if field == "name" else "order",
            description=text if field == "description" else "",
            parameters=(
                Parameter(name="p", description=text if field == "parameter" else ""),
            ),
        )
        described = text if field == "site" else ""
        return Site(description=described, actions=(action,))

    once, often = profile_of(site("pizza")), profile_of(site("pizza " * 1000))
    assert impacts(often, DEFAULT_POLICY) == impacts(once, DEFAULT_POLICY)
    assert often.embedding == once.embedding
    assert often.capability_depth == once.capability_depth


def test_off_topic_terms_never_raise_an_impact(
    profile_of: MakeProfile, bistro: Site
) -> None:
    stuffing = " ".join(
        f"topic{chr(97 + i)}{chr(97 + j)}" for i in range(9) for j in range(9)
    )
    stuffed = structs.replace(bistro, description=f"{bistro.description} {stuffing}")
    before = impacts(profile_of(bistro), DEFAULT_POLICY)
    after = impacts(profile_of(stuffed), DEFAULT_POLICY)
    assert all(after[term] < impact for term, impact in before.items())


def test_order_of_actions_changes_no_number(
    profile_of: MakeProfile, bistro: Site
) -> None:
    turned = profile_of(structs.replace(bistro, actions=bistro.actions[::-1]))
    straight = profile_of(bistro)
    assert replace(turned, actions=straight.actions) == straight


@pytest.mark.parametrize(
    ("category", "place", "local"),
    [
        ("restaurant", KIEL, True),
        ("restaurant", None, True),
        ("", None, True),
        ("SaaS", None, False),
        ("SaaS", KIEL, False),
        ("Developer Tools", KIEL, False),
        ("", KIEL, True),
    ],
)
def test_local_is_a_category_that_is_bound_to_a_place_whether_it_is_said_or_not(
    profile_of: MakeProfile, category: str, place: Place | None, local: bool
) -> None:
    assert profile_of(Site(category=category), place=place).local is local


def test_country_is_the_places_and_else_the_claim(profile_of: MakeProfile) -> None:
    site = Site(location=LocationClaim(city="Amman", country="JO"))
    assert profile_of(site).country == "JO"
    assert profile_of(site, place=KIEL).country == "DE"
    assert profile_of(Site()).country == ""


@pytest.mark.parametrize(("percent", "tier"), [(0, 0), (0.1, 1), (30, 1), (None, 1)])
def test_commission_tier_is_zero_for_a_declared_zero_only(
    profile_of: MakeProfile, percent: float | None, tier: int
) -> None:
    assert profile_of(Site(commission_percent=percent)).commission_tier == tier


def test_own_name_is_cut_from_shown_action_names(profile_of: MakeProfile) -> None:
    site = Site(
        name="Nike", actions=(Action(name="nikeSearch"), Action(name="findShoes"))
    )
    shown = [action.name for action in profile_of(site).actions]
    assert shown == ["search", "findShoes"]


def test_profiles_made_together_are_those_made_one_by_one(
    profile_of: MakeProfile, bistro: Site, encoder: Encoder
) -> None:
    sites = [bistro, Site(), branded(bistro, "Nike"), shop_of("zorblax")]
    subjects = [
        Subject(
            site=site,
            site_id=7,
            publisher=70,
            host="xq.test",
            registrable_domain="xq.test",
            formats=("wab",),
            place=None,
            probes=ProbeFigures(),
            changed_at=datetime(2026, 11, 1, tzinfo=UTC),
        )
        for site in sites
    ]
    profiles = make_profiles(subjects, encoder=encoder, policy=DEFAULT_POLICY)
    assert profiles == [profile_of(site) for site in sites]
