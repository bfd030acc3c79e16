"""Rows as they are read, in bounded memory: what they say lies in files.

Profiles and hashes lie where they stay, in what become the files of their segment and of
its rows; impacts wait in a file without a name.
"""

import os
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from registry.index.columns.content import digests_of
from registry.index.columns.rows import Bodies, Rows, join
from registry.index.columns.runs import Integers, Runs, no_source, starts_of

SYNCED_BYTES = 1 << 22
"""Bytes made durable at once: the more there are, the longer a commit of the database
waits for them, where both are on one disk."""


class Spool:
    """folder: where there is room; the files end with the process or the last mapping.

    digests: of all rows, a part each time some were added, see `content`.
    """

    def __init__(
        self, folder: Path, none: Rows, bodies: Path, hashes: Path, begin: int
    ) -> None:
        """Open the files. none: rows of no sites.

        bodies, hashes: files for these, from `begin` on.
        """
        self._bare = [none]
        self._lengths: list[Integers] = []
        self._starts: list[Integers] = []
        self._sizes: list[Integers] = []
        self._hashes = _Column(hashes.open("w+b"), none.hashes.dtype, hashes, begin)
        self._impacts = _Column(_nameless(folder), none.impacts.dtype)
        self._bodies = _Column(bodies.open("w+b"), np.dtype(np.uint8), bodies, begin)
        self.digests = [digests_of(none.bodies)]

    def add(self, rows: Rows) -> None:
        # While the bodies are at hand: later they would all be read once more.
        self.digests.append(digests_of(rows.bodies))
        self._bare.append(rows.without_words())
        self._lengths.append(np.diff(rows.starts))
        self._hashes.add(rows.hashes)
        self._impacts.add(rows.impacts)
        self._add_bodies(rows.bodies.runs)

    def _add_bodies(self, bodies: Runs[np.uint8]) -> None:
        """Add bodies, with what lies between them where they come in one array."""
        if not len(bodies):
            return
        if len(bodies.arrays) > 1:
            bodies = Runs.of(starts_of(bodies.lengths), bodies.packed())
        first, last = int(bodies.starts[0]), int(bodies.starts[-1] + bodies.lengths[-1])
        self._starts.append(bodies.starts + (self._bodies.size - first))
        self._sizes.append(bodies.lengths)
        self._bodies.add(bodies.arrays[0][first:last])

    def close(self) -> None:
        """Close the files; what is mapped stays."""
        for column in (self._hashes, self._impacts, self._bodies):
            column.close()

    def rows(self) -> Rows:
        """All that were added, mapped."""
        none = np.empty(0, np.int64)
        sizes = np.concatenate([none, *self._sizes])
        return replace(
            join(self._bare),
            starts=starts_of(np.concatenate([none, *self._lengths])),
            hashes=self._hashes.mapped(),
            impacts=self._impacts.mapped(),
            bodies=Bodies(
                Runs(
                    arrays=(self._bodies.mapped(),),
                    source=no_source(len(sizes)),
                    starts=np.concatenate([none, *self._starts]),
                    lengths=sizes,
                )
            ),
        )


def _nameless(folder: Path) -> IO[bytes]:
    return TemporaryFile(dir=folder)


class _Column:
    """size: bytes that it has, from `begin` on in its file."""

    def __init__(
        self,
        file: IO[bytes],
        dtype: np.dtype[Any],
        path: Path | None = None,
        begin: int = 0,
    ) -> None:
        """path: of the file, if it has one."""
        self._file = file
        self._path = path
        self._dtype = dtype
        self._begin = begin
        self._unsynced = 0
        self.size = 0
        file.seek(begin)

    def add(self, items: npt.NDArray[Any]) -> None:
        items.tofile(self._file)
        self.size += items.nbytes
        self._unsynced += items.nbytes if self._begin else 0
        if self._unsynced >= SYNCED_BYTES:
            os.fdatasync(self._file.fileno())
            self._unsynced = 0

    def close(self) -> None:
        self._file.close()

    def mapped(self) -> npt.NDArray[Any]:
        self._file.flush()
        if not self.size:
            return np.empty(0, self._dtype)
        lies_in = self._path or self._file
        mapped = np.memmap(lies_in, self._dtype, mode="r", offset=self._begin)
        return np.asarray(mapped)
