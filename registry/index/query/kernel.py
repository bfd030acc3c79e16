"""The compiled kernel: `csrc`, bound by ctypes, which releases the GIL for a call."""

import ctypes
import struct
import threading
from collections.abc import Callable, Sequence
from ctypes import c_int32, c_int64, c_size_t, c_void_p
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.compiled.library import pointer_to
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.query.within_radius import eligible_within, is_within, rank_within
from registry.index.segments.array_file import aligned_zeros
from registry.index.segments.part import BEFORE_ALL, FACTORS, RANKED_ROW, IndexPart
from registry.ranking.encoders.vectors import DIMENSIONS

NO_CAPACITY, NO_MEMORY = -1, -2
TERMS_MAX, FILTERS_MAX = 160, 16  # as in segment.h
_COUNTS = ("rows", "blocks", "terms", "grouped", "cells", "n_axes", "as_of_s")
_ARRAYS = (
    *("records", "sketches", "along", "across", "behind", "alive", "hashes"),
    *("containing", "starts", "postings", "column_of", "frequent_of", "columns"),
    *("block_starts", "block_max", "cell_starts", "cell_rows"),
    *("cell_centre", "cell_reach"),
    *("block_merit", "block_flags", "axes", "axis_lengths", "axis_of"),
    *("block_spread", "grouped_rows", "representatives"),
)


BOUNDS = np.dtype([(name, "f4") for name in ("block", "row", "sketch")])
"""Upper bounds of a row's score, in the order in which they are tried."""


class _Segment(ctypes.Structure):
    _fields_ = [
        *((name, c_int64) for name in _COUNTS),
        *((name, c_void_p) for name in _ARRAYS),
    ]


_QUERY = struct.Struct(f"@3q6P22i{DIMENSIONS}s0q")
"""`query` of `csrc/segment.h`; what follows it is aligned to eight bytes."""


class SearchEffort(ctypes.Structure):
    """Effort of a search: blocks, rows' sketches, and rows closely."""

    _fields_ = [(name, c_int64) for name in ("blocks", "sketches", "records")]


class _Arena(ctypes.Structure):
    _fields_ = [("next", c_void_p), ("left", c_size_t)]


class _Arenas(threading.local):
    """Memory of a thread's searches, reused by the next one: see `csrc/arena.h`."""

    def __init__(self) -> None:
        self._buffer = aligned_zeros((0,), np.uint8)
        self._room = _Arena()

    def of(self, size: int) -> _Arena:
        if self._room.left < size:
            self._buffer = aligned_zeros((size,), np.uint8)
            self._room = _Arena(pointer_to(self._buffer), size)
        return self._room


_arenas = _Arenas()


_CALLS = {
    "count_containing": ([c_void_p, c_int32, c_void_p, c_int32, c_void_p], None),
    "search": (
        [
            *(c_void_p, c_int32, c_void_p, c_int64, c_int64, c_void_p, c_int64),
            *(c_void_p, c_void_p, c_void_p, _Arena),
        ],
        c_int64,
    ),
    "mark_eligible": ([c_void_p, c_void_p, c_void_p, _Arena], c_int64),
    "score_rows": ([c_void_p, c_void_p, c_void_p, c_int64, c_void_p, _Arena], c_int64),
    "bound_rows": ([c_void_p, c_void_p, c_void_p, _Arena], c_int64),
    "arena_bytes": ([c_void_p, c_int32], c_int64),
}
"""Arguments and result of each function."""


@cache
def _declare_calls(library: ctypes.CDLL) -> ctypes.CDLL:
    for name, (arguments, result) in _CALLS.items():
        function = getattr(library, name)
        function.argtypes, function.restype = arguments, result
    return library


