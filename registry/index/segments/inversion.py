"""Inversion of the terms of each row to the rows of each term: the postings of a segment.

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

FREQUENT_BLOCKS = 4
"""A term with more postings a block than this, on average, has its blocks stored."""

_NO_CAPACITY, _NO_MEMORY = -1, -2
_ROOM = 1 << 18
_PLACED = ("postings", "columns", "block_starts", "block_max")
Integers = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[Any]]


def inverted(rows: Rows, block: int) -> Columns:
    """The members of `Segment` that tell of terms. block: rows in one."""
    library = find_library()
    if library is None:
        return invert_numpy(rows, block)
    return invert_compiled(rows, block, library)


def _empty(
    hashes: npt.NDArray[np.uint64], counts: Integers, n: int, width: int
) -> Columns:
    """All but the postings themselves. counts: rows a term. width: of a block."""
    blocks = -(-n // width)
    is_dense = counts * DENSE_SHARE > n
    is_frequent = is_dense | (counts > FREQUENT_BLOCKS * blocks)
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
            (int(np.count_nonzero(is_dense)), blocks * width), np.uint8
        ),
        "block_starts": np.zeros((frequent, blocks + 1), np.uint32),
        "block_max": np.zeros((frequent, blocks), np.uint8),
    }


def _numbers(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    """The number of each chosen one among the chosen, else -1."""
    return np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.int32)


def invert_compiled(rows: Rows, block: int, library: ctypes.CDLL) -> Columns:
    """See `csrc/inversion.c`. Raises: MemoryError."""
    numbers, hashes, counts = _number_terms(rows.hashes, library)
    order = np.argsort(hashes)
    columns = _empty(hashes[order], counts[order], len(rows), block)
    at = np.empty_like(order)
    at[order] = np.arange(len(order))
    of_terms = [columns[name][at] for name in ("starts", "column_of", "frequent_of")]
    spans = rows.runs_of(numbers, np.arange(len(rows)))
    arrays = (numbers, rows.impacts, spans.starts, spans.lengths)
    contiguous = [np.ascontiguousarray(array) for array in arrays]
    library.place_terms.restype = c_int64
    placed = library.place_terms(
        *map(pointer_to, contiguous),
        *(c_int64(len(rows)), c_int64(block)),
        *map(pointer_to, of_terms),
        *(c_int64(len(order)), c_int64(len(columns["block_max"]))),
        *map(pointer_to, (columns[name] for name in _PLACED)),
    )
    if placed == _NO_MEMORY:
        raise MemoryError
    np.cumsum(columns["block_starts"], axis=1, out=columns["block_starts"])
    return columns


def _number_terms(
    hashes_of_rows: npt.NDArray[np.uint64], library: ctypes.CDLL
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64], Integers]:
    """The number of each term as it came, their hashes, and how often each came."""
    hashes_of_rows = np.ascontiguousarray(hashes_of_rows)
    numbers = np.empty(len(hashes_of_rows), np.uint32)
    library.number_terms.restype = c_int64
    room = _ROOM
    while True:
        hashes, counts = np.empty(room, np.uint64), np.empty(room, np.int64)
        distinct = library.number_terms(
            *(
                pointer_to(hashes_of_rows),
                c_int64(len(hashes_of_rows)),
                pointer_to(numbers),
            ),
            *(pointer_to(hashes), pointer_to(counts), c_int64(room)),
        )
        if distinct == _NO_MEMORY:
            raise MemoryError
        if distinct != _NO_CAPACITY:
            return numbers, hashes[:distinct], counts[:distinct]
        room *= 8


def invert_numpy(rows: Rows, block: int) -> Columns:
    hashes, counts, postings = _postings(rows)
    columns = _empty(hashes, counts, len(rows), block)
    _note_frequent(columns, starts_of(counts), postings, block)
    columns["postings"] = postings[~np.repeat(columns["column_of"] >= 0, counts)]
    return columns


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
    # One sort of numbers, by term and row, is several times as fast as one of positions.
    packed = term.astype(np.uint64) << np.uint64(32)
    packed |= row << np.uint32(8) | rows.impacts
    packed.sort()
    return hashes, np.bincount(term, minlength=len(hashes)), packed.astype(np.uint32)


def _note_frequent(
    columns: Columns, starts: Integers, postings: npt.NDArray[np.uint32], width: int
) -> None:
    """Fill in columns, block_starts and block_max. starts: of the postings, dense ones too."""
    edges = np.arange(columns["block_max"].shape[1] + 1, dtype=np.uint64) * width
    for number, term in enumerate(np.flatnonzero(columns["frequent_of"] >= 0)):
        own = postings[starts[term] : starts[term + 1]]
        row, impact = own >> 8, own.astype(np.uint8)
        columns["block_starts"][number] = np.searchsorted(row, edges)
        of = row // width
        first = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
        columns["block_max"][number, of[first]] = np.maximum.reduceat(impact, first)
        if (column := columns["column_of"][term]) >= 0:
            columns["columns"][column, row] = impact
