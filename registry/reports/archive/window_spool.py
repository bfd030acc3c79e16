"""Parts of a window kept in files, and read again whenever it is their turn.

A report goes over its parts some ten times; mapped files let it do so without holding
more than one of them.
"""

from collections.abc import Collection, Iterator
from dataclasses import fields
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from registry.reports.window.columns import Rankings

_HEADERS = Lock()
"""NumPy reads them by `ast`, which CPython 3.11 may not do in two threads at a time: the
depth that it counts is one for all (SystemError)."""


class SpooledParts(Collection[Rankings]):
    """Parts in files. folder: empty, and there as long as the parts are read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._small: list[dict[str, Any]] = []

    def append(self, part: Rankings) -> None:
        small = {}
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, np.ndarray):
                np.save(self._file(len(self._small), field.name), value)
            else:
                small[field.name] = value
        self._small.append(small)

    def __iter__(self) -> Iterator[Rankings]:
        names = [field.name for field in fields(Rankings)]
        for number, small in enumerate(self._small):
            mapped = {
                name: _map(self._file(number, name))
                for name in names
                if name not in small
            }
            yield Rankings(**small, **mapped)

    def __len__(self) -> int:
        return len(self._small)

    def __contains__(self, part: object) -> bool:
        return any(part is other for other in self)

    def _file(self, number: int, name: str) -> Path:
        return self._folder / f"{number}.{name}.npy"


def _map(file: Path) -> Any:
    """Return a plain array, which costs no more to look at than one in memory."""
    with _HEADERS:
        try:
            return np.asarray(np.load(file, mmap_mode="r"))
        except ValueError:  # nothing to map: an array without entries
            return np.load(file)
