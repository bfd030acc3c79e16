"""The compiled kernel: `csrc`, bound by ctypes, which releases the GIL for a call."""

import ctypes
from collections.abc import Sequence
from ctypes import c_int8, c_int32, c_int64, c_uint64, c_void_p
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.compiled.library import pointer_to
from registry.index.query.constants import Constants
from registry.index.segments.part import BEFORE_ALL, CANDIDATE, FACTORS, Part
from registry.ranking.vectors import DIMENSIONS

NO_CAPACITY, NO_MEMORY = -1, -2
TERMS_MAX, FILTERS_MAX = 160, 16  # as in segment.h
_COUNTS = ("rows", "windows", "terms", "grouped", "cells", "as_of_s")
_ARRAYS = (
    *("records", "sketches", "along", "across", "behind", "alive", "hashes"),
    *("containing", "starts", "postings", "column_of", "frequent_of", "columns"),
    *("blocks", "peaks", "cell_starts", "cell_rows", "cell_centre", "cell_reach"),
    "window_merit",
    *("window_flags", "window_axis", "window_spread", "grouped_rows"),
    "grouped_leaders",
)


BOUNDS = np.dtype([(name, "f4") for name in ("window", "sieve", "sketch")])
"""What a row scores at most, by each of the bounds in turn."""


class _Segment(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in _COUNTS),
        *((name, c_void_p) for name in _ARRAYS),
    ]


class _Query(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in ("lexical_multiplier", "meaning_multiplier")),
        ("now_s", c_int64),
        *((name, c_void_p) for name in ("term_hashes", "term_weights")),
        *((name, c_void_p) for name in ("filter_hashes", "squared_chords")),
        *((name, c_void_p) for name in ("near", "fresh")),
        *((name, c_int32) for name in ("terms", "filters", "chords")),
        *((name, c_int32) for name in ("near_size", "fresh_size")),
        *((name, c_int32) for name in ("lexical_share", "full_relevance", "floor")),
        *((name, c_int32) for name in ("meaning_only_min", "located", "neutral")),
        ("weights", c_int32 * 5),
        ("origin", c_int32 * 3),
        ("vector", c_int8 * DIMENSIONS),
    ]


class Effort(ctypes.Structure):
    """What a search looked at: windows, rows' sketches, and rows closely."""

    _fields_ = [(name, c_int64) for name in ("windows", "sketches", "records")]


