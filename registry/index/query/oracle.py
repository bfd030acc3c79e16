"""The kernel's work in NumPy: every row, nothing left out.

It shares no code with the kernel, so that tests can hold one against the other; and it
takes its place where nothing was compiled, about thirty times slower.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import LOCAL
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.query.within_radius import (
    is_within,
    page_of,
    rank_scores,
    representatives_of,
)
from registry.index.segments.part import BEFORE_ALL, FACTORS, RANKED_ROW, IndexPart
from registry.ranking.decay import look_up
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.freshness import days_between
from registry.ranking.policy import FULL
from registry.ranking.proximity import distances_km, proximities

Integers = npt.NDArray[np.int64]


class Oracle:
    """See `index_searcher.IndexSearcher`."""

    def __init__(self, parts: Sequence[IndexPart]) -> None:
        self._parts = tuple(parts)
        self._embeddings = [_embeddings(part) for part in parts]
        self._representatives = [
            representatives_of(
                part.segment, np.arange(len(part.segment), dtype=np.uint32)
            )
            for part in parts
        ]

    def containing(self, hashes: Sequence[int]) -> list[int]:
        return [sum(_containing(p, hash_) for p in self._parts) for hash_ in hashes]

    def search(
        self, constants: ScoringParameters, *, k: int, after: int = BEFORE_ALL
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        return page_of(self._candidates(constants), k, after)

    def eligible(self, constants: ScoringParameters) -> list[npt.NDArray[np.bool_]]:
        return [
            self._score(constants, part)["eligible"] != 0
            for part in range(len(self._parts))
        ]

    def score(
        self, constants: ScoringParameters, part: int, rows: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.void]:
        return self._score(constants, part)[rows]

    def _candidates(self, constants: ScoringParameters) -> npt.NDArray[np.void]:
        """Return a candidate for every eligible row."""
        own = [self._candidates_of(constants, part) for part in range(len(self._parts))]
        return np.concatenate([np.empty(0, RANKED_ROW), *own])

    def _candidates_of(
        self, constants: ScoringParameters, part: int
    ) -> npt.NDArray[np.void]:
        scored = self._score(constants, part)
        rows = np.flatnonzero(scored["eligible"])
        candidates = np.empty(len(rows), RANKED_ROW)
        flags = self._parts[part].segment.records["flags"][rows]
        candidates["rank_score"] = rank_scores(scored[rows], flags, constants)
        candidates["representative"] = self._representatives[part][rows]
        candidates["segment"] = part
        candidates["row"] = rows
        return candidates

    def _score(self, constants: ScoringParameters, number: int) -> npt.NDArray[np.void]:
        part = self._parts[number]
        records = part.segment.records
        scored = np.zeros(len(records), FACTORS)
        matched = _matched(part, constants)
        scored["lexical"] = np.minimum(
            matched * constants.lexical_multiplier >> 32, FULL
        )
        scored["cosine"] = self._cosines(constants, number)
        share = constants.lexical_share_bp
        fused = share * scored["lexical"].astype(np.int64)
        fused += (FULL - share) * scored["cosine"].astype(np.int64)
        scored["relevance"] = np.minimum(fused // constants.full_relevance_bp, FULL)
        scored["km"] = _kilometres(part, constants)
        local = (records["flags"] & LOCAL) != 0
        located = local & (constants.origin is not None)
        scored["proximity"] = proximities(
            scored["km"], located, constants.near, constants.neutral
        )
        scored["depth"] = records["depth"]
        scored["quality"] = records["quality"]
        changed_s = records["changed_s"].astype(np.int64)
        scored["days"] = days_between(changed_s, constants.now_s)
        scored["freshness"] = look_up(constants.fresh, scored["days"])
        names = ("relevance", "proximity", "depth", "quality", "freshness")
        scored["score"] = sum(
            weight * scored[name].astype(np.int64)
            for weight, name in zip(constants.weights, names, strict=True)
        )
        cosine = scored["cosine"]
        beyond_chance = cosine >= np.where(
            matched > 0, constants.meaning_min_bp, constants.meaning_only_min_bp
        )
        relevant = scored["relevance"] >= constants.floor
        passing = _passing(part, constants)
        if constants.radius_km:
            passing &= is_within(scored["km"], records["flags"], constants)
        scored["eligible"] = relevant & beyond_chance & passing
        return scored

    def _cosines(self, constants: ScoringParameters, number: int) -> Integers:
        vector = np.frombuffer(constants.vector, np.int8).astype(np.float32)
        # Exact: sums stay below 2^24. Not `@`: its threads contend with other workers'.
        products = np.einsum("ij,j->i", self._embeddings[number], vector)
        positive = np.maximum(products.astype(np.int64), 0)
        reciprocals = self._parts[number].segment.sketches["reciprocal"]
        likeness = (
            positive * reciprocals[: len(positive)] * constants.meaning_multiplier
        )
        cosines: Integers = np.minimum(likeness >> 32, FULL)
        return cosines


def _containing(part: IndexPart, hash_: int) -> int:
    term = part.segment.find_term(hash_)
    return 0 if term is None else int(part.segment.containing[term])


def _impacts(part: IndexPart, hash_: int) -> Integers:
    """Return the impact of a term in every row."""
    segment = part.segment
    own = np.zeros(len(segment), np.int64)
    term = segment.find_term(hash_)
    if term is None:
        return own
    column = segment.column_of[term]
    if column >= 0:
        return segment.columns[column, : len(segment)].astype(np.int64)
    postings = segment.postings_of(term)
    own[postings >> np.uint32(8)] = postings & np.uint32(255)
    return own


def _matched(part: IndexPart, constants: ScoringParameters) -> Integers:
    matched = np.zeros(len(part.segment), np.int64)
    for hash_, weight in constants.terms:
        matched += weight * _impacts(part, hash_)
    return matched


def _passing(part: IndexPart, constants: ScoringParameters) -> npt.NDArray[np.bool_]:
    passing: npt.NDArray[np.bool_] = part.alive[: len(part.segment)] != 0
    for hash_ in constants.filters:
        passing &= _impacts(part, hash_) > 0
    return passing


def _kilometres(part: IndexPart, constants: ScoringParameters) -> Integers:
    """Return whole kilometres, rounded down; -1 without a user location."""
    if constants.origin is None:
        return np.full(len(part.segment), -1, np.int64)
    return distances_km(_places(part), constants.origin)


def _places(part: IndexPart) -> Integers:
    low = part.segment.records["place"].astype(np.int64)
    numbers = low[:, :, 0] + (low[:, :, 1] << 8) + (low[:, :, 2] << 16)
    signed: Integers = np.where(numbers >= 1 << 23, numbers - (1 << 24), numbers)
    return signed


def _embeddings(part: IndexPart) -> npt.NDArray[np.float32]:
    segment = part.segment
    lead = segment.sketches["lead"][: len(segment)]
    rest = segment.records["rest"]
    packed = np.concatenate([lead, rest], axis=1)
    numbers = np.empty((len(segment), DIMENSIONS), np.float32)
    numbers[:, 0::2] = packed & 15
    numbers[:, 1::2] = packed >> 4
    return numbers - 8
