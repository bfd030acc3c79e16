"""Categories that have sites, nearest in meaning to a request that nobody serves.

No site is shown, only the categories and actions of the nearest ones, in their words
without their names; so nothing is ranked past the policy's threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

import numpy as np

from registry.index.columns.filters import hash_keyword
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import (
    Query,
    ScoringParameters,
    make_scoring_parameters,
)
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile

SITES, WORDS = 8, 6
"""Nearest sites that are looked at, and names of actions that are given for a category."""


@dataclass(frozen=True, slots=True)
class NearCategory:
    """sites: listed sites of it. words: names of actions of the nearest of them."""

    category: str
    sites: int
    words: tuple[str, ...]


def near_categories(
    index: Index, query: Query, term_weights: Mapping[str, int], *, now: datetime
) -> tuple[NearCategory, ...]:
    """Return the categories of the nearest sites that pass the filters, nearest first.

    None for a request that means nothing, or nothing near to any site: less than half
    of what makes a site eligible. term_weights: see `Ranked`.
    """
    if not any(query.request.vector):
        return ()
    policy = _halved(index.policy)
    parameters = make_scoring_parameters(query, term_weights, now, policy)
    words: dict[str, list[str]] = {}
    for profile in _nearest(index, parameters):
        if profile.category:
            words.setdefault(profile.category, []).extend(profile.action_names)
    return tuple(
        NearCategory(
            category,
            index.containing(hash_keyword("category", category)),
            tuple(dict.fromkeys(filter(None, names)))[:WORDS],
        )
        for category, names in words.items()
    )


def _nearest(index: Index, parameters: ScoringParameters) -> list[Profile]:
    """Return the SITES eligible profiles of the greatest cosines, the greatest first."""
    nearest: list[tuple[int, int, int]] = []
    for number, eligible in enumerate(index.bound.eligible(parameters)):
        rows = np.flatnonzero(eligible).astype(np.uint32)
        cosines = index.bound.score(parameters, number, rows)["cosine"].astype(np.int64)
        first = np.argsort(-cosines, kind="stable")[:SITES]
        numbers = [number] * len(first)
        nearest += zip(
            (-cosines[first]).tolist(), numbers, rows[first].tolist(), strict=True
        )
    return [index.profile_at(part, row) for _, part, row in sorted(nearest)[:SITES]]


@lru_cache(maxsize=8)
def _halved(policy: Policy) -> Policy:
    return replace(
        policy,
        meaning_min_bp=policy.meaning_min_bp // 2,
        meaning_only_min_bp=policy.meaning_only_min_bp // 2,
        meaning_beside_step_bp=0,
        relevance_min=policy.relevance_min // 2,
        relevance_min_step=policy.relevance_min_step // 2,
    )
