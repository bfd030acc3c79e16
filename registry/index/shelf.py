"""The shelf: the newest index as files, put there by one process, searched by many.

A manifest names the files of an index and takes the place of the one before in one
step; what it names is durable before. So whoever reads it finds a whole index, whatever
was being written when a process or the machine died. Files that the last two manifests
do not name are removed; whoever has them mapped keeps them.
"""

import fcntl
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from registry.index.array_file import Array, ArrayFile, map_file, write_file
from registry.index.builder import Builder
from registry.index.index import Index
from registry.index.levels import Level
from registry.index.panel import Panel
from registry.index.part import Part
from registry.index.rows import Bodies, Rows
from registry.index.runs import Runs, no_source, starts_of
from registry.index.segment import RECORD, Segment
from registry.ranking.policy import Policy

MANIFEST, LOCK = "manifest.json", "lock"
MAPPED_ROWS = 20_000
"""The rows of a level with more are kept in a file as well, for the builder alone."""

_PAGE = 4096
_ARRAYS = tuple(each.name for each in fields(Segment) if each.name != "as_of_s")
_COLUMNS = tuple(each.name for each in fields(Rows) if each.name != "bodies")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Names of files. parts: segments. state: what changes with every index.

    members: of the panel in a part, by its name, where not all of its rows are.
    """

    policy: str
    generation: str
    parts: tuple[str, ...]
    members: dict[str, str]
    state: str

    @property
    def segments(self) -> set[str]:
        return {*self.parts, *self.members.values()}


class ShelfWriter:
    """The one of its folder; files that stay the same are written once."""

    def __init__(self, folder: Path) -> None:
        """Raises: BlockingIOError where another process writes there."""
        folder.mkdir(parents=True, exist_ok=True)
        # Held until the process ends, however it ends.
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._lock = lock
        self._folder = folder
        self._names: dict[int, tuple[Segment, str]] = {}
        self._begun: dict[str, int] = {}  # and the thread that did
        self._named: set[str] = set()

    def close(self) -> None:
        """Another may write there then."""
        os.close(self._lock)

    def keep(self, level: Level) -> Level:
        """The level as it lies in files, which no manifest names yet. Raises: OSError.

        Another thread may put an index out meanwhile.
        """
        with self._undone_on_failure():
            return self._kept(level)

    def _kept(self, level: Level) -> Level:
        if id(level.part.segment) in self._names:
            return level
        name = self._write("segment", _told(level.part.segment, level.rows.bodies.runs))
        segment, bodies = _map_segment(self._folder / name)
        self._names[id(segment)] = (segment, name)
        return replace(
            level,
            rows=replace(self._mapped(level.rows), bodies=bodies),
            part=Part(segment, level.part.alive),
            members=self._kept(level.members) if level.members else None,
        )

    def put(self, builder: Builder) -> Builder:
        """Once it returns, readers find this index. Returns: the builder on its files.

        Raises: OSError.
        """
        with self._undone_on_failure():
            builder = replace(builder, levels=tuple(map(self._kept, builder.levels)))
            manifest = self._manifest_of(builder)
            self._publish(manifest)
        named = {*manifest.segments, manifest.state}
        for name in named:
            self._begun.pop(name, None)
        self._remove_others(self._named | named)
        self._named = named
        return builder

    def _manifest_of(self, builder: Builder) -> Manifest:
        """With a file of its state. builder: all whose levels are kept."""
        return Manifest(
            policy=builder.policy.digest,
            generation=builder.index.generation,
            parts=tuple(map(self._name_of, builder.levels)),
            members={
                self._name_of(one): self._name_of(one.members)
                for one in builder.levels
                if one.members
            },
            state=self._write("state", self._state_of(builder)),
        )

    def _state_of(self, builder: Builder) -> ArrayFile:
        index = builder.index
        levels = [*builder.levels, *(one.members for one in builder.levels)]
        alive = {self._name_of(one): one.part.alive for one in levels if one}
        dead = {"dead_terms": index.dead_terms, "dead_counts": index.dead_counts}
        numbers = {"cutoff": index.panel.cutoff, "size": len(index)}
        return ArrayFile({**alive, **dead}, numbers)

    def _write(self, kind: str, content: ArrayFile) -> str:
        """The name of the file, which is not removed before a manifest named it."""
        name = f"{kind}-{secrets.token_hex(8)}"
        self._begun[name] = threading.get_ident()
        write_file(self._folder / name, content)
        return name

    @contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        """What this thread began is nobody's then, and goes with the next index."""
        try:
            yield
        except BaseException:
            own = threading.get_ident()
            for name, thread in list(self._begun.items()):
                if thread == own:
                    del self._begun[name]
            raise

    def _name_of(self, level: Level) -> str:
        return self._names[id(level.part.segment)][1]

    def _mapped(self, rows: Rows) -> Rows:
        """In a file that ends with the process."""
        if len(rows) <= MAPPED_ROWS:
            return rows
        columns = {name: getattr(rows, name) for name in _COLUMNS}
        name = self._write("rows", ArrayFile(columns, {}))
        mapped = map_file(self._folder / name)
        (self._folder / name).unlink()
        del self._begun[name]
        return Rows(**mapped.arrays, bodies=rows.bodies)

    def _publish(self, manifest: Manifest) -> None:
        made = self._folder / f"{MANIFEST}.new"
        made.write_bytes(msgspec.json.encode(manifest))
        made.replace(self._folder / MANIFEST)

    def _remove_others(self, named: set[str]) -> None:
        kept = {*named, *self._begun}
        for key, (_, name) in list(self._names.items()):
            if name not in kept:
                del self._names[key]
        for path in self._folder.iterdir():
            # While it is written, a file has more to its name.
            own = path.name if path.name in {MANIFEST, LOCK} else path.stem
            if own not in {*kept, MANIFEST, LOCK}:
                path.unlink(missing_ok=True)


