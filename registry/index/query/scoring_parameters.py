"""The constants of one search: all that its scores depend on beside the rows.

Whole numbers, made once a search; the kernel and its oracle work from the same ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from registry.index.columns.filters import Filters
from registry.index.columns.hashes import hash_word
from registry.ranking.decay import decay_table
from registry.ranking.freshness import seconds_of
from registry.ranking.policy import Policy
from registry.ranking.proximity import Vector, squared_chords, vector_of
from registry.ranking.rank_score import RankScale
from registry.ranking.relevance import (
    ParsedQuery,
    least_meaning,
    lexical_multiplier,
    lexical_share_bp,
    meaning_multiplier,
    relevance_floor,
)
from registry.sites.place import centroid_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """cell: the geohash cell that stands for the user, or None."""

    request: ParsedQuery
    cell: str | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoringParameters:
    """Parameters of the scores of one search.

    terms: hashes of words, each with its weight. filters: hashes of keywords. radius_km:
    only sites with a place nearer than this; 0: wherever they are.

    lexical_multiplier, meaning_multiplier: see `relevance`. meaning_min_bp,
    meaning_only_min_bp: of a site with a word of the query and of one without, see
    `LeastMeaning`. answered_bp: both, of one eligible site at least. near: proximity by whole
    kilometres, fresh: freshness by whole days; the last entry stands for all beyond.
    origin: of the user's cell, or None. now_s: seconds since 1970. weights: of the
    factors in the order of `Factors`. scale: of rank scores.
    """

    terms: tuple[tuple[int, int], ...]
    filters: tuple[int, ...]
    radius_km: int
    vector: bytes
    lexical_multiplier: int
    meaning_multiplier: int
    lexical_share_bp: int
    full_relevance_bp: int
    floor: int
    meaning_min_bp: int
    meaning_only_min_bp: int
    answered_bp: tuple[int, int]
    near: npt.NDArray[np.int32]
    fresh: npt.NDArray[np.int32]
    squared_chords: npt.NDArray[np.int64]
    neutral: int
    origin: Vector | None
    now_s: int
    weights: tuple[int, int, int, int, int]
    scale: RankScale

    @property
    def is_answered_by_any(self) -> bool:
        """Return whether one eligible site is enough, whatever it means."""
        return self.answered_bp == (self.meaning_min_bp, self.meaning_only_min_bp)

    def of_answering_sites(self) -> "ScoringParameters":
        """Return those by which the eligible are the sites for which it is answered."""
        with_words, alone = self.answered_bp
        return replace(self, meaning_min_bp=with_words, meaning_only_min_bp=alone)


def make_scoring_parameters(
    query: Query, term_weights: Mapping[str, int], now: datetime, policy: Policy
) -> ScoringParameters:
    """term_weights: of the query's terms in the index that is searched.

    Raises: ValueError if the cell is no geohash.
    """
    request = query.request
    terms = len(request.terms)
    least = least_meaning(terms, policy)
    return ScoringParameters(
        terms=tuple((hash_word(term), own) for term, own in term_weights.items()),
        filters=query.filters.keywords(),
        radius_km=query.filters.within_km or 0,
        vector=request.vector,
        lexical_multiplier=lexical_multiplier(term_weights.values(), policy),
        meaning_multiplier=meaning_multiplier(request),
        lexical_share_bp=lexical_share_bp(terms, policy),
        full_relevance_bp=policy.full_relevance_bp,
        floor=relevance_floor(terms, policy),
        meaning_min_bp=least.with_words,
        meaning_only_min_bp=least.alone,
        answered_bp=(least.answered_with_words, least.answered_alone),
        near=_table(policy.distance_scale_km, 0),
        fresh=_table(policy.freshness_scale_days, policy.freshness_floor),
        squared_chords=squared_chords(),
        neutral=policy.proximity_neutral,
        origin=vector_of(centroid_of(query.cell)) if query.cell is not None else None,
        now_s=seconds_of(now),
        weights=policy.weights,
        scale=RankScale.of(policy),
    )


@lru_cache(maxsize=16)
def _table(scale: int, floor: int) -> npt.NDArray[np.int32]:
    table = decay_table(scale, floor).astype(np.int32)
    table.setflags(write=False)
    return table
