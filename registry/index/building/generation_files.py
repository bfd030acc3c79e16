"""Generations of the index of the last days, beside its files, for requests for proofs.

A file is a run of frames, a generation each: FRAME, then the entries of the two tables
that are other than before, as `keyed_tree` has them; the first frame has all. Nothing
here is durable or trusted: a generation is named by the hash of what it commits to.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from struct import Struct

import numpy as np
import numpy.typing as npt

from registry.records.generation import NO_SITES, NO_WORDS, Generation
from registry.tlog.keyed_tree import KEY_BYTES, KeyedTree

PREFIX = "generations-"
RETENTION_S = 2 * 86_400.0
FRAME = Struct("<32s32sQQ")
"""Digests of policy and generation; the bytes of sites and words that follow."""

SPARE_BYTES = 1 << 20
"""A file takes so many bytes of changes, and as many again as its first frame has."""

_ALGORITHM = "sha256:"


class GenerationFiles:
    """Writer of the one process that builds in the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / PREFIX
        self._room = 0
        self._last: Generation | None = None

    def add(self, generation: Generation) -> None:
        """Raises: OSError."""
        if self._last is None or self._room < 0:
            self._begin(generation)
        elif self._last.roots != generation.roots:
            frame = _frame(generation, self._last)
            with self._path.open("ab") as file:
                file.write(frame)
            self._room -= len(frame)
        self._last = generation

    def _begin(self, generation: Generation) -> None:
        frame = _frame(generation, Generation(policy=generation.policy))
        self._path = self._folder / f"{PREFIX}{time.time_ns():020}"
        self._path.write_bytes(frame)
        self._room = len(frame) + SPARE_BYTES
        for path in list(self._folder.glob(f"{PREFIX}*")):
            if path.stat().st_mtime < time.time() - RETENTION_S:
                path.unlink()


def _frame(generation: Generation, before: Generation) -> bytes:
    sites = generation.sites.changes_since(before.sites)
    words = generation.words.changes_since(before.words)
    names = map(_digest, (generation.policy, generation.roots.name))
    return FRAME.pack(*names, len(sites), len(words)) + sites + words


def _digest(name: str) -> bytes:
    return bytes.fromhex(name.removeprefix(_ALGORITHM))


def read_generation(folder: Path, name: str) -> Generation | None:
    """Return a generation of the last days; None where it can't be read.

    Raises: OSError.
    """
    try:
        wanted = _digest(name)
    except ValueError:
        return None
    for path in sorted(folder.glob(f"{PREFIX}*"), reverse=True):
        if not path.stat().st_size:  # it is begun just now
            continue
        # Mapped, for strangers ask for names that nobody has: the frames' heads are read.
        generation = _read(np.memmap(path, np.uint8, mode="r"), wanted)
        if generation is not None and generation.roots.name == name:
            return generation
    return None


def _read(content: npt.NDArray[np.uint8], wanted: bytes) -> Generation | None:
    sites, words = [], []
    for policy, name, own_sites, own_words in _frames(content):
        sites.append(own_sites)
        words.append(own_words)
        if name == wanted:
            return Generation(
                policy=_ALGORITHM + policy.hex(),
                sites=_tree(NO_SITES, np.concatenate(sites)),
                words=_tree(NO_WORDS, np.concatenate(words)),
            )
    return None


def _frames(
    content: npt.NDArray[np.uint8],
) -> Iterator[tuple[bytes, bytes, npt.NDArray[np.uint8], npt.NDArray[np.uint8]]]:
    at = 0
    while at + FRAME.size <= len(content):
        policy, name, sites, words = FRAME.unpack_from(content.data, at)
        first = at + FRAME.size
        at = first + sites + words
        if at > len(content):  # it is being written, or never was to its end
            return
        yield policy, name, content[first : first + sites], content[at - words : at]


def _tree(none: KeyedTree, entries: npt.NDArray[np.uint8]) -> KeyedTree:
    """Return the tree of all entries; of a key, the last counts."""
    rows = entries.reshape(-1, none.entry_bytes)[::-1]
    keys = rows[:, :KEY_BYTES].copy().view(">u8")[:, 0].astype(np.uint64)
    distinct, last = np.unique(keys, return_index=True)
    return none.updated(distinct, rows[last, KEY_BYTES:])
