"""Rows of the token table added up: what words mean together.

Compiled, one call does it; else NumPy, to the same bits. Pieces are bytes, which are
soonest put together: of each the number of its row and its weight, 32 bits both.
"""

import ctypes
from collections.abc import Sequence
from ctypes import c_char, c_double, c_int64
from struct import Struct
from typing import Protocol

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointer_to
from registry.ranking.vectors import DIMENSIONS, SUM_LIMIT, quantise_request

Table = npt.NDArray[np.int16]
"""One row of DIMENSIONS for each piece."""
Floats = npt.NDArray[np.float64]
"""Whole numbers in them, and sums below 2^53: exact in any order."""
_PIECE = Struct("=2i")
pack_piece = _PIECE.pack
"""row, weight."""
_Vector = c_char * DIMENSIONS


class Pooling(Protocol):
    """Shared by threads. pieces: see `pack_piece`."""

    def request(self, pieces: bytes) -> bytes:
        """The vector of a request, see `vectors.quantise_request`.

        Raises: ValueError if a sum is not below `vectors.SUM_LIMIT`.
        """

    def sums(self, fields: Sequence[tuple[bytes, int]]) -> Floats:
        """Shape (DIMENSIONS,). fields: pieces, and what their weights are times."""


class PlainPooling:
    def __init__(self, table: Table) -> None:
        self._table = table

    def request(self, pieces: bytes) -> bytes:
        return quantise_request(self.sums([(pieces, 1)]))

    def sums(self, fields: Sequence[tuple[bytes, int]]) -> Floats:
        pairs = [np.frombuffer(own, np.int32).reshape(-1, 2) for own, _ in fields]
        weights = [
            own[:, 1] * float(times)
            for own, (_, times) in zip(pairs, fields, strict=True)
        ]
        rows = self._table.take(np.concatenate(pairs)[:, 0], axis=0)
        total: Floats = np.concatenate(weights) @ rows.astype(np.float64)
        return total


class CompiledPooling:
    def __init__(self, table: Table, library: ctypes.CDLL) -> None:
        self._table = np.ascontiguousarray(table)  # kept alive for its address
        self._rows = pointer_to(self._table)
        self._pool_pieces = library.pool_pieces
        self._pool_request = library.pool_request
        self._pool_request.restype = c_double

    def request(self, pieces: bytes) -> bytes:
        vector = _Vector()
        count = c_int64(len(pieces) // _PIECE.size)
        if self._pool_request(self._rows, pieces, count, vector) >= SUM_LIMIT:
            raise ValueError("the sums are too large to be scaled exactly")
        return vector.raw

    def sums(self, fields: Sequence[tuple[bytes, int]]) -> Floats:
        total = np.zeros(DIMENSIONS)
        added = pointer_to(total)
        for pieces, times in fields:
            count = c_int64(len(pieces) // _PIECE.size)
            self._pool_pieces(self._rows, pieces, count, c_int64(times), added)
        return total


def pooling_of(table: Table) -> Pooling:
    library = find_library()
    return PlainPooling(table) if library is None else CompiledPooling(table, library)