class Kernel:
    """The parts of an index, ready for the kernel; keeps their arrays alive.

    library: see `find_library`.
    """

    def __init__(self, parts: Sequence[IndexPart], library: ctypes.CDLL) -> None:
        self._library = _declare_calls(library)
        self._parts = tuple(parts)
        self._segments = (_Segment * max(1, len(parts)))(*map(_segment_of, parts))
        self._arena_bytes: int = library.arena_bytes(self._segments, len(parts))

    def containing(self, hashes: Sequence[int]) -> list[int]:
        """See `IndexSearcher`."""
        wanted = np.array(hashes, np.uint64)
        counts = np.zeros(len(hashes), np.int64)
        self._library.count_containing(
            *(self._segments, len(self._parts)),
            *(pointer_to(wanted), len(hashes), pointer_to(counts)),
        )
        return counts.tolist()

    def search(
        self, constants: ScoringParameters, *, k: int, after: int = BEFORE_ALL
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void]]:
        """See `IndexSearcher`."""
        if constants.radius_km:
            return rank_within(self, self._parts, constants, k=k, after=after)
        candidates, seen_groups, _ = self.measure(constants, k=k, after=after)
        return candidates, seen_groups

    def measure(
        self, constants: ScoringParameters, *, k: int, after: int = BEFORE_ALL
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void], SearchEffort]:
        """Search, and return the effort as well."""
        room = 4 * k + 4096
        effort = SearchEffort()
        while True:
            candidates, seen_groups = np.empty((2, room), RANKED_ROW)
            shown_count = c_int64(room)
            count = self._run(
                *(self._library.search, self._segments, len(self._parts)),
                *(_question(constants).address, k, after),
                *(pointer_to(candidates), room, pointer_to(seen_groups)),
                *(ctypes.byref(shown_count), ctypes.byref(effort)),
            )
            if count != NO_CAPACITY:
                return candidates[:count], seen_groups[: shown_count.value], effort
            room *= 8

    def eligible(self, constants: ScoringParameters) -> list[npt.NDArray[np.bool_]]:
        """See `IndexSearcher`."""
        if constants.radius_km:
            return eligible_within(self, self._parts, constants)
        question = _question(constants)
        return [self._mark_eligible(question, part) for part in range(len(self._parts))]

    def _mark_eligible(
        self, question: "KernelQuery", part: int
    ) -> npt.NDArray[np.bool_]:
        eligible = np.zeros(len(self._parts[part].segment), np.bool_)
        segment = ctypes.byref(self._segments[part])
        marks = pointer_to(eligible)
        self._run(self._library.mark_eligible, segment, question.address, marks)
        return eligible

    def score(
        self, constants: ScoringParameters, part: int, rows: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.void]:
        """See `IndexSearcher`."""
        question = _question(constants)
        rows = np.ascontiguousarray(rows, np.uint32)
        scored = np.empty(len(rows), FACTORS)
        self._run(
            self._library.score_rows,
            ctypes.byref(self._segments[part]),
            question.address,
            *(pointer_to(rows), len(rows), pointer_to(scored)),
        )
        if constants.radius_km:
            flags = self._parts[part].segment.records["flags"][rows]
            scored["eligible"] &= is_within(scored["km"], flags, constants)
        return scored

    def bounds(self, constants: ScoringParameters, part: int) -> npt.NDArray[np.void]:
        """Return what each row of a part scores at most, to show that none is too low.

        By its block, its row bounds and its sketch; 0 where that rules the row out.
        """
        bounds = np.zeros(len(self._parts[part].segment), BOUNDS)
        segment, question = ctypes.byref(self._segments[part]), _question(constants)
        address = pointer_to(bounds)
        self._run(self._library.bound_rows, segment, question.address, address)
        return bounds

    def _run(self, function: Callable[..., int], *given: Any) -> int:
        """Call a function that takes an arena last. Raises: MemoryError."""
        ended = function(*given, _arenas.of(self._arena_bytes))
        if ended == NO_MEMORY:
            raise MemoryError
        return ended


class KernelQuery:
    """ScoringParameters as the kernel's struct, with its lists behind it; keeps its tables alive."""

    def __init__(self, constants: ScoringParameters) -> None:
        if len(constants.terms) > TERMS_MAX or len(constants.filters) > FILTERS_MAX:
            raise ValueError("more terms or filters than a request can have")
        terms, filters = len(constants.terms), len(constants.filters)
        tables: tuple[npt.NDArray[Any], ...] = (
            constants.squared_chords,
            constants.near,
            constants.fresh,
        )
        lists = struct.Struct(f"@{terms + filters}Q{terms}i")
        room = bytearray(_QUERY.size + lists.size)
        self._owned = tables, room
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(room))
        hashes = self.address + _QUERY.size
        _QUERY.pack_into(
            *(room, 0),
            constants.lexical_multiplier,
            constants.meaning_multiplier,
            constants.now_s,
            *(hashes, hashes + 8 * (terms + filters), hashes + 8 * terms),
            *map(_address_of, tables),
            *(terms, filters, *map(len, tables)),
            *(constants.lexical_share_bp, constants.full_relevance_bp, constants.floor),
            *(constants.meaning_min_bp, constants.meaning_only_min_bp),
            *(constants.origin is not None, constants.neutral),
            *constants.scale,
            *constants.weights,
            *(constants.origin or (0, 0, 0)),
            constants.vector,
        )
        lists.pack_into(
            *(room, _QUERY.size),
            *(term for term, _ in constants.terms),
            *constants.filters,
            *(weight for _, weight in constants.terms),
        )


_tables: dict[int, tuple[npt.NDArray[Any], int]] = {}
_TABLES_MAX = 64


def _address_of(table: npt.NDArray[Any]) -> int:
    """Return the address of a table; cached, as NumPy takes microseconds for it.

    They are kept with it, so that no other can have their number.
    """
    known = _tables.get(id(table))
    if known is None:
        if len(_tables) >= _TABLES_MAX:
            _tables.clear()
        known = _tables[id(table)] = table, pointer_to(table).value or 0
    return known[1]


_question = lru_cache(maxsize=64)(KernelQuery)
"""A search asks several times by the same constants."""


def _segment_of(part: IndexPart) -> _Segment:
    segment = part.segment
    arrays: dict[str, npt.NDArray[Any]] = {
        name: part.alive if name == "alive" else getattr(segment, name)
        for name in _ARRAYS
    }
    return _Segment(
        len(segment),
        segment.blocks,
        len(segment.hashes),
        len(segment.grouped_rows),
        len(segment.cell_reach),
        len(segment.axes),
        segment.as_of_s,
        *(pointer_to(array) for array in arrays.values()),
    )
