"""From the terms of each row to the rows of each term: the postings of a segment.

Terms stand in the order of their hashes, postings in the order of the rows, so the
compiled way and NumPy's come to the same bytes.
"""

import ctypes
from ctypes import c_int64
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to
from registry.index.columns.rows import Rows
from registry.index.columns.runs import starts_of
from registry.index.segments.array_file import aligned_zeros

DENSE_SHARE = 8
"""A term in more than this part of the rows is a column of a byte a row."""

FREQUENT_WINDOWS = 4
"""A term with more postings a window than this, on average, has its windows stored."""

_NO_CAPACITY, _NO_MEMORY = -1, -2
_ROOM = 1 << 18
_PLACED = ("postings", "columns", "blocks", "peaks")
Integers = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[Any]]


def inverted(rows: Rows, window: int) -> Columns:
    """The members of `Segment` that tell of terms. window: rows in one."""
    library = find_library()
    if library is None:
        return invert_plainly(rows, window)
    return invert_compiled(rows, window, library)


def _empty(
    hashes: npt.NDArray[np.uint64], counts: Integers, n: int, width: int
) -> Columns:
    """All but the postings themselves. counts: rows a term. width: of a window."""
    windows = -(-n // width)
    is_dense = counts * DENSE_SHARE > n
    is_frequent = is_dense | (counts > FREQUENT_WINDOWS * windows)
    starts = starts_of(np.where(is_dense, 0, counts))
    frequent = np.count_nonzero(is_frequent)
    return {
        "hashes": hashes,
        "containing": counts.astype(np.uint32),
        "starts": starts,
        "postings": np.empty(starts[-1], np.uint32),
        "column_of": _numbers(is_dense),
        "frequent_of": _numbers(is_frequent),
        "columns": aligned_zeros(
            (int(np.count_nonzero(is_dense)), windows * width), np.uint8
        ),
        "blocks": np.zeros((frequent, windows + 1), np.uint32),
        "peaks": np.zeros((frequent, windows), np.uint8),
    }


def _numbers(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """The number of each chosen one among the chosen, else -1."""
    return np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.int32)


# ---- compiled ----


def invert_compiled(rows: Rows, window: int, library: ctypes.CDLL) -> Columns:
    """See `csrc/inversion.c`. Raises: MemoryError."""
    numbers, hashes, counts = _number_terms(rows.hashes, library)
    order = np.argsort(hashes)
    made = _empty(hashes[order], counts[order], len(rows), window)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    of_terms = [made[name][place] for name in ("starts", "column_of", "frequent_of")]
    spans = rows.runs_of(numbers, np.arange(len(rows)))
    said = (numbers, rows.impacts, spans.starts, spans.lengths)
    kept = [np.ascontiguousarray(one) for one in said]
    library.place_terms.restype = c_int64
    placed = library.place_terms(
        *map(pointer_to, kept),
        *(c_int64(len(rows)), c_int64(window)),
        *map(pointer_to, of_terms),
        *(c_int64(len(order)), c_int64(len(made["peaks"]))),
        *map(pointer_to, (made[name] for name in _PLACED)),
    )
    if placed == _NO_MEMORY:
        raise MemoryError
    np.cumsum(made["blocks"], axis=1, out=made["blocks"])
    return made


def _number_terms(
    said: npt.NDArray[np.uint64], library: ctypes.CDLL
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64], Integers]:
    """The number of each term as it came, their hashes, and how often each came."""
    said = np.ascontiguousarray(said)
    numbers = np.empty(len(said), np.uint32)
    library.number_terms.restype = c_int64
    room = _ROOM
    while True:
        hashes, counts = np.empty(room, np.uint64), np.empty(room, np.int64)
        found = library.number_terms(
            *(pointer_to(said), c_int64(len(said)), pointer_to(numbers)),
            *(pointer_to(hashes), pointer_to(counts), c_int64(room)),
        )
        if found == _NO_MEMORY:
            raise MemoryError
        if found != _NO_CAPACITY:
            return numbers, hashes[:found], counts[:found]
        room *= 8


# ---- with NumPy ----


def invert_plainly(rows: Rows, window: int) -> Columns:
    hashes, counts, postings = _postings(rows)
    made = _empty(hashes, counts, len(rows), window)
    _note_frequent(made, starts_of(counts), postings, window)
    made["postings"] = postings[~np.repeat(made["column_of"] >= 0, counts)]
    return made


def _postings(
    rows: Rows,
) -> tuple[npt.NDArray[np.uint64], Integers, npt.NDArray[np.uint32]]:
    """The distinct hashes, how many rows say each, and the postings, dense ones too."""
    hashes = np.sort(rows.hashes)
    hashes = hashes[np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]]
    term = np.searchsorted(hashes, rows.hashes)
    own = np.arange(len(rows), dtype=np.uint32)
    if rows.runs is not None:
        own[rows.runs] = own.copy()
    row = np.repeat(own, np.diff(rows.starts))
    # One sort of numbers, by term and row, is several times as fast as one of places.
    packed = term.astype(np.uint64) << np.uint64(32)
    packed |= row << np.uint32(8) | rows.impacts
    packed.sort()
    return hashes, np.bincount(term, minlength=len(hashes)), packed.astype(np.uint32)


def _note_frequent(
    made: Columns, starts: Integers, postings: npt.NDArray[np.uint32], width: int
) -> None:
    """Fill in columns, blocks and peaks. starts: of the postings, dense ones too."""
    edges = np.arange(made["peaks"].shape[1] + 1, dtype=np.uint64) * width
    for number, term in enumerate(np.flatnonzero(made["frequent_of"] >= 0)):
        own = postings[starts[term] : starts[term + 1]]
        row, impact = own >> 8, own.astype(np.uint8)
        made["blocks"][number] = np.searchsorted(row, edges)
        of = row // width
        first = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        made["peaks"][number, of[first]] = np.maximum.reduceat(impact, first)
        if (column := made["column_of"][term]) >= 0:
            made["columns"][column, row] = impact
