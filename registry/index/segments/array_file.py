"""Arrays in one file, to be mapped by many processes; whole or not there at all.

Eight bytes of magic, eight of the header's length, a JSON header, then the arrays, each
at a multiple of ALIGNMENT, then the CRC-32 of all that. All is little-endian. A reader
checks the sum before it maps a file: neither the header nor an offset that compiled code would
follow is read from a file that is not what was written.
"""

import json
import math
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from registry.index.columns.runs import Runs
from registry.index.columns.spool import SYNCED_BYTES

ALIGNMENT = 64
PIECE_BYTES = 1 << 23
"""Written so many at once: what they are read from lies anywhere in mapped files."""

HEAD_ROOM = 1 << 14
"""Bytes before the first array where that lies there before the others are known."""

_MAGIC = b"fairidx2"
_HEAD = len(_MAGIC) + 8
_SUM = 4


class FileDamaged(Exception):
    """A file that is not what was written."""


Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class AdoptedFile:
    """An array that lies in a file already, from HEAD_ROOM on: the first there."""

    path: Path
    array: Array


ArraySource = Array | Runs[Any] | AdoptedFile


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """numbers: small values that go with the arrays. Runs are read as one array."""

    arrays: Mapping[str, ArraySource]
    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MappedFile:
    arrays: Mapping[str, Array]
    numbers: Mapping[str, int]


def aligned_zeros(shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Zeros that lie in memory as they would in a file: pieces of it share no line."""
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    room = np.zeros(size + ALIGNMENT, np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + size].view(dtype).reshape(shape)


def write_file(path: Path, content: ArrayFile) -> None:
    """Written beside it and put in its place once it is durable."""
    layout: dict[str, tuple[str, tuple[int, ...], int]] = {}
    size = 0
    for name, array in content.arrays.items():
        start = -(-size // ALIGNMENT) * ALIGNMENT
        dtype, shape = _kind(array)
        layout[name] = (dtype.str, shape, start)
        size = start + math.prod(shape) * dtype.itemsize
    header = json.dumps(
        {"arrays": layout, "numbers": dict(content.numbers), "size": size}
    ).encode()
    adopted = next(
        (array for array in content.arrays.values() if isinstance(array, AdoptedFile)),
        None,
    )
    if adopted is not None:
        header = header.ljust(HEAD_ROOM - _HEAD)
    target = adopted.path if adopted else path.with_name(f"{path.name}.{os.getpid()}")
    with target.open("r+b" if adopted else "w+b") as file:
        file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
        base = _first(len(header))
        starts = {name: base + start for name, (_, _, start) in layout.items()}
        _write_arrays(file, content.arrays, starts)
        file.truncate(base + size)
        file.flush()
        file.write(_checksum_of(file).to_bytes(_SUM, "little"))
        file.flush()
        os.fsync(file.fileno())
    target.replace(path)


def _checksum_of(file: BinaryIO) -> int:
    """Return the sum of all of it; the file stands at its end then."""
    checksum = 0
    file.seek(0)
    while piece := file.read(PIECE_BYTES):
        checksum = zlib.crc32(piece, checksum)
    return checksum


def _write_arrays(
    file: BinaryIO, arrays: Mapping[str, ArraySource], starts: Mapping[str, int]
) -> None:
    unsynced = 0
    for name, array in arrays.items():
        file.seek(starts[name])
        for piece in _pieces(array):
            piece.tofile(file)
            unsynced += piece.nbytes
            if unsynced >= SYNCED_BYTES:
                os.fdatasync(file.fileno())
                unsynced = 0


def _kind(array: ArraySource) -> tuple[np.dtype[Any], tuple[int, ...]]:
    if isinstance(array, AdoptedFile):
        return _kind(array.array)
    if isinstance(array, Runs):
        return array.arrays[0].dtype, (int(array.lengths.sum()),)
    return array.dtype, array.shape


def _pieces(array: ArraySource) -> Iterator[Array]:
    if isinstance(array, AdoptedFile):
        return
    if isinstance(array, Runs):
        yield from array.pieces(PIECE_BYTES // array.arrays[0].itemsize)
        return
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    for start in range(0, len(flat), PIECE_BYTES):
        yield flat[start : start + PIECE_BYTES]


def map_file(path: Path) -> MappedFile:
    """Read only, shared with all that map it; its pages are at hand then.

    Raises: FileDamaged, OSError.
    """
    mapped = verify_file(path)
    length = int.from_bytes(mapped[len(_MAGIC) : _HEAD].tobytes(), "little")
    header = json.loads(mapped[_HEAD : _HEAD + length].tobytes())
    base = _first(length)
    return MappedFile(
        {
            name: _view(mapped, base + start, dtype, shape)
            for name, (dtype, shape, start) in header["arrays"].items()
        },
        header["numbers"],
    )


def verify_file(path: Path) -> npt.NDArray[np.uint8]:
    """Return the mapped bytes of a file that is what was written.

    Raises: FileDamaged, OSError.
    """
    if path.stat().st_size < _HEAD + _SUM:
        raise FileDamaged(f"{path.name} is cut off")
    mapped = np.memmap(path, np.uint8, mode="r")
    if mapped[: len(_MAGIC)].tobytes() != _MAGIC:
        raise FileDamaged(f"{path.name} is no file of an index")
    expected = int.from_bytes(mapped[-_SUM:].tobytes(), "little")
    if zlib.crc32(mapped[:-_SUM].data) != expected:
        raise FileDamaged(f"{path.name} is not what was written")
    return mapped


def _first(header_length: int) -> int:
    return -(-(_HEAD + header_length) // ALIGNMENT) * ALIGNMENT


def _view(
    mapped: npt.NDArray[np.uint8], start: int, dtype: str, shape: list[int]
) -> npt.NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.asarray(mapped[start : start + size]).view(dtype).reshape(shape)
