"""Search within a radius of the user: the rows in it are scored, each of them, and no others.

A radius leaves so few rows that there is nothing to gain by bounds. Their groups of near
places (cells) tell which rows to look at; the exact distance decides.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from registry.index.columns.rows import HIGHER_TIER, LOCAL
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.segments.part import RANKED_ROW, IndexPart
from registry.index.segments.segment import Segment
from registry.ranking.proximity import Vector
from registry.sites.place import EARTH_RADIUS_KM

ROUNDING = 0.001
"""Radians beyond those of a cell's cap, whose centre is rounded: 6 km."""

UintRows = npt.NDArray[np.uint32]


class RowScorer(Protocol):
    """See `IndexSearcher`."""

    def score(
        self, constants: ScoringParameters, part: int, rows: UintRows
    ) -> npt.NDArray[np.void]: ...


def is_within(
    km: npt.NDArray[np.int32],
    flags: npt.NDArray[np.uint8],
    constants: ScoringParameters,
) -> npt.NDArray[np.bool_]:
    """Return which rows lie in the radius. km: whole ones, -1 without a user location."""
    is_local = (flags & LOCAL) != 0
    within: npt.NDArray[np.bool_] = is_local & (km >= 0) & (km < constants.radius_km)
    return within


def rank_within(
    scorer: RowScorer,
    parts: Sequence[IndexPart],
    constants: ScoringParameters,
    *,
    k: int,
    after: int,
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
    """See `IndexSearcher.search`."""
    own = _candidates(scorer, parts, constants)
    return page_of(np.concatenate([np.empty(0, RANKED_ROW), *own]), k, after)


def eligible_within(
    scorer: RowScorer, parts: Sequence[IndexPart], constants: ScoringParameters
) -> list[npt.NDArray[np.bool_]]:
    """See `IndexSearcher.eligible`."""
    marks = [np.zeros(len(part.segment), np.bool_) for part in parts]
    for number, rows, _ in _eligible(scorer, parts, constants):
        marks[number][rows] = True
    return marks


def page_of(
    candidates: npt.NDArray[np.void], k: int, after: int
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
    """Return what `IndexSearcher.search` does, of all eligible rows."""
    earlier = candidates["rank_score"] > after
    seen_groups = candidates[earlier & (candidates["representative"] != 0)]
    return _first_slots(candidates[~earlier], k), seen_groups


def _first_slots(candidates: npt.NDArray[np.void], k: int) -> npt.NDArray[np.void]:
    """All at or before the k-th slot and its equals; followers are left out."""
    shared = np.flatnonzero(candidates["representative"])
    groups, group_of = np.unique(
        candidates["representative"][shared], return_inverse=True
    )
    best = np.full(len(groups), -1, np.int64)
    np.maximum.at(best, group_of, candidates["rank_score"][shared])
    leads = np.ones(len(candidates), np.bool_)
    leads[shared] = candidates["rank_score"][shared] == best[group_of]
    alone = candidates["rank_score"][candidates["representative"] == 0]
    scores = np.concatenate([alone, best])
    heads = candidates[leads]
    if len(scores) < k:
        return heads
    first: npt.NDArray[np.void] = heads[
        heads["rank_score"] >= np.partition(scores, -k)[-k]
    ]
    return first


def rank_scores(
    scored: npt.NDArray[np.void],
    flags: npt.NDArray[np.uint8],
    constants: ScoringParameters,
) -> npt.NDArray[np.int64]:
    """Return those of rows. scored: FACTORS of each."""
    return constants.scale.rank_score(
        scored["score"],
        scored["relevance"].astype(np.int64),
        scored["quality"].astype(np.int64),
        ((flags & HIGHER_TIER) != 0).astype(np.int64),
    )


def _candidates(
    scorer: RowScorer, parts: Sequence[IndexPart], constants: ScoringParameters
) -> Iterator[npt.NDArray[np.void]]:
    for number, rows, scored in _eligible(scorer, parts, constants):
        segment = parts[number].segment
        own = np.empty(len(rows), RANKED_ROW)
        flags = segment.records["flags"][rows]
        own["rank_score"] = rank_scores(scored, flags, constants)
        own["representative"] = representatives_of(segment, rows)
        own["segment"], own["row"] = number, rows
        yield own


def _eligible(
    scorer: RowScorer, parts: Sequence[IndexPart], constants: ScoringParameters
) -> Iterator[tuple[int, UintRows, npt.NDArray[np.void]]]:
    """Yield the number of each part, its eligible rows and their factors."""
    if constants.origin is None:
        return
    for number, part in enumerate(parts):
        rows = _rows_near(part.segment, constants.origin, constants.radius_km)
        scored = scorer.score(constants, number, rows)
        is_eligible = scored["eligible"] != 0
        yield number, rows[is_eligible], scored[is_eligible]


def _rows_near(segment: Segment, origin: Vector, radius_km: int) -> UintRows:
    """Return the rows of all cells that may reach into the radius, ascending."""
    towards = segment.cell_centre.reshape(-1, 3) @ np.array(origin, np.float64)
    angles = np.arccos(np.clip(towards / math.dist(origin, (0, 0, 0)), -1, 1))
    reach = segment.cell_reach + (radius_km / EARTH_RADIUS_KM + ROUNDING)
    cells = np.flatnonzero(angles <= reach)
    spans = zip(segment.cell_starts[cells], segment.cell_starts[cells + 1], strict=True)
    rows = [segment.cell_rows[start:end] for start, end in spans]
    return np.sort(np.concatenate([np.empty(0, np.uint32), *rows]))


def representatives_of(segment: Segment, rows: UintRows) -> npt.NDArray[np.int64]:
    """Return the representative of each row, or 0."""
    grouped = segment.grouped_rows
    if not len(grouped):
        return np.zeros(len(rows), np.int64)
    at = np.minimum(np.searchsorted(grouped, rows), len(grouped) - 1)
    return np.where(grouped[at] == rows, segment.representatives[at], 0)
