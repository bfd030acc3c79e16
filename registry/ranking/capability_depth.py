"""Capability depth: how much a site can do, and how well it says so.

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
    """An action reduced to what depth looks at.

    terms: of its name, description and parameters. richness: 0..FULL.
    """

    terms: frozenset[str]
    richness: int


def richness(action: Action, described_words: int, policy: Policy) -> int:
    """0..FULL: how much of what an agent needs to know the action declares.

    described_words: distinct content words of the description.
    """
    parameters = action.parameters
    typed = [each for each in parameters if each.type != "unknown"]
    documented = [each for each in parameters if each.description]
    described = described_words >= policy.described_words
    return (
        policy.richness_named_bp
        + described * policy.richness_described_bp
        + _share(len(typed), len(parameters), policy.richness_typed_bp)
        + _share(len(documented), len(parameters), policy.richness_documented_bp)
        + (action.auth_required is not None) * policy.richness_auth_bp
        + (action.sensitivity is not None) * policy.richness_sensitivity_bp
    )


def _share(told: int, parameters: int, whole: int) -> int:
    """Half where there is no parameter: none needed, or none declared."""
    return whole * told // parameters if parameters else whole // 2


def capability_depth(capabilities: Iterable[Capability], policy: Policy) -> int:
    """0..FULL; never falls when a distinct capability is added."""
    cap = policy.depth_cap_milli * FULL // 1000
    total = 0
    for each in distinct_capabilities(capabilities, policy):
        total += each.richness
        if total >= cap:
            return FULL
    return round(FULL * math.log1p(total / FULL) / math.log1p(cap / FULL))


def distinct_capabilities(
    capabilities: Iterable[Capability], policy: Policy
) -> Iterator[Capability]:
    """The richest of each set of near-duplicates, richest first."""
    kept: list[frozenset[str]] = []
    for each in sorted(_richest_by_terms(capabilities), key=_richest_first):
        if not any(
            is_near_duplicate(each.terms, one, policy.duplicate_action_bp)
            for one in kept
        ):
            kept.append(each.terms)
            yield each


def _richest_by_terms(capabilities: Iterable[Capability]) -> list[Capability]:
    richest: dict[frozenset[str], int] = {}
    for said, rich in capabilities:
        has_digits = any(map(str.isdecimal, said))
        terms = frozenset(filterfalse(str.isdecimal, said)) if has_digits else said
        richest[terms] = max(rich, richest.get(terms, 0))
    return list(starmap(Capability, richest.items()))


def _richest_first(capability: Capability) -> tuple[int, list[str]]:
    return -capability.richness, sorted(capability.terms)


def is_near_duplicate(
    a: AbstractSet[str], b: AbstractSet[str], threshold_bp: int
) -> bool:
    """Whether the sets share that part of their union (Jaccard); the empty are alike."""
    smaller, larger = len(a), len(b)
    if smaller > larger:
        smaller, larger = larger, smaller
    if smaller * FULL < threshold_bp * larger:
        return False
    common = len(a & b)
    return common * FULL >= threshold_bp * (smaller + larger - common)
