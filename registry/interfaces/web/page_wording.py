"""Explanations and changes of policy in plain sentences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from registry.ranking.explain import (
    Advantage,
    Explanation,
    ProximityFacts,
    QualityFacts,
    Reason,
    RelevanceFacts,
    explain_quality,
)
from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures
from registry.sites.summary import SiteSummary

if TYPE_CHECKING:  # the command `search` words factors without a database
    from registry.usecases.log.policy_history import Change

TITLES: Mapping[Reason, str] = {
    "relevance": "Relevance",
    "proximity": "Proximity",
    "capabilityDepth": "Capability depth",
    "quality": "Quality",
    "freshness": "Freshness",
}


class FactorSentence(NamedTuple):
    """A row of the table of factors. because: the facts behind the value."""

    title: str
    value: int
    weight: int
    contribution: int
    because: str


def describe_site(site: SiteSummary) -> list[str]:
    """Return its category, location and declarations, each in a few words."""
    words = [site.provider.category]
    if site.location:
        location = (site.location.city, site.location.country)
        words.append(", ".join(filter(None, location)))
    words.append(site.trust_level)
    commission = site.fairness_metrics.commission_rate
    if commission is not None:
        words.append(f"commission {commission:g}%")
    return [word for word in words if word]


def describe_status(status: str) -> str:
    """Return a sentence about a site of this status."""
    return _STATUS.get(status, status)


def describe_probes(figures: ProbeFigures, policy: Policy) -> str:
    """Return a sentence about the figures on which quality rests."""
    return _quality(explain_quality(figures, policy))


def describe_changes(changes: Sequence["Change"]) -> str:
    """Return a sentence about the changes from one policy to the next."""
    return "; ".join(map(_change, changes)) or "no constant: other code ranks by it"


def _change(change: "Change") -> str:
    if change.added or change.removed:
        counted = f"{len(change.added)} words more, {len(change.removed)} fewer"
        return f"{change.constant}: {counted}"
    if change.before is None and change.after is None:
        return f"{change.constant}: another order"
    before, after = (
        "none" if value is None else str(value)
        for value in (change.before, change.after)
    )
    return f"{change.constant}: {before} to {after}"


def explain_factors(factors: Explanation) -> list[FactorSentence]:
    """Return the five factors in their order."""
    count = factors.capability_depth.facts.action_count
    depth = f"{count} action{'' if count == 1 else 's'} described"
    rows = (
        (factors.relevance, _relevance(factors.relevance.facts)),
        (factors.proximity, _proximity(factors.proximity.facts)),
        (factors.capability_depth, depth),
        (factors.quality, _quality(factors.quality.facts)),
        (factors.freshness, _freshness(factors.freshness.facts.days_since_change)),
    )
    return [
        FactorSentence(title, factor.value, factor.weight, factor.contribution, because)
        for title, (factor, because) in zip(TITLES.values(), rows, strict=True)
    ]


def explain_lead(ahead: Advantage | None) -> str:
    """Return why a site stands before the next; nothing for the last."""
    if ahead is None:
        return ""
    title = TITLES.get(ahead.reason, "").lower()
    if not ahead.same_score_shown:
        points = f"{ahead.lead / 1_000_000:.1f}"
        return f"Ahead of the next by {points}, most of all in {title}"
    if title:
        return f"Shown with the score of the next; before it by {title}"
    return f"Equal to the next as shown; before it {_TIE_BROKEN[ahead.reason]}"


def _relevance(facts: RelevanceFacts) -> str:
    action = facts.best_action
    terms = ", ".join(facts.matched_terms)
    if action and terms:
        return f"its action {action} speaks of {terms}"
    if terms:
        return f"it speaks of {terms}"
    return "it means something close to the request"


def _proximity(facts: ProximityFacts) -> str:
    if facts.distance_band:
        return f"{facts.distance_band} away"
    if not facts.local:
        return "what it offers is not bound to a place"
    if not facts.geonames_id:
        return (
            "it names no city that is known: where a place is given, it counts as far"
        )
    return "no place was given, so it is the same for all"


def _quality(facts: QualityFacts) -> str:
    if facts.young:
        probes = f"{facts.probes} so far" if facts.probes else "none yet"
        return f"too few probes ({probes}), so it has the value of every young site"
    share = f"{facts.successes} of {facts.probes} probes answered well"
    median = facts.median_ms
    return share if median is None else f"{share}, in {median} ms at the median"


def _freshness(days: int) -> str:
    if days == 0:
        return "what it says changed today"
    return f"what it says changed {days} day{'' if days == 1 else 's'} ago"


_STATUS = {
    "active": "listed, its control of the host proved",
    "unverified": "listed, but its last proof of control failed",
    "unlisted": "not listed: no document of it counts at present",
    "quarantined": "taken out of answers by the registry, for the time being",
    "delisted": "taken out by the registry",
}

_TIE_BROKEN = {"commission": "as it declares a commission of zero", "tie": "by lot"}
