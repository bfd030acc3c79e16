"""Rows of the token table added up: what words mean together.

Pieces are bytes, which are soonest put together: of each the number of its row and its
weight, 32 bits both.
"""

from collections.abc import Sequence
from struct import Struct

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.int16]
"""Rows of numbers, one for each piece."""
Floats = npt.NDArray[np.float64]
"""Arrays of whole numbers with sums below 2^53: exact in any order."""
_PIECE = Struct("=2i")
pack_piece = _PIECE.pack
"""row, weight."""


class Pooling:
    """Shared by threads. pieces: see `pack_piece`."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def sums(self, fields: Sequence[tuple[bytes, int]]) -> Floats:
        """Return shape (columns of the table,). fields: pieces, and what their weights are times."""
        pairs = [np.frombuffer(pieces, np.int32).reshape(-1, 2) for pieces, _ in fields]
        weights = [
            pieces[:, 1] * float(times)
            for pieces, (_, times) in zip(pairs, fields, strict=True)
        ]
        rows = self._table.take(np.concatenate(pairs)[:, 0], axis=0)
        total: Floats = np.concatenate(weights) @ rows.astype(np.float64)
        return total
