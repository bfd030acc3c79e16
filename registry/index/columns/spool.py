"""Rows as they are read, in bounded memory: what they say waits in files without a name."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.index.columns.content import BITS, content_of
from registry.index.columns.rows import Bodies, Rows, join
from registry.index.columns.runs import Runs, starts_of


class Spool:
    """folder: where there is room; the files end with the process or the last mapping.

    content: of all rows, see `content`.
    """

    def __init__(self, folder: Path, none: Rows) -> None:
        """none: rows of no sites."""
        self._bare = [none]
        self._said: list[npt.NDArray[np.int64]] = []
        self._sizes: list[npt.NDArray[np.int64]] = []
        self._hashes = _Column(folder, none.hashes.dtype)
        self._impacts = _Column(folder, none.impacts.dtype)
        self._bodies = _Column(folder, np.dtype(np.uint8))
        self.content = 0

    def add(self, rows: Rows) -> None:
        # While the bodies are at hand: later they would all be read once more.
        self.content = (self.content + content_of(rows.bodies)) % (1 << BITS)
        self._bare.append(rows.without_words())
        self._said.append(np.diff(rows.starts))
        self._sizes.append(rows.bodies.runs.lengths)
        self._hashes.add(rows.hashes)
        self._impacts.add(rows.impacts)
        self._bodies.add(rows.bodies.runs.packed())

    def close(self) -> None:
        """What is mapped stays."""
        for column in (self._hashes, self._impacts, self._bodies):
            column.close()

    def rows(self) -> Rows:
        """All that were added, mapped."""
        none = np.empty(0, np.int64)
        sizes = np.concatenate([none, *self._sizes])
        return replace(
            join(self._bare),
            starts=starts_of(np.concatenate([none, *self._said])),
            hashes=self._hashes.mapped(),
            impacts=self._impacts.mapped(),
            bodies=Bodies(Runs.of(starts_of(sizes), self._bodies.mapped())),
        )


class _Column:
    def __init__(self, folder: Path, dtype: np.dtype[Any]) -> None:
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115 — closed by the spool
        self._dtype = dtype

    def add(self, items: npt.NDArray[Any]) -> None:
        items.tofile(self._file)

    def close(self) -> None:
        self._file.close()

    def mapped(self) -> npt.NDArray[Any]:
        self._file.flush()
        if not self._file.tell():
            return np.empty(0, self._dtype)
        return np.asarray(np.memmap(self._file, self._dtype, mode="r"))
