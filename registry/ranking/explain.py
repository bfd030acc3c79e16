"""Explanations: the facts behind each factor, and the lead over the next site."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import sub
from typing import Any, Literal, NamedTuple, get_args

import msgspec
from msgspec.structs import astuple

from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures
from registry.ranking.rank_score import RankScale
from registry.ranking.score import Factors
from registry.sites.place import Point

FactorName = Literal[
    "relevance", "proximity", "capability_depth", "quality", "freshness"
]
FACTOR_NAMES: tuple[FactorName, ...] = get_args(FactorName)
Reason = Literal[
    "relevance",
    "proximity",
    "capabilityDepth",
    "quality",
    "freshness",
    "commission",
    "tie",
]
_FACTOR_REASONS: tuple[Reason, ...] = get_args(Reason)[: len(FACTOR_NAMES)]


class _Explained(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Base of what goes into an answer as it is."""


class RelevanceFacts(_Explained, frozen=True, gc=False):
    """matchedTerms: words of the request that the site says in some form.

    They are as typed but for their case, in the request's order. bestAction: null where
    the site matched by meaning alone. lexical, semantic: 0..10000.
    """

    matched_terms: tuple[str, ...]
    best_action: str | None
    lexical: int
    semantic: int


class ProximityFacts(_Explained, frozen=True, gc=False):
    """distanceBand: null without a place, or for a site that is not local.

    geonamesId: the city of the site; 0: it names none that is known, and so is nowhere
    near.
    """

    distance_band: str | None
    local: bool
    geonames_id: int = 0


class DepthFacts(_Explained, frozen=True, gc=False):
    action_count: int


class QualityFacts(_Explained, frozen=True, gc=False):
    """Results of the registry's own probes. young: too few of them to count."""

    probes: int
    answers: int
    successes: int
    median_ms: int | None
    observed_at: datetime | None
    young: bool


class FreshnessFacts(_Explained, frozen=True, gc=False):
    days_since_change: int
    changed_at: datetime


class FactorExplanation(_Explained, frozen=True, gc=False):
    """value: 0..10000. weight: basis points. contribution: value times weight."""

    value: int
    weight: int
    contribution: int


class RelevanceFactor(FactorExplanation, frozen=True, gc=False):
    facts: RelevanceFacts


class ProximityFactor(FactorExplanation, frozen=True, gc=False):
    facts: ProximityFacts


class DepthFactor(FactorExplanation, frozen=True, gc=False):
    facts: DepthFacts


class QualityFactor(FactorExplanation, frozen=True, gc=False):
    facts: QualityFacts


class FreshnessFactor(FactorExplanation, frozen=True, gc=False):
    facts: FreshnessFacts


_KINDS: tuple[Any, ...] = (
    *(RelevanceFactor, ProximityFactor, DepthFactor, QualityFactor, FreshnessFactor),
)


class Explanation(_Explained, frozen=True, gc=False):
    """The five factors of a score; their contributions sum to it."""

    relevance: RelevanceFactor
    proximity: ProximityFactor
    capability_depth: DepthFactor
    quality: QualityFactor
    freshness: FreshnessFactor


class FactorFacts(NamedTuple):
    """The facts behind each factor, in the order of the factors."""

    relevance: RelevanceFacts
    proximity: ProximityFacts
    capability_depth: DepthFacts
    quality: QualityFacts
    freshness: FreshnessFacts


def explain(factors: Factors, facts: FactorFacts, policy: Policy) -> Explanation:
    parts = zip(
        *(FACTOR_NAMES, _KINDS, astuple(factors), policy.weights, facts), strict=True
    )
    return Explanation(
        **{
            name: kind(
                value=value, weight=weight, contribution=value * weight, facts=of
            )
            for name, kind, value, weight, of in parts
        }
    )


def explain_quality(probes: ProbeFigures, policy: Policy) -> QualityFacts:
    return QualityFacts(
        probes=probes.probes,
        answers=probes.answers,
        successes=probes.successes,
        median_ms=probes.median_ms,
        observed_at=probes.observed_at,
        young=probes.probes < policy.quality_probes_min,
    )


