"""Scores computed again from the rows, by the definition alone, without an index.

So a fault in how an index is built shows as well as one in how it is searched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import HIGHER_TIER, LOCAL, Rows
from registry.index.query.scoring_parameters import ScoringParameters
from registry.ranking.encoders.vectors import unpack_sites
from registry.ranking.freshness import SECONDS_PER_DAY
from registry.ranking.policy import FULL
from registry.ranking.relevance import MULTIPLIER_BITS

_ROWS_AT_ONCE = 16_384
NOT_ELIGIBLE = -1

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Shape (requests, rows). standings: NOT_ELIGIBLE, or as in `part.RANKED_ROW`.

    matched: idf times impact, summed over the words; -1 where a filter does not pass.
    """

    standings: Integers
    matched: npt.NDArray[np.int32]


def recompute(rows: Rows, searches: Sequence[ScoringParameters]) -> Recomputed:
    shape = (len(searches), len(rows))
    standings, matched = np.empty(shape, np.int64), np.empty(shape, np.int32)
    hashes = {hash_ for search in searches for hash_, _ in search.terms}
    terms = np.array(
        sorted(hashes.union(*(search.filters for search in searches))), np.uint64
    )
    vectors = np.stack([np.frombuffer(s.vector, np.int8) for s in searches])
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, min(start + _ROWS_AT_ONCE, len(rows)))
        impacts = _impacts(rows, part, terms)
        # Exact: sums stay below 2^24.
        embeddings = unpack_sites(rows.embeddings[part]).astype(np.float32)
        products = vectors.astype(np.float32) @ embeddings.T
        for number, search in enumerate(searches):
            sums = _matched(impacts, terms, search)
            passing = _passing(impacts, terms, search)
            standing = _standings(rows, part, search, sums, products[number])
            standings[number, part] = np.where(passing, standing, NOT_ELIGIBLE)
            matched[number, part] = np.where(passing, sums, -1)
    return Recomputed(standings, matched)


def top_rows(standings: Integers, representatives: Integers, k: int) -> Integers:
    """Return the rows of the top k groups and their equals, best first.

    Sites of a group have the rank of its best; the others are left out.
    """
    eligible = np.flatnonzero(standings > NOT_ELIGIBLE)
    shared = eligible[representatives[eligible] != 0]
    _, group = np.unique(representatives[shared], return_inverse=True)
    best = np.full(len(shared), NOT_ELIGIBLE)
    np.maximum.at(best, group, standings[shared])
    follows = standings[shared] < best[group]
    heads = np.setdiff1d(eligible, shared[follows], assume_unique=True)
    heads = heads[np.argsort(-standings[heads], kind="stable")]
    groups = np.where(representatives[heads] != 0, representatives[heads], -1 - heads)
    first = np.sort(np.unique(groups, return_index=True)[1])
    if len(first) < k:
        return heads
    last = standings[heads[first[k - 1]]]
    return np.asarray(heads[standings[heads] >= last])


def _impacts(
    rows: Rows, part: slice, terms: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int32]:
    """Return impacts of shape (terms, rows of the part)."""
    begin, end = rows.starts[part.start], rows.starts[part.stop]
    hashes = rows.hashes[begin:end]
    at = np.minimum(np.searchsorted(terms, hashes), len(terms) - 1)
    hits = np.flatnonzero(terms[at] == hashes)
    lengths = np.diff(rows.starts[part.start : part.stop + 1])
    row = np.repeat(np.arange(len(lengths)), lengths)
    impacts = np.zeros((len(terms), len(lengths)), np.int32)
    impacts[at[hits], row[hits]] = rows.impacts[begin:end][hits]
    return impacts


def _matched(
    impacts: npt.NDArray[np.int32],
    terms: npt.NDArray[np.uint64],
    search: ScoringParameters,
) -> Integers:
    matched = np.zeros(impacts.shape[1], np.int64)
    for hash_, weight in search.terms:
        matched += weight * impacts[np.searchsorted(terms, np.uint64(hash_))]
    return matched


def _passing(
    impacts: npt.NDArray[np.int32],
    terms: npt.NDArray[np.uint64],
    search: ScoringParameters,
) -> npt.NDArray[np.bool_]:
    passing = np.ones(impacts.shape[1], np.bool_)
    for hash_ in search.filters:
        passing &= impacts[np.searchsorted(terms, np.uint64(hash_))] > 0
    return passing


def _standings(
    rows: Rows,
    part: slice,
    search: ScoringParameters,
    matched: Integers,
    products: Floats,
) -> Integers:
    lexical = np.minimum(FULL, matched * search.lexical_multiplier >> MULTIPLIER_BITS)
    likeness = np.maximum(0, products).astype(np.int64) * rows.reciprocals[part]
    cosine = np.minimum(FULL, likeness * search.meaning_multiplier >> MULTIPLIER_BITS)
    share = search.lexical_share_bp
    fused = (share * lexical + (FULL - share) * cosine) // search.full_relevance_bp
    relevance = np.minimum(FULL, fused)
    seconds = np.maximum(0, search.now_s - rows.changed_s[part].astype(np.int64))
    days = np.minimum(seconds // SECONDS_PER_DAY, len(search.fresh) - 1)
    of_relevance, of_proximity, of_depth, of_quality, of_freshness = search.weights
    score = of_relevance * relevance + of_proximity * _proximities(rows, part, search)
    score += of_depth * rows.depth[part].astype(np.int64)
    score += of_quality * rows.quality[part].astype(np.int64)
    score += of_freshness * search.fresh[days].astype(np.int64)
    beyond_chance = cosine >= np.where(
        matched > 0, search.meaning_min_bp, search.meaning_only_min_bp
    )
    tier = (rows.flags[part] & HIGHER_TIER) != 0
    eligible = (relevance >= search.floor) & beyond_chance
    quality = rows.quality[part].astype(np.int64)
    rank_score = search.scale.rank_score(
        score, relevance, quality, tier.astype(np.int64)
    )
    return np.where(eligible, rank_score, NOT_ELIGIBLE)


def _proximities(rows: Rows, part: slice, search: ScoringParameters) -> Integers:
    neutral = np.full(part.stop - part.start, search.neutral, np.int64)
    if search.origin is None:
        return neutral
    apart = rows.vectors[part].astype(np.int64) - np.array(search.origin)
    squared = np.square(apart).sum(axis=1)
    km = np.searchsorted(search.squared_chords, squared, side="right")
    near = search.near[np.minimum(km, len(search.near) - 1)]
    return np.where((rows.flags[part] & LOCAL) != 0, near, neutral)
