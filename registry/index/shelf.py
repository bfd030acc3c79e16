"""The shelf: the newest index as files, put there by one process, searched by many.

A manifest names the files of an index and takes the place of the one before in one
step; what it names is durable before. So whoever reads it finds a whole index, whatever
was being written when a process or the machine died. Files that the last two manifests
do not name are removed; whoever has them mapped keeps them.
"""

import fcntl
import os
import secrets
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from registry.index.array_file import ArrayFile, map_file, write_file
from registry.index.index import Index
from registry.index.panel import Panel
from registry.index.part import Part
from registry.index.rows import Bodies
from registry.index.segment import RECORD, Segment
from registry.ranking.policy import Policy

MANIFEST, LOCK = "manifest.json", "lock"
_ARRAYS = tuple(each.name for each in fields(Segment) if each.name != "as_of_s")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Names of files. parts: segments. state: what changes with every index."""

    policy: str
    generation: str
    parts: tuple[str, str]
    members: str
    state: str

    @property
    def files(self) -> set[str]:
        return {*self.parts, self.members, self.state}


class ShelfWriter:
    """The one of its folder; files that stay the same are written once."""

    def __init__(self, folder: Path) -> None:
        """Raises: BlockingIOError where another process writes there."""
        folder.mkdir(parents=True, exist_ok=True)
        # Held until the process ends, however it ends.
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._folder = folder
        self._written: dict[int, tuple[Segment, str]] = {}
        self._named: set[str] = set()

    def put(self, index: Index) -> None:
        """Once it returns, readers find this index. Raises: OSError."""
        members = index.panel.parts[0].segment
        segments = (*(part.segment for part in index.parts), members)
        for segment, bodies in zip(segments, (*index.bodies, _NO_BODIES), strict=True):
            if id(segment) not in self._written:
                self._written[id(segment)] = (
                    segment,
                    self._write_segment(segment, bodies),
                )
        self._written = {id(one): self._written[id(one)] for one in segments}
        names = [self._written[id(one)][1] for one in segments]
        manifest = Manifest(
            policy=index.policy.digest,
            generation=index.generation,
            parts=(names[0], names[1]),
            members=names[2],
            state=self._write_state(index),
        )
        self._publish(manifest)
        self._remove_others(self._named | manifest.files)
        self._named = manifest.files

    def _write_segment(self, segment: Segment, bodies: Bodies) -> str:
        arrays: dict[str, npt.NDArray[Any]] = {
            name: getattr(segment, name) for name in _ARRAYS
        }
        arrays["body_starts"], arrays["body_content"] = bodies.starts, bodies.content
        return self._write("segment", ArrayFile(arrays, {"as_of_s": segment.as_of_s}))

    def _write_state(self, index: Index) -> str:
        base, fresh = index.parts
        arrays: dict[str, npt.NDArray[Any]] = {
            "alive_base": base.alive,
            "alive_fresh": fresh.alive,
            "alive_members": index.panel.parts[0].alive,
            "dead_terms": index.dead_terms,
            "dead_counts": index.dead_counts,
        }
        numbers = {"cutoff": index.panel.cutoff, "size": len(index)}
        return self._write("state", ArrayFile(arrays, numbers))

    def _write(self, kind: str, content: ArrayFile) -> str:
        name = f"{kind}-{secrets.token_hex(8)}"
        write_file(self._folder / name, content)
        return name

    def _publish(self, manifest: Manifest) -> None:
        made = self._folder / f"{MANIFEST}.new"
        made.write_bytes(msgspec.json.encode(manifest))
        made.replace(self._folder / MANIFEST)

    def _remove_others(self, named: set[str]) -> None:
        for path in self._folder.iterdir():
            if path.name not in {*named, MANIFEST, LOCK}:
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
        names = {*manifest.parts, manifest.members}
        self._segments = {name: self._segment(name) for name in names}
        index = self._assemble(manifest)
        self._seen = manifest
        return index

    def _segment(self, name: str) -> tuple[Segment, Bodies]:
        if name in self._segments:
            return self._segments[name]
        file = map_file(self._folder / name)
        arrays = {each: file.arrays[each] for each in _ARRAYS}
        arrays["records"] = arrays["records"].view(RECORD)
        segment = Segment(**arrays, as_of_s=file.numbers["as_of_s"])
        return segment, Bodies(file.arrays["body_starts"], file.arrays["body_content"])

    def _assemble(self, manifest: Manifest) -> Index:
        state = map_file(self._folder / manifest.state)
        names = (*manifest.parts, manifest.members)
        alive = ("alive_base", "alive_fresh", "alive_members")
        base, fresh, members = (
            Part(self._segments[name][0], state.arrays[own])
            for name, own in zip(names, alive, strict=True)
        )
        return Index(
            policy=self._policy,
            generation=manifest.generation,
            parts=(base, fresh),
            bodies=tuple(self._segments[name][1] for name in manifest.parts),
            dead_terms=state.arrays["dead_terms"],
            dead_counts=state.arrays["dead_counts"],
            panel=Panel(
                parts=(members, fresh),
                cutoff=state.numbers["cutoff"],
                size=state.numbers["size"],
            ),
        )


_NO_BODIES = Bodies(np.zeros(1, np.int64), np.empty(0, np.uint8))