class ShelfReader:
    """Keeps what is mapped while the next index names it too."""

    def __init__(self, folder: Path, policy: Policy) -> None:
        self._folder = folder
        self._policy = policy
        self._seen: Manifest | None = None
        self._segments: dict[str, tuple[Segment, Bodies]] = {}

    def newest(self) -> Index | None:
        """None where there is none of this policy, or the one that was given before.

        Raises: FileDamaged, OSError, also where a file went while it was opened: the
        next manifest is there then.
        """
        try:
            told = (self._folder / MANIFEST).read_bytes()
        except FileNotFoundError:
            return None
        manifest = msgspec.json.decode(told, type=Manifest)
        if manifest == self._seen or manifest.policy != self._policy.digest:
            return None
        self._segments = {name: self._segment(name) for name in manifest.segments}
        index = self._assemble(manifest)
        self._seen = manifest
        return index

    def _segment(self, name: str) -> tuple[Segment, Bodies]:
        if name in self._segments:
            return self._segments[name]
        segment, bodies = _map_segment(self._folder / name)
        for array in _ARRAYS:
            _touch(getattr(segment, array))
        return segment, bodies

    def _assemble(self, manifest: Manifest) -> Index:
        state = map_file(self._folder / manifest.state)
        parts = {
            name: Part(segment, state.arrays[name])
            for name, (segment, _) in self._segments.items()
        }
        return Index(
            policy=self._policy,
            generation=manifest.generation,
            parts=tuple(parts[name] for name in manifest.parts),
            bodies=tuple(self._segments[name][1] for name in manifest.parts),
            dead_terms=state.arrays["dead_terms"],
            dead_counts=state.arrays["dead_counts"],
            panel=Panel(
                parts=tuple(
                    parts[manifest.members.get(name, name)] for name in manifest.parts
                ),
                cutoff=state.numbers["cutoff"],
                size=state.numbers["size"],
            ),
        )


def _told(segment: Segment, bodies: Runs[np.uint8]) -> ArrayFile:
    arrays: dict[str, Array | Runs[Any]] = {
        name: getattr(segment, name) for name in _ARRAYS
    }
    arrays["body_starts"] = starts_of(bodies.lengths)[:-1]
    arrays["body_lengths"], arrays["body_content"] = bodies.lengths, bodies
    return ArrayFile(arrays, {"as_of_s": segment.as_of_s})


def _map_segment(path: Path) -> tuple[Segment, Bodies]:
    file = map_file(path)
    arrays = {each: file.arrays[each] for each in _ARRAYS}
    arrays["records"] = arrays["records"].view(RECORD)
    segment = Segment(**arrays, as_of_s=file.numbers["as_of_s"])
    bodies = Runs(
        arrays=(file.arrays["body_content"],),
        source=no_source(len(segment)),
        starts=file.arrays["body_starts"],
        lengths=file.arrays["body_lengths"],
    )
    return segment, Bodies(bodies)


def _touch(array: Array) -> None:
    """Have its pages at hand before the first search needs them."""
    array.reshape(-1).view(np.uint8)[::_PAGE].max(initial=0)
