"""The facts behind each factor in a plain sentence."""

from collections.abc import Callable, Mapping
from typing import Any

Facts = Mapping[str, Any]

TITLES = {
    "relevance": "Relevance",
    "proximity": "Proximity",
    "capabilityDepth": "Capability depth",
    "quality": "Quality",
    "freshness": "Freshness",
}


MEANINGS = {
    "relevance": (
        "How well what the site can do answers the request: words it shares with the "
        "site's actions and descriptions, and closeness of meaning. Below a threshold "
        "a site is not in the answer at all, however near or fresh."
    ),
    "proximity": (
        "How near the site is to the place that was given, told to the ranking only as "
        "a coarse cell. Without a place it is the same for all."
    ),
    "capabilityDepth": (
        "How many different actions the site describes, and how well: typed and "
        "documented parameters, declared authentication and effects. Repetition does "
        "not count."
    ),
    "quality": (
        "How reliably and how fast the site answered the registry's own probes, which "
        "are the same for every site."
    ),
    "freshness": (
        "How long ago the meaning of the site's documents last changed. New dates, "
        "versions or formatting are no change."
    ),
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


_BECAUSE: Mapping[str, Callable[[Facts], str]] = {
    "relevance": _relevance,
    "proximity": _proximity,
    "capabilityDepth": _capability_depth,
    "quality": _quality,
    "freshness": _freshness,
}