class Kernel:
    """library: see `find_library`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        self._library.count_containing.argtypes = (
            *(c_void_p, c_int32, c_void_p),
            *(c_int32, c_void_p),
        )
        self._library.search.argtypes = (
            *(c_void_p, c_int32, c_void_p, c_int64, c_int64),
            *(c_void_p, c_int64, c_void_p, c_void_p, c_void_p),
        )
        self._library.search.restype = c_int64
        self._library.mark_eligible.argtypes = (c_void_p, c_void_p, c_void_p)
        self._library.mark_eligible.restype = c_int64
        self._library.score_rows.argtypes = (
            *(c_void_p, c_void_p, c_void_p, c_int64, c_void_p),
        )
        self._library.score_rows.restype = c_int64

    def bind(self, parts: Sequence[Part]) -> "Bound":
        return Bound(self._library, tuple(parts))


class Bound:
    """The parts of an index, ready for the kernel; keeps their arrays alive."""

    def __init__(self, library: ctypes.CDLL, parts: tuple[Part, ...]) -> None:
        self._library = library
        self._parts = parts
        self._segments = (_Segment * max(1, len(parts)))(*map(_segment_of, parts))

    def containing(self, hashes: Sequence[int]) -> list[int]:
        """See `engine.Bound`."""
        asked = np.array(hashes, np.uint64)
        counts = np.zeros(len(hashes), np.int64)
        self._library.count_containing(
            self._segments,
            len(self._parts),
            pointer_to(asked),
            len(hashes),
            pointer_to(counts),
        )
        return counts.tolist()

    def search(
        self, constants: Constants, *, k: int, after: int = BEFORE_ALL
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """See `engine.Bound`."""
        found, shown, _ = self.measure(constants, k=k, after=after)
        return found, shown

    def measure(
        self, constants: Constants, *, k: int, after: int = BEFORE_ALL
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], Effort]:
        """As `search`, and what it took."""
        room = 4 * k + 4096
        effort = Effort()
        while True:
            found, shown = np.empty(room, CANDIDATE), np.empty(room, CANDIDATE)
            shown_count = c_int64(room)
            count = self._library.search(
                self._segments,
                len(self._parts),
                ctypes.byref(_question(constants).struct),
                k,
                after,
                pointer_to(found),
                room,
                pointer_to(shown),
                ctypes.byref(shown_count),
                ctypes.byref(effort),
            )
            if count == NO_MEMORY:
                raise MemoryError
            if count != NO_CAPACITY:
                return found[:count], shown[: shown_count.value], effort
            room *= 8

    def eligible(self, constants: Constants) -> list[npt.NDArray[np.bool_]]:
        """See `engine.Bound`."""
        question = _question(constants)
        return [self._mark_eligible(question, part) for part in range(len(self._parts))]

    def _mark_eligible(self, question: "_Question", part: int) -> npt.NDArray[np.bool_]:
        eligible = np.zeros(len(self._parts[part].segment), np.bool_)
        ended = self._library.mark_eligible(
            ctypes.byref(self._segments[part]),
            ctypes.byref(question.struct),
            pointer_to(eligible),
        )
        if ended == NO_MEMORY:
            raise MemoryError
        return eligible

    def score(
        self, constants: Constants, part: int, rows: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.void]:
        """See `engine.Bound`."""
        question = _question(constants)
        rows = np.ascontiguousarray(rows, np.uint32)
        scored = np.empty(len(rows), FACTORS)
        ended = self._library.score_rows(
            ctypes.byref(self._segments[part]),
            ctypes.byref(question.struct),
            pointer_to(rows),
            len(rows),
            pointer_to(scored),
        )
        if ended == NO_MEMORY:
            raise MemoryError
        return scored

    def bounds(self, constants: Constants, part: int) -> npt.NDArray[np.void]:
        """What each row of a part scores at most, for who would see that none is too low.

        By its window, the sieve and its sketch; 0 where that rules the row out.
        """
        bounds = np.zeros(len(self._parts[part].segment), BOUNDS)
        ended = self._library.bound_rows(
            ctypes.byref(self._segments[part]),
            ctypes.byref(_question(constants).struct),
            pointer_to(bounds),
        )
        if ended == NO_MEMORY:
            raise MemoryError
        return bounds


class _Question:
    """Constants as the kernel's struct; keeps the arrays alive that it points to."""

    def __init__(self, constants: Constants) -> None:
        if len(constants.terms) > TERMS_MAX or len(constants.filters) > FILTERS_MAX:
            raise ValueError("more terms or filters than a request can have")
        hashes = [term for term, _ in constants.terms]
        weights = [weight for _, weight in constants.terms]
        # Of few numbers, an array of ctypes is made in half the time of NumPy's.
        lists: tuple[ctypes.Array[Any], ...] = (
            (c_uint64 * len(hashes))(*hashes),
            (c_int32 * len(weights))(*weights),
            (c_uint64 * len(constants.filters))(*constants.filters),
        )
        tables: tuple[npt.NDArray[Any], ...] = (
            constants.squared_chords,
            constants.near,
            constants.fresh,
        )
        self._kept = (lists, tables)
        self.struct = _Query(
            constants.lexical_multiplier,
            constants.meaning_multiplier,
            constants.now_s,
            *map(ctypes.addressof, lists),
            *map(pointer_to, tables),
            len(constants.terms),
            len(constants.filters),
            len(constants.squared_chords),
            len(constants.near),
            len(constants.fresh),
            constants.lexical_share_bp,
            constants.full_relevance_bp,
            constants.floor,
            constants.meaning_only_min_bp,
            constants.origin is not None,
            constants.neutral,
            constants.weights,
            constants.origin or (0, 0, 0),
            (c_int8 * DIMENSIONS).from_buffer_copy(constants.vector),
        )


_question = lru_cache(maxsize=64)(_Question)
"""A search asks several times by the same constants."""


def _segment_of(part: Part) -> _Segment:
    segment = part.segment
    arrays: dict[str, npt.NDArray[Any]] = {
        name: part.alive if name == "alive" else getattr(segment, name)
        for name in _ARRAYS
    }
    return _Segment(
        len(segment),
        segment.windows,
        len(segment.hashes),
        len(segment.grouped_rows),
        len(segment.cell_reach),
        segment.as_of_s,
        *(pointer_to(array) for array in arrays.values()),
    )
