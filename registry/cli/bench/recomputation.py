"""What the kernel computes, again and by other means: from the rows, without an index.

No segment, no postings and no bound come in, only the definition of the score in whole
numbers; so a fault in how an index is built shows as well as one in how it is searched.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import HIGHER_TIER, LOCAL, Rows
from registry.index.query.constants import Constants
from registry.ranking.freshness import SECONDS_PER_DAY
from registry.ranking.policy import FULL
from registry.ranking.relevance import MULTIPLIER_BITS
from registry.ranking.vectors import unpack_sites

_ROWS_AT_ONCE = 16_384
NOT_ELIGIBLE = -1

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Shape (requests, rows). standings: NOT_ELIGIBLE, or as in `part.CANDIDATE`.

    matched: idf times impact, summed over the words; -1 where a filter does not pass.
    """

    standings: Integers
    matched: npt.NDArray[np.int32]


def recompute(rows: Rows, searches: Sequence[Constants]) -> Recomputed:
    shape = (len(searches), len(rows))
    standings, matched = np.empty(shape, np.int64), np.empty(shape, np.int32)
    hashes = {hash_ for one in searches for hash_, _ in one.terms}
    asked = np.array(
        sorted(hashes.union(*(one.filters for one in searches))), np.uint64
    )
    vectors = np.stack([np.frombuffer(one.vector, np.int8) for one in searches])
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        part = slice(start, min(start + _ROWS_AT_ONCE, len(rows)))
        impacts = _impacts(rows, part, asked)
        # Exact: sums stay below 2^24.
        embeddings = unpack_sites(rows.embeddings[part]).astype(np.float32)
        products = vectors.astype(np.float32) @ embeddings.T
        for number, one in enumerate(searches):
            said = _matched(impacts, asked, one)
            passing = _passing(impacts, asked, one)
            standing = _standings(rows, part, one, said, products[number])
            standings[number, part] = np.where(passing, standing, NOT_ELIGIBLE)
            matched[number, part] = np.where(passing, said, -1)
    return Recomputed(standings, matched)


def first_places(standings: Integers, leaders: Integers, k: int) -> Integers:
    """The rows at or before the k-th place and its equals, best first.

    Sites that share a place stand at the best of them; the others are left out.
    """
    eligible = np.flatnonzero(standings > NOT_ELIGIBLE)
    shared = eligible[leaders[eligible] != 0]
    _, place = np.unique(leaders[shared], return_inverse=True)
    best = np.full(len(shared), NOT_ELIGIBLE)
    np.maximum.at(best, place, standings[shared])
    follows = standings[shared] < best[place]
    heads = np.setdiff1d(eligible, shared[follows], assume_unique=True)
    heads = heads[np.argsort(-standings[heads], kind="stable")]
    places = np.where(leaders[heads] != 0, leaders[heads], -1 - heads)
    first = np.sort(np.unique(places, return_index=True)[1])
    if len(first) < k:
        return heads
    last = standings[heads[first[k - 1]]]
    return np.asarray(heads[standings[heads] >= last])


def _impacts(
    rows: Rows, part: slice, asked: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int32]:
    """Shape (asked, rows of the part)."""
    begin, end = rows.starts[part.start], rows.starts[part.stop]
    hashes = rows.hashes[begin:end]
    at = np.minimum(np.searchsorted(asked, hashes), len(asked) - 1)
    hits = np.flatnonzero(asked[at] == hashes)
    lengths = np.diff(rows.starts[part.start : part.stop + 1])
    row = np.repeat(np.arange(len(lengths)), lengths)
    impacts = np.zeros((len(asked), len(lengths)), np.int32)
    impacts[at[hits], row[hits]] = rows.impacts[begin:end][hits]
    return impacts


def _matched(
    impacts: npt.NDArray[np.int32], asked: npt.NDArray[np.uint64], one: Constants
) -> Integers:
    matched = np.zeros(impacts.shape[1], np.int64)
    for hash_, weight in one.terms:
        matched += weight * impacts[np.searchsorted(asked, np.uint64(hash_))]
    return matched


def _passing(
    impacts: npt.NDArray[np.int32], asked: npt.NDArray[np.uint64], one: Constants
) -> npt.NDArray[np.bool_]:
    passing = np.ones(impacts.shape[1], np.bool_)
    for hash_ in one.filters:
        passing &= impacts[np.searchsorted(asked, np.uint64(hash_))] > 0
    return passing


def _standings(
    rows: Rows, part: slice, one: Constants, matched: Integers, products: Floats
) -> Integers:
    lexical = np.minimum(FULL, matched * one.lexical_multiplier >> MULTIPLIER_BITS)
    likeness = np.maximum(0, products).astype(np.int64) * rows.reciprocals[part]
    cosine = np.minimum(FULL, likeness * one.meaning_multiplier >> MULTIPLIER_BITS)
    share = one.lexical_share_bp
    fused = (share * lexical + (FULL - share) * cosine) // one.full_relevance_bp
    relevance = np.minimum(FULL, fused)
    seconds = np.maximum(0, one.now_s - rows.changed_s[part].astype(np.int64))
    days = np.minimum(seconds // SECONDS_PER_DAY, len(one.fresh) - 1)
    of_relevance, of_proximity, of_depth, of_quality, of_freshness = one.weights
    score = of_relevance * relevance + of_proximity * _proximities(rows, part, one)
    score += of_depth * rows.depth[part].astype(np.int64)
    score += of_quality * rows.quality[part].astype(np.int64)
    score += of_freshness * one.fresh[days].astype(np.int64)
    beyond_chance = (matched > 0) | (cosine >= one.meaning_only_min_bp)
    tier = (rows.flags[part] & HIGHER_TIER) != 0
    eligible = (relevance >= one.floor) & beyond_chance
    return np.where(eligible, 2 * score - tier, NOT_ELIGIBLE)


def _proximities(rows: Rows, part: slice, one: Constants) -> Integers:
    neutral = np.full(part.stop - part.start, one.neutral, np.int64)
    if one.origin is None:
        return neutral
    apart = rows.vectors[part].astype(np.int64) - np.array(one.origin)
    squared = np.square(apart).sum(axis=1)
    km = np.searchsorted(one.squared_chords, squared, side="right")
    near = one.near[np.minimum(km, len(one.near) - 1)]
    return np.where((rows.flags[part] & LOCAL) != 0, near, neutral)
