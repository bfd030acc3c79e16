from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from registry.ranking.explain import (
    FACTOR_NAMES,
    ProfileTerms,
    parse_profile_facts,
    parse_profile_terms,
    what_matches,
    why_ahead,
)
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import ActionProfile, Profile, encode_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Contributions, Factors
from registry.ranking.ties import OrderKey

FACTORS = Factors(
    relevance=8000, proximity=5000, capability_depth=3000, quality=7000, freshness=9000
)
PROBES = ProbeFigures(probes=9, answers=9, successes=8, median_ms=120)
CHANGED_AT = datetime(2026, 11, 16, tzinfo=UTC)


NAMES = {name: name for name in FACTOR_NAMES} | {"capability_depth": "capabilityDepth"}


def key(factors: Factors, tier: int = 1, tie: int = 5) -> OrderKey:
    return OrderKey(-factors.score(DEFAULT_POLICY), tier, tie, 1)


def test_the_action_that_says_most_of_the_request_is_told() -> None:
    text = said_of(("other",), ("common", "the"), ("rare", "oboe"))
    weights = {"the": 100, "oboe": 9_000, "flute": 9_000}

    assert what_matches(text, weights, DEFAULT_POLICY) == ("rare", b"\1\1\0", 3)
    assert what_matches(text, {"flute": 9_000}, DEFAULT_POLICY) == (None, b"\0", 3)


def test_of_equal_actions_the_first_is_told() -> None:
    text = said_of(("one", "oboe"), ("two", "oboe"))

    assert what_matches(text, {"oboe": 9_000}, DEFAULT_POLICY) == ("one", b"\1", 2)


def test_what_a_site_says_of_itself_matches_without_an_action() -> None:
    text = said_of(("other",), about=("oboe",))

    assert what_matches(text, {"oboe": 9_000}, DEFAULT_POLICY) == (None, b"\1", 1)


def test_a_term_without_weight_matches_and_makes_no_action_best() -> None:
    text = said_of(("one", "the"))

    assert what_matches(text, {"the": 0}, DEFAULT_POLICY) == (None, b"\1", 1)


def said_of(*actions: tuple[str, ...], about: tuple[str, ...] = ()) -> ProfileTerms:
    """Of a profile, read back. actions: a name, and the terms of it."""
    profile = Profile(
        policy=DEFAULT_POLICY.digest,
        site_id=1,
        publisher=1,
        category="music",
        country="",
        formats=("wab",),
        point=None,
        local=False,
        site_terms=about,
        actions=tuple(
            ActionProfile(
                name=name, name_terms=terms, description_terms=(), parameter_terms=()
            )
            for name, *terms in actions
            for terms in [tuple(terms)]
        ),
        embedding=bytes(64),
        capability_depth=1,
        quality=1,
        probes=PROBES,
        changed_at=CHANGED_AT,
        commission_tier=1,
    )
    encoded = encode_profile(profile)
    facts = parse_profile_facts(encoded)
    assert (facts.probes, facts.changed_at) == (PROBES, CHANGED_AT)
    return parse_profile_terms(encoded)


def standing(factors: Factors, **given: int) -> tuple[Contributions, OrderKey]:
    return factors.contributions(DEFAULT_POLICY), key(factors, **given)


@pytest.mark.parametrize("factor", FACTOR_NAMES)
def test_the_factor_that_made_the_lead_is_named(factor: str) -> None:
    behind = replace(FACTORS, **{factor: getattr(FACTORS, factor) - 10})
    advantage = why_ahead(standing(FACTORS), standing(behind))
    assert advantage.reason == NAMES[factor]
    assert advantage.lead == FACTORS.score(DEFAULT_POLICY) - behind.score(
        DEFAULT_POLICY
    )


def test_equals_are_told_apart_by_commission_and_then_by_lot() -> None:
    first = standing(FACTORS, tier=0)
    second = standing(FACTORS, tier=1)
    third = standing(FACTORS, tier=1, tie=6)
    assert why_ahead(first, second).reason == "commission"
    assert why_ahead(second, third).reason == "tie"


def test_of_several_factors_the_one_that_contributed_most_is_named() -> None:
    """Ten of freshness are less than six of relevance, and some may speak against it."""
    behind = replace(FACTORS, relevance=FACTORS.relevance - 6)
    behind = replace(
        behind, freshness=FACTORS.freshness - 10, quality=1 + behind.quality
    )
    advantage = why_ahead(standing(FACTORS), standing(behind))
    assert (advantage.reason, advantage.lead) == ("relevance", 24_000 + 10_000 - 1_500)
