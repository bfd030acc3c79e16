"""Runs of items, given by their starts: taken and joined without being copied."""

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

ARRAYS_MAX = 256
"""Runs that lie in more arrays are copied into one, so that none is kept for a few."""

AT_ONCE = 65_536

Number = TypeVar("Number", bound=np.generic)
Integers = npt.NDArray[np.int64]


def starts_of(lengths: Integers) -> Integers:
    """Return where runs of these lengths start, and the end of the last."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def no_source(count: int) -> npt.NDArray[np.uint16]:
    """Return the source of `count` runs in one array; takes no memory."""
    return np.broadcast_to(np.uint16(0), count)


def file_of(array: npt.NDArray[Any]) -> Path | None:
    """The one in which it lies, if it is all that is mapped of that."""
    base: Any = array.base
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    if not isinstance(base, np.memmap) or base.filename is None:
        return None
    return Path(base.filename)


def release(array: npt.NDArray[Any]) -> None:
    """Give back the pages that were read of an array in a mapped file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    return array.view(np.uint8).data


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs(Generic[Number]):
    """arrays: where the items lie. source, starts, lengths: of each run."""

    arrays: tuple[npt.NDArray[Number], ...]
    source: npt.NDArray[np.uint16]
    starts: Integers
    lengths: Integers

    @classmethod
    def of(cls, starts: Integers, items: npt.NDArray[Number]) -> "Runs[Number]":
        """starts: see `starts_of`."""
        return cls(
            arrays=(items,),
            source=no_source(len(starts) - 1),
            starts=starts[:-1],
            lengths=np.diff(starts),
        )

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, number: int) -> npt.NDArray[Number]:
        start = int(self.starts[number])
        end = start + int(self.lengths[number])
        items: npt.NDArray[Number] = self.arrays[self.source[number]][start:end]
        return items

    def take(self, order: Integers) -> "Runs[Number]":
        """The runs of these numbers, in this order."""
        return Runs(
            arrays=self.arrays,
            source=self.source[order],
            starts=self.starts[order],
            lengths=self.lengths[order],
        )

    def packed(self) -> npt.NDArray[Number]:
        """Return all items, one run after the other."""
        size = self.arrays[0].itemsize
        packed = np.empty(int(self.lengths.sum()), self.arrays[0].dtype)
        arrays = [_bytes_of(np.ascontiguousarray(array)) for array in self.arrays]
        target, filled = _bytes_of(packed), 0
        for first in range(0, len(self), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            starts = self.starts[some] * size
            spans = zip(
                self.source[some].tolist(),
                starts.tolist(),
                (starts + self.lengths[some] * size).tolist(),
                strict=True,
            )
            joined = b"".join(
                [arrays[source][start:end] for source, start, end in spans]
            )
            target[filled : filled + len(joined)] = joined
            filled += len(joined)
        return packed

    def pieces(self, items: int) -> Iterator[npt.NDArray[Number]]:
        """Yield the items of `packed`, in pieces of about so many."""
        ends = np.cumsum(self.lengths)
        total = int(ends[-1]) if len(ends) else 0
        edges = np.searchsorted(ends, np.arange(items, total, items))
        for numbers in np.split(np.arange(len(self)), np.unique(edges)):
            yield self.take(numbers).packed()
            for array in self.arrays:
                release(array)


def join_runs(parts: Sequence[Runs[Number]]) -> Runs[Number]:
    """The runs of all parts, one after the other; at least one part."""
    if len(parts) == 1:
        return parts[0]
    counts = [len(part.arrays) for part in parts]
    before = np.cumsum([0, *counts[:-1]])
    joined = Runs(
        arrays=tuple(array for part in parts for array in part.arrays),
        source=np.concatenate(
            [part.source + np.uint16(n) for n, part in zip(before, parts, strict=True)]
        ),
        starts=np.concatenate([part.starts for part in parts]),
        lengths=np.concatenate([part.lengths for part in parts]),
    )
    if len(joined.arrays) <= ARRAYS_MAX:
        return joined
    return Runs.of(starts_of(joined.lengths), joined.packed())
