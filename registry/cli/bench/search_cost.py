"""What a search costs at the least: the memory that it must read, and how fast that is."""

import time
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from registry.index.query.constants import Constants
from registry.index.query.kernel import Effort
from registry.index.segments.segment import RECORD, SKETCH, WINDOW, Segment

_LARGE_BYTES = 1 << 28


def bytes_touched(
    segments: Sequence[Segment], search: Constants, effort: Effort
) -> int:
    """Each byte once: bounds of all windows, and what rows that were looked at have.

    Of a word, a byte for each window, or the postings where it is too rare for that; in
    windows looked at, a byte a row for each word and three for its meaning and merit;
    sketches, and records of rows looked at closely.
    """
    of_row = len(search.terms) + 3
    return int(
        sum(map(_bytes_of_bounds, segments))
        + sum(
            _bytes_of_word(one, hash_) for one in segments for hash_, _ in search.terms
        )
        + effort.windows * WINDOW * of_row
        + effort.sketches * SKETCH.itemsize
        + effort.records * RECORD.itemsize
    )


def _bytes_of_bounds(segment: Segment) -> int:
    return (
        segment.window_merit.nbytes
        + segment.window_flags.nbytes
        + segment.axes.nbytes
        + segment.axis_lengths.nbytes
        + segment.axis_of.nbytes
        + segment.window_spread.nbytes
    )


def _bytes_of_word(segment: Segment, hash_: int) -> int:
    term = segment.find_term(hash_)
    if term is None:
        return 0
    if segment.frequent_of[term] >= 0:
        return segment.windows
    return int(segment.containing[term]) * segment.postings.itemsize


def bytes_of(segment: Segment) -> int:
    """All arrays."""
    arrays = (getattr(segment, each.name) for each in fields(segment))
    return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))


def bandwidth() -> float:
    """Bytes a second that one thread adds up; the best of five."""
    large = np.ones(_LARGE_BYTES // 8, np.int64)
    spent = []
    for _ in range(5):
        started = time.thread_time()
        large.sum()
        spent.append(time.thread_time() - started)
    return large.nbytes / min(spent)
