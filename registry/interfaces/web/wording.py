"""The facts behind each factor, and changes of policy, in plain sentences."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from registry.ranking.policy import Policy
from registry.ranking.quality import ProbeFigures
from registry.usecases.policy_history import Change

Facts = Mapping[str, Any]

TITLES = {
    "relevance": "Relevance",
    "proximity": "Proximity",
    "capabilityDepth": "Capability depth",
    "quality": "Quality",
    "freshness": "Freshness",
}


def describe_site(site: Mapping[str, Any]) -> list[str]:
    """In a few words: what, where, and what it declared."""
    told = [site["provider"]["category"]]
    if place := site["location"]:
        told.append(", ".join(filter(None, (place["city"], place["country"]))))
    told.append(site["trustLevel"])
    commission = site["fairnessMetrics"]["commissionRate"]
    if commission is not None:
        told.append(f"commission {commission:g}%")
    return [one for one in told if one]


def describe_status(status: str) -> str:
    """Of a site, as its entry tells it."""
    return _STATUS.get(status, status)


def describe_probes(figures: ProbeFigures, policy: Policy) -> str:
    """What quality rests on."""
    facts = {
        "young": figures.probes < policy.quality_probes_min,
        "probes": figures.probes,
        "successes": figures.successes,
        "medianMs": figures.median_ms,
    }
    return _quality(facts)


def describe_changes(changes: Sequence[Change]) -> str:
    """From one policy to the next."""
    return "; ".join(map(_change, changes)) or "no constant: other code ranks by it"


def _change(change: Change) -> str:
    if change.added or change.removed:
        counted = f"{len(change.added)} words more, {len(change.removed)} fewer"
        return f"{change.constant}: {counted}"
    if change.before is None and change.after is None:
        return f"{change.constant}: another order"
    before, after = (
        "none" if one is None else str(one) for one in (change.before, change.after)
    )
    return f"{change.constant}: {before} to {after}"


def explain_factors(factors: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The five factors in their order, each with a title and a `because`."""
    return [
        {
            **factors[name],
            "title": title,
            "because": _BECAUSE[name](factors[name]["facts"]),
        }
        for name, title in TITLES.items()
    ]


def explain_lead(ahead: Mapping[str, Any] | None) -> str:
    """Why a site stands before the next; nothing for the last."""
    if ahead is None:
        return ""
    if title := TITLES.get(ahead["reason"]):
        points = f"{ahead['lead'] / 1_000_000:.1f}"
        return f"Ahead of the next by {points}, most of all in {title.lower()}"
    return f"Equal to the next; before it {_TIE_BROKEN[ahead['reason']]}"


def _relevance(facts: Facts) -> str:
    action = facts["bestAction"]
    terms = ", ".join(facts["matchedTerms"])
    if action and terms:
        return f"its action {action} speaks of {terms}"
    if terms:
        return f"it speaks of {terms}"
    return "it means something close to the request"


def _proximity(facts: Facts) -> str:
    if facts["distanceBand"]:
        return f"{facts['distanceBand']} away"
    if not facts["local"]:
        return "what it offers is not bound to a place, or it names none"
    return "no place was given, so it is the same for all"


def _capability_depth(facts: Facts) -> str:
    count = facts["actionCount"]
    return f"{count} action{'' if count == 1 else 's'} described"


def _quality(facts: Facts) -> str:
    if facts["young"]:
        seen = f"{facts['probes']} so far" if facts["probes"] else "none yet"
        return f"too few probes ({seen}), so it has the value of every young site"
    share = f"{facts['successes']} of {facts['probes']} probes answered well"
    median = facts["medianMs"]
    return share if median is None else f"{share}, in {median} ms at the median"


def _freshness(facts: Facts) -> str:
    days = facts["daysSinceChange"]
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

_BECAUSE: Mapping[str, Callable[[Facts], str]] = {
    "relevance": _relevance,
    "proximity": _proximity,
    "capabilityDepth": _capability_depth,
    "quality": _quality,
    "freshness": _freshness,
}
