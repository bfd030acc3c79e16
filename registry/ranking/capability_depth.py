"""Capability depth: the number of a site's actions and how well they are described.

The richness of its distinct actions is summed, then log-saturated up to a cap:
FULL·ln(1 + sum)/ln(1 + cap). Actions that share most of their words count once, as the
richest of them, so that copies bring nothing; digits do not make an action another.
"""

import math
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import filterfalse, starmap
from typing import NamedTuple

from registry.ranking.policy import FULL, Policy
from registry.sites.action import Action


class Capability(NamedTuple):
    """The inputs of depth from an action.

    terms: of its name, description and parameters. richness: 0..FULL.
    """

    terms: frozenset[str]
    richness: int


def richness(action: Action, described_words: int, policy: Policy) -> int:
    """Return 0..FULL, the share that is declared of what an agent needs to know.

    described_words: distinct content words of the description.
    """
    parameters = action.parameters
    typed = [parameter for parameter in parameters if parameter.type != "unknown"]
    documented = [parameter for parameter in parameters if parameter.description]
    described = described_words >= policy.described_words
    return (
        policy.richness_named_bp
        + described * policy.richness_described_bp
        + _share(len(typed), len(parameters), policy.richness_typed_bp)
        + _share(len(documented), len(parameters), policy.richness_documented_bp)
        + (action.auth_required is not None) * policy.richness_auth_bp
        + (action.sensitivity is not None) * policy.richness_sensitivity_bp
    )


def _share(declared: int, parameters: int, whole: int) -> int:
    """Return the share, half without parameters: none needed, or none declared."""
    return whole * declared // parameters if parameters else whole // 2


def capability_depth(capabilities: Iterable[Capability], policy: Policy) -> int:
    """Return 0..FULL; never falls when a distinct capability is added."""
    cap = policy.depth_cap_milli * FULL // 1000
    total = 0
    for capability in distinct_capabilities(capabilities, policy):
        total += capability.richness
        if total >= cap:
            return FULL
    return round(FULL * math.log1p(total / FULL) / math.log1p(cap / FULL))


def distinct_capabilities(
    capabilities: Iterable[Capability], policy: Policy
) -> Iterator[Capability]:
    """Yield the richest of each set of near-duplicates, richest first."""
    distinct: list[frozenset[str]] = []
    threshold_bp = policy.duplicate_action_bp
    for capability in sorted(_richest_by_terms(capabilities), key=_richest_first):
        terms = capability.terms
        if not any(is_near_duplicate(terms, other, threshold_bp) for other in distinct):
            distinct.append(terms)
            yield capability


def _richest_by_terms(capabilities: Iterable[Capability]) -> list[Capability]:
    richest: dict[frozenset[str], int] = {}
    for terms, rich in capabilities:
        has_digits = any(map(str.isdecimal, terms))
        bare = frozenset(filterfalse(str.isdecimal, terms)) if has_digits else terms
        richest[bare] = max(rich, richest.get(bare, 0))
    return list(starmap(Capability, richest.items()))


def _richest_first(capability: Capability) -> tuple[int, list[str]]:
    return -capability.richness, sorted(capability.terms)


def is_near_duplicate(
    a: AbstractSet[str], b: AbstractSet[str], threshold_bp: int
) -> bool:
    """Return whether the Jaccard index reaches the threshold; empty sets are duplicates."""
    smaller, larger = len(a), len(b)
    if smaller > larger:
        smaller, larger = larger, smaller
    if smaller * FULL < threshold_bp * larger:
        return False
    common = len(a & b)
    return common * FULL >= threshold_bp * (smaller + larger - common)