class ProfileFacts(msgspec.Struct, gc=False):
    """Members of a profile that stand in an explanation as they are."""

    local: bool
    probes: ProbeFigures
    changed_at: datetime
    point: Point | None = None
    place_id: int = 0


class ActionTerms(msgspec.Struct, gc=False):
    """Terms of an `ActionProfile`, distinct in each field."""

    name: str
    name_terms: list[str]
    description_terms: list[str]
    parameter_terms: list[str]


class ProfileTerms(msgspec.Struct, gc=False):
    """Terms of a profile."""

    site_terms: list[str]
    actions: list[ActionTerms]


parse_profile_facts = msgspec.msgpack.Decoder(ProfileFacts).decode
"""Decode them of an encoded profile. Raises: msgspec.DecodeError."""

parse_profile_terms = msgspec.msgpack.Decoder(ProfileTerms).decode
"""Decode them of an encoded profile. Raises: msgspec.DecodeError."""


class Matching(NamedTuple):
    """The match of a site with a request.

    best_action: the one that says most of it, of equal ones the first; None if none
    says any. terms: a byte for each term of the request, 1 if the site says it.
    actions: their number.
    """

    best_action: str | None
    terms: bytes
    actions: int


def what_matches(
    profile: ProfileTerms, term_weights: Mapping[str, int], policy: Policy
) -> Matching:
    """Return the match of a profile. term_weights: in the order of the request's terms."""
    among = frozenset(term_weights).intersection
    matched = set(among(profile.site_terms))
    best, most = None, 0
    for action in profile.actions:
        names, descriptions, parameters = (
            among(action.name_terms),
            among(action.description_terms),
            among(action.parameter_terms),
        )
        if not (names or descriptions or parameters):
            continue
        matched.update(names, descriptions, parameters)
        weight = (
            policy.action_name_weight_milli * _sum(names, term_weights)
            + policy.description_weight_milli * _sum(descriptions, term_weights)
            + policy.parameter_weight_milli * _sum(parameters, term_weights)
        )
        if weight > most:
            best, most = action.name, weight
    terms = bytes([term in matched for term in term_weights])
    return Matching(best, terms, len(profile.actions))


def _sum(terms: Iterable[str], term_weights: Mapping[str, int]) -> int:
    return sum([term_weights[term] for term in terms])


class Advantage(_Explained, frozen=True, gc=False):
    """The lead over the next site.

    lead: difference of the scores; below 0 only where both are shown as the same score.
    same_score_shown: whether they are. reason: the factor that contributed most to the
    lead; with the same score shown what comes before it, see `RankScale`: relevance or
    quality as shown, or a commission that is declared to be zero; with no lead the lot.
    """

    reason: Reason
    lead: int
    same_score_shown: bool = False


Contender = tuple[Factors, int]
"""A site of an answer, as far as its place depends on it; the number is its tier."""


def why_ahead(first: Contender, second: Contender, policy: Policy) -> Advantage:
    """Return the advantage of the first over the second, which stands behind it."""
    ours, theirs = (factors.contributions(policy) for factors, _ in (first, second))
    by_factor = list(map(sub, ours, theirs))
    scale = RankScale.of(policy)
    shown = scale.shown(sum(ours), first[0])
    next_shown = scale.shown(sum(theirs), second[0])
    if shown == next_shown and first[1] != second[1]:
        reason: Reason = "commission"
    elif shown == next_shown and not sum(by_factor):
        reason = "tie"
    elif shown[0] == next_shown[0] and shown != next_shown:
        reason = "relevance" if shown[1] != next_shown[1] else "quality"
    else:
        reason = _FACTOR_REASONS[by_factor.index(max(by_factor))]
    return Advantage(
        reason=reason, lead=sum(by_factor), same_score_shown=shown[0] == next_shown[0]
    )
