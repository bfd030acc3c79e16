"""Types of a search: parts of the index, candidates, factors."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.index.segments.segment import Segment

BEFORE_ALL = 2**62
"""A rank score before every other's."""

RANKED_ROW = np.dtype(
    [("rank_score", "i8"), ("representative", "i8"), ("segment", "u4"), ("row", "u4")]
)
"""rank_score: see `RankScale`. representative: of the place that it shares, or 0."""


class Scored(NamedTuple):
    """A row of FACTORS.

    days: since the last change. km: -1 without a place to ask from. eligible: 0 or 1.
    """

    lexical: int
    cosine: int
    relevance: int
    proximity: int
    depth: int
    quality: int
    freshness: int
    days: int
    km: int
    eligible: int
    score: int


FACTORS = np.dtype([*((name, "i4") for name in Scored._fields[:-1]), ("score", "i8")])


@dataclass(frozen=True, slots=True)
class IndexPart:
    """A segment as a search sees it.

    alive: one byte a row, to whole blocks; 0 for what was replaced.
    """

    segment: Segment
    alive: npt.NDArray[np.uint8]
