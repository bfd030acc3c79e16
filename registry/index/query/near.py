"""Categories that have sites, nearest in meaning to a request that nobody serves.

No site is told, only what the nearest ones are called and offer, in their words without
their names; so nothing is ranked past the policy's threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from registry.index.columns.filters import hash_keyword
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import (
    Query,
    ScoringParameters,
    make_scoring_parameters,
)
from registry.ranking.policy import FULL, Policy
from registry.ranking.profile import Profile

SITES, WORDS = 8, 6
"""Nearest sites that are looked at, and names of actions that are told of a category."""


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
    by_cosine = replace(
        parameters,
        lexical_share_bp=0,
        full_relevance_bp=FULL,
        floor=0,
        weights=(FULL, 0, 0, 0, 0),
    )
    rows, _ = index.bound.search(by_cosine, k=SITES)
    nearest = sorted((-score, part, row) for score, _, part, row in rows.tolist())
    return [index.profile_at(part, row) for _, part, row in nearest[:SITES]]


def _halved(policy: Policy) -> Policy:
    return replace(
        policy,
        meaning_min_bp=policy.meaning_min_bp // 2,
        meaning_only_min_bp=policy.meaning_only_min_bp // 2,
        meaning_beside_step_bp=0,
        relevance_min=policy.relevance_min // 2,
        relevance_min_step=policy.relevance_min_step // 2,
    )
