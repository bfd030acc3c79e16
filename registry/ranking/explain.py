"""Why a site stands where it stands: values, weights, contributions, and the facts."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey

FactorName = Literal[
    "relevance", "proximity", "capability_depth", "quality", "freshness"
]
FACTOR_NAMES: tuple[FactorName, ...] = (
    "relevance",
    "proximity",
    "capability_depth",
    "quality",
    "freshness",
)
Reason = FactorName | Literal["commission", "tie"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the factors of one answer rest on.

    matched_terms: words of the query, as typed but for their case and in its order,
    that the site says in some form. best_action: its name, or None where the site
    matched by meaning alone. cosine_bp: the likeness in meaning. distance_band: None
    without a user location or for a site that is not local.
    """

    matched_terms: tuple[str, ...]
    best_action: str | None
    lexical_bp: int
    cosine_bp: int
    distance_band: str | None
    local: bool
    action_count: int
    probes: ProbeFigures
    days_since_change: int
    changed_at: datetime


FactValue = int | str | bool | tuple[str, ...] | datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorExplanation:
    """value: 0..10000; weight in basis points; contribution = value · weight."""

    factor: FactorName
    value: int
    weight: int
    contribution: int
    facts: dict[str, FactValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Advantage:
    """Why one site stands before the next.

    reason: the factor that contributed most to the lead, or what broke the tie.
    lead: difference of the scores. by_factor: of the contributions, in FACTOR_NAMES'
    order; a negative one speaks for the other site.
    """

    reason: Reason
    lead: int
    by_factor: tuple[int, ...]


def explain(
    factors: Factors, facts: Facts, policy: Policy
) -> tuple[FactorExplanation, ...]:
    """One a factor, in FACTOR_NAMES' order; the contributions sum to the score."""
    told = _facts_by_factor(facts, policy)
    return tuple(
        FactorExplanation(
            factor=name,
            value=getattr(factors, name),
            weight=weight,
            contribution=contribution,
            facts=told[name],
        )
        for name, weight, contribution in zip(
            FACTOR_NAMES, policy.weights, factors.contributions(policy), strict=True
        )
    )


def _facts_by_factor(
    facts: Facts, policy: Policy
) -> dict[FactorName, dict[str, FactValue]]:
    return {
        "relevance": {
            "matched_terms": facts.matched_terms,
            "best_action": facts.best_action,
            "lexical": facts.lexical_bp,
            "semantic": facts.cosine_bp,
        },
        "proximity": {"distance_band": facts.distance_band, "local": facts.local},
        "capability_depth": {"action_count": facts.action_count},
        "quality": {
            "probes": facts.probes.probes,
            "answers": facts.probes.answers,
            "successes": facts.probes.successes,
            "median_ms": facts.probes.median_ms,
            "observed_at": facts.probes.observed_at,
            "young": facts.probes.probes < policy.quality_probes_min,
        },
        "freshness": {
            "days_since_change": facts.days_since_change,
            "changed_at": facts.changed_at,
        },
    }


def why_ahead(
    first: tuple[Factors, OrderKey], second: tuple[Factors, OrderKey], policy: Policy
) -> Advantage:
    """first: stands before second."""
    (factors, key), (others, other_key) = first, second
    ours, theirs = factors.contributions(policy), others.contributions(policy)
    by_factor = tuple(a - b for a, b in zip(ours, theirs, strict=True))
    lead = sum(by_factor)
    reason: Reason
    if lead > 0:
        reason = FACTOR_NAMES[by_factor.index(max(by_factor))]
    elif key.commission_tier != other_key.commission_tier:
        reason = "commission"
    else:
        reason = "tie"
    return Advantage(reason=reason, lead=lead, by_factor=by_factor)
