"""Lower bound of a search's cost: the bytes that it must read, and the bandwidth."""

import time
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from registry.index.query.kernel import SearchEffort
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.segments.segment import BLOCK_ROWS, RECORD, SKETCH, Segment

_LARGE_BYTES = 1 << 28


def bytes_touched(
    segments: Sequence[Segment], search: ScoringParameters, effort: SearchEffort
) -> int:
    """Count each byte once: bounds of all blocks, and columns of rows that are read.

    A word has a byte for each block, or its postings where it is too rare for that; a
    block that is read has a byte a row for each word and three for meaning and merit;
    then come sketches and records.
    """
    of_row = len(search.terms) + 3
    return int(
        sum(map(_bytes_of_bounds, segments))
        + sum(
            _bytes_of_word(segment, hash_)
            for segment in segments
            for hash_, _ in search.terms
        )
        + effort.blocks * BLOCK_ROWS * of_row
        + effort.sketches * SKETCH.itemsize
        + effort.records * RECORD.itemsize
    )


def _bytes_of_bounds(segment: Segment) -> int:
    return (
        segment.block_merit.nbytes
        + segment.block_flags.nbytes
        + segment.axes.nbytes
        + segment.axis_lengths.nbytes
        + segment.axis_of.nbytes
        + segment.block_spread.nbytes
    )


def _bytes_of_word(segment: Segment, hash_: int) -> int:
    term = segment.find_term(hash_)
    if term is None:
        return 0
    if segment.frequent_of[term] >= 0:
        return segment.blocks
    return int(segment.containing[term]) * segment.postings.itemsize


def bytes_of(segment: Segment) -> int:
    """Add up all arrays."""
    arrays = (getattr(segment, column.name) for column in fields(segment))
    return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))


def bandwidth() -> float:
    """Measure the bytes a second that one thread adds up; the best of five."""
    large = np.ones(_LARGE_BYTES // 8, np.int64)
    spent = []
    for _ in range(5):
        started = time.thread_time()
        large.sum()
        spent.append(time.thread_time() - started)
    return large.nbytes / min(spent)
