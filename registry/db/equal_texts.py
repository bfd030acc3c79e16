"""Which texts of a column are the same, so that each is read once; compiled or by a dict.

Compiled, a text that many others lie in the way of may be taken for a new one.
"""

import ctypes
from collections.abc import Sequence
from ctypes import c_int64
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.compiled.library import find_library, pointers_to
from registry.fairness.arrays import Booleans, Integers

_SLOTS_A_TEXT = 2


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Text t is data[at[t] : at[t] + lengths[t]]."""

    data: npt.NDArray[np.uint8]
    at: Integers
    lengths: Integers

    @classmethod
    def of(cls, column: Sequence[bytes | None]) -> "Texts":
        """What is None is empty."""
        told = [one or b"" for one in column]
        lengths = np.fromiter(map(len, told), np.int64, len(told))
        return cls.behind_each_other(b"".join(told), lengths)

    @classmethod
    def behind_each_other(cls, data: bytes, lengths: Integers) -> "Texts":
        """Raises: ValueError where they do not come to the whole."""
        if lengths.sum() != len(data):
            raise ValueError(f"{len(data)} bytes of texts, {lengths.sum()} told of")
        return cls(np.frombuffer(data, np.uint8), np.cumsum(lengths) - lengths, lengths)

    def __len__(self) -> int:
        return len(self.at)

    def only(self, kept: Booleans | slice) -> "Texts":
        at, lengths = self.at[kept], self.lengths[kept]
        return Texts(self.data, *map(np.ascontiguousarray, (at, lengths)))

    def __getitem__(self, text: int) -> bytes:
        begin = int(self.at[text])
        return self.data[begin : begin + int(self.lengths[text])].tobytes()

    def distinct(self) -> tuple[Integers, Integers]:
        """One text of each that are the same; for each text, which of those it is."""
        library = find_library()
        first = (
            self.first_plainly() if library is None else self.first_compiled(library)
        )
        return np.unique(first, return_inverse=True)

    def first_plainly(self) -> Integers:
        data, ends = self.data.tobytes(), (self.at + self.lengths).tolist()
        told = [
            data[begin:end] for begin, end in zip(self.at.tolist(), ends, strict=True)
        ]
        last = dict(zip(reversed(told), range(len(told) - 1, -1, -1), strict=True))
        return np.fromiter(map(last.__getitem__, told), np.int64, len(told))

    def first_compiled(self, library: ctypes.CDLL) -> Integers:
        slots = np.full(1 << (_SLOTS_A_TEXT * len(self.at)).bit_length(), -1, np.int32)
        first = np.empty(len(self.at), np.int32)
        library.first_equals(
            *pointers_to(self.data, self.at, self.lengths, slots, first),
            *(c_int64(len(self.at)), c_int64(len(slots))),
        )
        return first.astype(np.int64)
