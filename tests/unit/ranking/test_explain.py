from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from registry.ranking.explain import (
    FACTOR_NAMES,
    Advantage,
    ProfileTerms,
    parse_profile_facts,
    parse_profile_terms,
    what_matches,
    why_ahead,
)
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import ActionProfile, Profile, encode_profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Factors

FACTORS = Factors(
    relevance=8000, proximity=5000, capability_depth=3000, quality=7000, freshness=9000
)
PROBES = ProbeFigures(probes=9, answers=9, successes=8, median_ms=120)
CHANGED_AT = datetime(2026, 11, 16, tzinfo=UTC)


NAMES = {name: name for name in FACTOR_NAMES} | {"capability_depth": "capabilityDepth"}


def test_the_action_that_says_most_of_the_request_is_reported() -> None:
    text = said_of(("other",), ("common", "the"), ("rare", "oboe"))
    weights = {"the": 100, "oboe": 9_000, "flute": 9_000}

    assert what_matches(text, weights, DEFAULT_POLICY) == ("rare", b"\1\1\0", 3)
    assert what_matches(text, {"flute": 9_000}, DEFAULT_POLICY) == (None, b"\0", 3)


def test_of_equal_actions_the_first_is_reported() -> None:
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


def advantage_of(behind: Factors, *, tier: int = 1, next_tier: int = 1) -> Advantage:
    return why_ahead((FACTORS, tier), (behind, next_tier), DEFAULT_POLICY)


@pytest.mark.parametrize("factor", FACTOR_NAMES)
def test_the_factor_that_made_the_lead_is_named(factor: str) -> None:
    behind = replace(FACTORS, **{factor: getattr(FACTORS, factor) - 100})
    advantage = advantage_of(behind)
    assert advantage.reason == NAMES[factor]
    assert advantage.lead == FACTORS.score(DEFAULT_POLICY) - behind.score(
        DEFAULT_POLICY
    )


@pytest.mark.parametrize(
    ("behind", "tiers", "reason", "lead"),
    [
        pytest.param({}, (0, 1), "commission", 0, id="equal but for the commission"),
        pytest.param({}, (1, 1), "tie", 0, id="equal"),
        # Shown as 61.5, 80% and 70%: FACTORS have 61.5, 80% and 70% exactly.
        pytest.param(
            {"freshness": 9040}, (0, 1), "commission", -40_000, id="shown as equal"
        ),
        pytest.param(
            {"freshness": 8990},
            (1, 1),
            "freshness",
            10_000,
            id="equal as shown, not quite",
        ),
        pytest.param(
            {"relevance": 7940, "freshness": 9250},
            (1, 0),
            "relevance",
            -10_000,
            id="of one shown score the more relevant",
        ),
        pytest.param(
            {"quality": 6940, "freshness": 9100},
            (1, 0),
            "quality",
            -10_000,
            id="of one shown relevance the better",
        ),
    ],
)
def test_equals_as_shown_are_told_apart_by_what_the_policy_names(
    behind: dict[str, int], tiers: tuple[int, int], reason: str, lead: int
) -> None:
    advantage = advantage_of(
        replace(FACTORS, **behind), tier=tiers[0], next_tier=tiers[1]
    )
    assert advantage == Advantage(reason=reason, lead=lead, same_score_shown=True)


def test_of_several_factors_the_one_that_contributed_most_is_named() -> None:
    """Ten of freshness are less than six of relevance, and some may speak against it."""
    behind = replace(FACTORS, relevance=FACTORS.relevance - 60)
    behind = replace(
        behind, freshness=FACTORS.freshness - 100, quality=10 + behind.quality
    )
    advantage = advantage_of(behind)
    assert (advantage.reason, advantage.lead) == (
        "relevance",
        240_000 + 100_000 - 15_000,
    )
