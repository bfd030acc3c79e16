"""The newest index of a folder, mapped for searching."""

import time
from pathlib import Path

from registry.index.building.manifest import (
    LOCK,
    IndexManifest,
    read_manifest,
    stamp_of,
)
from registry.index.columns.rows import Bodies
from registry.index.query.eligible_estimate import EligibleEstimate
from registry.index.query.index import Index
from registry.index.segments.array_file import FileDamaged, map_file
from registry.index.segments.part import IndexPart
from registry.index.segments.segment import Segment
from registry.index.segments.segment_file import map_segment
from registry.ranking.policy import Policy


class IndexReader:
    """Keeps what is mapped while the next index names it too."""

    def __init__(self, folder: Path, policy: Policy) -> None:
        self._folder = folder
        self._policy = policy
        self._seen: IndexManifest | None = None
        self._stamp: tuple[int, ...] = ()
        self._segments: dict[str, tuple[Segment, Bodies]] = {}

    def is_changed(self) -> bool:
        """Return whether there may be an index that was not read; takes no time."""
        return stamp_of(self._folder) != self._stamp

    def writer_silence_s(self) -> float | None:
        """Return the seconds since the writer's last heartbeat; None: there never was one."""
        try:
            return time.time() - (self._folder / LOCK).stat().st_mtime
        except OSError:
            return None

    def newest(self) -> Index | None:
        """Return the newest index; None if not of this policy, or already returned.

        Raises: FileDamaged, OSError, also where a file went while it was opened: the
        next manifest is there then.
        """
        stamp = stamp_of(self._folder)
        try:
            index = self._read_newest()
        except FileDamaged:
            self._stamp = stamp  # it stays so: to read it again takes time for nothing
            raise
        self._stamp = stamp
        return index

    def _read_newest(self) -> Index | None:
        manifest = read_manifest(self._folder)
        if manifest is None or manifest == self._seen:
            return None
        if manifest.policy != self._policy.digest:
            return None
        self._segments = {name: self._segment(name) for name in manifest.segments}
        index = self._assemble(manifest)
        self._seen = manifest
        return index

    def _segment(self, name: str) -> tuple[Segment, Bodies]:
        if name in self._segments:
            return self._segments[name]
        return map_segment(self._folder / name)

    def _assemble(self, manifest: IndexManifest) -> Index:
        state = map_file(self._folder / manifest.state)
        parts = {
            name: IndexPart(segment, state.arrays[name])
            for name, (segment, _) in self._segments.items()
        }
        return Index(
            policy=self._policy,
            generation=manifest.generation,
            parts=tuple(parts[name] for name in manifest.parts),
            bodies=tuple(self._segments[name][1] for name in manifest.parts),
            dead_terms=state.arrays["dead_terms"],
            dead_counts=state.arrays["dead_counts"],
            panel=EligibleEstimate(
                parts=tuple(
                    parts[manifest.members.get(name, name)] for name in manifest.parts
                ),
                cutoff=state.numbers["cutoff"],
                size=state.numbers["size"],
            ),
        )
