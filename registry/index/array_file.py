"""Arrays in one file, to be mapped by many processes; whole or not there at all.

Eight bytes of magic, eight of the header's length, a JSON header, then the arrays, each
at a multiple of ALIGNMENT. All is little-endian.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64
_MAGIC = b"fairidx1"
_HEAD = len(_MAGIC) + 8


class FileDamaged(Exception):
    """It is not what was written."""


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """numbers: small values that go with the arrays."""

    arrays: Mapping[str, npt.NDArray[Any]]
    numbers: Mapping[str, int]


def write_file(path: Path, content: ArrayFile) -> None:
    """Written beside it and put in its place once it is durable."""
    places: dict[str, tuple[str, tuple[int, ...], int]] = {}
    size = 0
    for name, array in content.arrays.items():
        start = -(-size // ALIGNMENT) * ALIGNMENT
        places[name] = (array.dtype.str, array.shape, start)
        size = start + array.nbytes
    header = json.dumps(
        {"arrays": places, "numbers": dict(content.numbers), "size": size}
    ).encode()
    made = path.with_name(f"{path.name}.{os.getpid()}")
    with made.open("wb") as file:
        file.write(_MAGIC + len(header).to_bytes(8, "little") + header)
        base = _first(len(header))
        for name, array in content.arrays.items():
            file.seek(base + places[name][2])
            np.ascontiguousarray(array).tofile(file)
        file.truncate(base + size)
        file.flush()
        os.fsync(file.fileno())
    made.replace(path)


def map_file(path: Path) -> ArrayFile:
    """Read only, shared with whoever maps it too. Raises: FileDamaged, OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
        if head[: len(_MAGIC)] != _MAGIC:
            raise FileDamaged(f"{path.name} is no file of an index")
        length = int.from_bytes(head[len(_MAGIC) :], "little")
        try:
            header = json.loads(file.read(min(length, path.stat().st_size)))
        except ValueError as error:
            raise FileDamaged(f"{path.name} has no header") from error
    base = _first(length)
    if path.stat().st_size != base + header["size"]:
        raise FileDamaged(f"{path.name} is cut off")
    mapped = np.memmap(path, np.uint8, mode="r", offset=0)
    return ArrayFile(
        {
            name: _view(mapped, base + start, dtype, shape)
            for name, (dtype, shape, start) in header["arrays"].items()
        },
        header["numbers"],
    )


def _first(header_length: int) -> int:
    return -(-(_HEAD + header_length) // ALIGNMENT) * ALIGNMENT


def _view(
    mapped: npt.NDArray[np.uint8], start: int, dtype: str, shape: list[int]
) -> npt.NDArray[Any]:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.asarray(mapped[start : start + size]).view(dtype).reshape(shape)
