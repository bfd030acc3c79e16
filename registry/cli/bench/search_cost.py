"""What a search costs at the least: the memory that it must read, and how fast that is."""

import time
from dataclasses import fields

import numpy as np

from registry.index.constants import Constants
from registry.index.kernel import Effort
from registry.index.segment import LEAD, RECORD, Segment

_LARGE_BYTES = 1 << 28


def bytes_touched(segment: Segment, search: Constants, effort: Effort) -> int:
    """Each byte once: bounds of all windows, and what rows that were looked at have.

    Of a word, a byte for each window, or the postings where it is too rare for that; in
    windows looked at, a byte a row for each word and two for the merit; of a row looked
    at closely, its leading dimensions, their length, and its record.
    """
    of_row = len(search.terms) + segment.merit.itemsize
    closely = LEAD // 2 + segment.reciprocal.itemsize + segment.tail.itemsize
    return int(
        _bytes_of_bounds(segment)
        + sum(_bytes_of_word(segment, hash_) for hash_, _ in search.terms)
        + effort.windows * segment.window_axis.shape[1]
        + effort.rows * of_row
        + effort.records * (closely + RECORD.itemsize)
    )


def _bytes_of_bounds(segment: Segment) -> int:
    return (
        segment.window_merit.nbytes
        + segment.window_centre.nbytes
        + segment.window_reach.nbytes
        + segment.window_flags.nbytes
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
