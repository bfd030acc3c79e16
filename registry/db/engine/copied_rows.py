"""Rows that PostgreSQL's binary COPY of one column brings, as they come in pieces.

After a header of 19 bytes each row is two bytes that count its columns, four of the
length, and so many of the column, which is never NULL; the numbers are big-endian. At the
end stand two bytes alone.
"""

from dataclasses import dataclass
from struct import Struct

import numpy as np
import numpy.typing as npt

HEADER_BYTES = 19
_ROW = Struct(">hI")
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class CopiedPage:
    """starts, lengths: of each row's column in the content.

    The content is there until more is added: the next page takes its room.
    """

    content: npt.NDArray[np.uint8]
    starts: Integers
    lengths: Integers


class CopiedRows:
    """room: bytes that a page is about to have; it grows where they are not enough."""

    def __init__(self, room: int = 0) -> None:
        self._room = np.empty(room + room // 8, np.uint8)
        self._begin, self._end = 0, 0
        self._at = HEADER_BYTES

    def add(self, piece: bytes) -> int:
        """Add a piece and return how many bytes are held now."""
        if self._begin:
            self._move_to_front()
        end = self._end + len(piece)
        if end > len(self._room):
            self._room = np.concatenate([self._room, np.empty(end, np.uint8)])
        self._room[self._end : end] = np.frombuffer(piece, np.uint8)
        self._end = end
        return end

    def page(self) -> CopiedPage:
        """All rows that are whole, which are held no longer."""
        content = self._room[self._begin : self._end]
        starts, lengths = find_rows(content, self._at)
        if len(starts):
            self._begin += int(starts[-1] + lengths[-1])
            self._at = 0
        return CopiedPage(content, starts, lengths)

    def _move_to_front(self) -> None:
        rest = self._room[self._begin : self._end].copy()
        self._room[: len(rest)] = rest
        self._begin, self._end = 0, len(rest)


def find_rows(held: npt.NDArray[np.uint8], at: int) -> tuple[Integers, Integers]:
    """Return starts and lengths of the columns of all whole rows from there on."""
    starts, lengths, content = [], [], held.data
    while len(content) - at >= _ROW.size:
        _, length = _ROW.unpack_from(content, at)
        if len(content) - at - _ROW.size < length:
            break
        starts.append(at + _ROW.size)
        lengths.append(length)
        at += _ROW.size + length
    return np.array(starts, np.int64), np.array(lengths, np.int64)
