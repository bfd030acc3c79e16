"""What a search answers: the receipt of the record, results with reasons, facets."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal, cast, get_args

import msgspec

from registry.index.columns.rows import FIELDS
from registry.index.query.facets import ValueCount
from registry.interfaces.rest.entry_views import SiteSummary
from registry.interfaces.rest.wire import PromiseView, Wire, view_promise
from registry.ranking.explain import FACTOR_NAMES, Advantage, Facts
from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Factors
from registry.usecases.search import Answer, RankedEntry

FacetName = Literal[
    "category",
    "country",
    "format",
    "conformance",
    "permission",
    "requiresAuth",
    "action",
    "language",
]
FACETS: tuple[FacetName, ...] = get_args(FacetName)
"""Each is a filter too."""

FIELD_OF: Mapping[FacetName, str] = dict(zip(FACETS, FIELDS, strict=True))


class RankingView(Wire):
    """The receipt. id: its part after the dot is only for you, to report a choice.

    eligible: how many sites could have stood in the answer; where eligibleIsExact is
    false, an estimate from a sample of them. number: among the rankings that your
    operator asked for; null where none told its key.
    """

    id: str
    policy: str
    generated_at: datetime
    eligible: int
    eligible_is_exact: bool
    leaf_hash: str
    promise: PromiseView
    number: int | None


class FactorView(Wire, gc=False):
    """value: 0..10000. weight: basis points. contribution: value times weight."""

    value: int
    weight: int
    contribution: int


class RelevanceFacts(Wire, gc=False):
    """matchedTerms: words of the request that the site says in some form.

    bestAction: null where the site matched by meaning alone. lexical, semantic:
    0..10000.
    """

    matched_terms: tuple[str, ...]
    best_action: str | None
    lexical: int
    semantic: int


class ProximityFacts(Wire, gc=False):
    """distanceBand: null without a place, or for a site that is not local."""

    distance_band: str | None
    local: bool


class DepthFacts(Wire, gc=False):
    action_count: int


class QualityFacts(Wire, gc=False):
    """What the registry's own probes found. young: too few of them to count."""

    probes: int
    answers: int
    successes: int
    median_ms: int | None
    observed_at: datetime | None
    young: bool


class FreshnessFacts(Wire, gc=False):
    days_since_change: int
    changed_at: datetime


class RelevanceFactor(FactorView, gc=False):
    facts: RelevanceFacts


class ProximityFactor(FactorView, gc=False):
    facts: ProximityFacts


class DepthFactor(FactorView, gc=False):
    facts: DepthFacts


class QualityFactor(FactorView, gc=False):
    facts: QualityFacts


class FreshnessFactor(FactorView, gc=False):
    facts: FreshnessFacts


class FactorsView(Wire, gc=False):
    relevance: RelevanceFactor
    proximity: ProximityFactor
    capability_depth: DepthFactor
    quality: QualityFactor
    freshness: FreshnessFactor


Reason = Literal[
    "relevance",
    "proximity",
    "capabilityDepth",
    "quality",
    "freshness",
    "commission",
    "tie",
]
_REASONS: Mapping[str, Reason] = dict(
    zip((*FACTOR_NAMES, "commission", "tie"), get_args(Reason), strict=True)
)


class AheadView(Wire, gc=False):
    """Why it stands before the next place. lead: difference of the scores.

    reason: the factor that contributed most to the lead; without a lead what broke the
    tie, a commission that is declared to be zero or the lot.
    """

    reason: Reason
    lead: int


class ResultView(Wire, gc=False):
    """score: 0..100000000, the sum of the contributions.

    ahead: null for the last of all. behind: ids of near-duplicates of the same publisher
    that share this place.
    """

    rank: int
    score: int
    site: SiteSummary
    factors: FactorsView
    ahead: AheadView | None
    behind: tuple[str, ...]


class PlaceView(Wire):
    """What the given place was taken for; the ranking sees the cell only."""

    name: str
    country: str
    cell: str


class ValueView(Wire):
    """value: null for the sites that tell none. count: of eligible sites, exact."""

    value: str | None
    count: int


class SearchAnswer(Wire):
    """corrected: for words taken as mistyped, what was looked for besides.

    facets: by the fields asked for, the commonest 20 values, and then null.
    """

    ranking: RankingView
    results: tuple[ResultView, ...]
    facets: dict[FacetName, tuple[ValueView, ...]]
    corrected: dict[str, str]
    place: PlaceView | None
    next_cursor: str | None


def view_answer(
    answer: Answer, *, receipt: str, place: PlaceView | None, next_cursor: str | None
) -> SearchAnswer:
    return SearchAnswer(
        ranking=_view_ranking(answer, receipt),
        results=tuple([_view_result(one, answer.policy) for one in answer.results]),
        facets={
            name: _view_values(answer.facets[field])
            for name, field in FIELD_OF.items()
            if field in answer.facets
        },
        corrected=dict(answer.corrected),
        place=place,
        next_cursor=next_cursor,
    )


def _view_ranking(answer: Answer, receipt: str) -> RankingView:
    return RankingView(
        id=receipt,
        policy=answer.policy.digest,
        generated_at=answer.generated_at,
        eligible=answer.eligible,
        eligible_is_exact=answer.is_exact,
        leaf_hash=answer.record.leaf_hash.hex(),
        promise=view_promise(answer.promise),
        number=answer.number,
    )


def _view_result(one: RankedEntry, policy: Policy) -> ResultView:
    # An encoded entry is written as it is; what else reads it decodes the whole answer.
    site = cast("SiteSummary", msgspec.Raw(one.entry))
    return ResultView(
        rank=one.rank,
        score=one.score,
        site=site,
        factors=view_factors(one.factors, one.facts, policy),
        ahead=_view_advantage(one.ahead) if one.ahead else None,
        behind=one.behind,
    )


def _view_advantage(ahead: Advantage) -> AheadView:
    return AheadView(reason=_REASONS[ahead.reason], lead=ahead.lead)


def view_factors(factors: Factors, facts: Facts, policy: Policy) -> FactorsView:
    """The contributions sum to the score."""
    relevance, proximity, depth, quality, freshness = policy.weights
    return FactorsView(
        relevance=RelevanceFactor(
            value=factors.relevance,
            weight=relevance,
            contribution=factors.relevance * relevance,
            facts=_relevance_facts(facts),
        ),
        proximity=ProximityFactor(
            value=factors.proximity,
            weight=proximity,
            contribution=factors.proximity * proximity,
            facts=ProximityFacts(distance_band=facts.distance_band, local=facts.local),
        ),
        capability_depth=DepthFactor(
            value=factors.capability_depth,
            weight=depth,
            contribution=factors.capability_depth * depth,
            facts=DepthFacts(action_count=facts.action_count),
        ),
        quality=QualityFactor(
            value=factors.quality,
            weight=quality,
            contribution=factors.quality * quality,
            facts=_quality_facts(facts.probes, policy),
        ),
        freshness=FreshnessFactor(
            value=factors.freshness,
            weight=freshness,
            contribution=factors.freshness * freshness,
            facts=FreshnessFacts(
                days_since_change=facts.days_since_change, changed_at=facts.changed_at
            ),
        ),
    )


def _relevance_facts(facts: Facts) -> RelevanceFacts:
    return RelevanceFacts(
        matched_terms=facts.matched_terms,
        best_action=facts.best_action,
        lexical=facts.lexical_bp,
        semantic=facts.cosine_bp,
    )


def _quality_facts(probes: ProbeFigures, policy: Policy) -> QualityFacts:
    return QualityFacts(
        probes=probes.probes,
        answers=probes.answers,
        successes=probes.successes,
        median_ms=probes.median_ms,
        observed_at=probes.observed_at,
        young=probes.probes < policy.quality_probes_min,
    )


def _view_values(counts: Iterable[ValueCount]) -> tuple[ValueView, ...]:
    return tuple(ValueView(value=one.value, count=one.count) for one in counts)
