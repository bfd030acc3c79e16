"""The index folder: the newest index as files, put there by one process, read by many.

A manifest names the files of an index and takes the place of the one before in one
step; what it names is durable before. So a reader finds a whole index, whatever
was being written when a process or the machine died. Files that the last two manifests
do not name are removed; a process that has them mapped keeps them.
"""

import fcntl
import os
import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from msgspec.structs import replace as replace_members

from registry.index.building.builder import Builder, Merge
from registry.index.building.generation_files import PREFIX, GenerationFiles
from registry.index.building.manifest import (
    LOCK,
    MANIFEST,
    IndexManifest,
    Since,
    publish,
    read_manifest,
)
from registry.index.building.merging import Job, MergeFiles, merge_apart
from registry.index.building.recovery import is_current_code, level_at, recovered
from registry.index.columns.rows import Rows
from registry.index.columns.runs import file_of
from registry.index.segments.array_file import (
    AdoptedFile,
    Array,
    ArrayFile,
    FileDamaged,
    verify_file,
    write_file,
)
from registry.index.segments.levels import Level, Sizes
from registry.index.segments.part import IndexPart
from registry.index.segments.segment import Segment
from registry.index.segments.segment_file import (
    map_rows,
    map_segment,
    row_arrays,
    segment_arrays,
)
from registry.index.sources import digest_of_code
from registry.ranking.policy import Policy

MAPPED_ROWS = 5_000
"""The rows of a level with more lie in a file as well, for builders alone; those of a
smaller one are computed from its profiles again, which takes a second at most."""

APART_ROWS = 50_000
"""A merge of more is made by a process of its own; to start one takes half a second."""

LARGE_BYTES = 1 << 26
"""Size above which a file is removed on a thread, as it takes long."""

_NEVER = Since()


class IndexWriter:
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
        self._rows: dict[str, str] = {}  # by the name of the segment
        self._begun: dict[str, int] = {}  # and the thread that did
        self._named: set[str] = set()
        self._preallocated: tuple[Path, ...] = ()
        self._generations = GenerationFiles(folder)

    def close(self) -> None:
        """Another may write there then."""
        os.close(self._lock)

    def beat(self) -> None:
        """Show readers that the writer works."""
        os.utime(self._lock)

    def verify(self) -> None:
        """Read all files of the newest index and check their sums.

        Another thread may put an index out meanwhile. Raises: FileDamaged, OSError.
        """
        for name in self._named:
            try:
                verify_file(self._folder / name)
            except FileNotFoundError as error:
                if name in self._named:  # else newer ones took its place
                    raise FileDamaged(f"{name} is gone") from error
        read_manifest(self._folder)

    def keep(self, level: Level) -> Level:
        """The level as it lies in files, which no manifest names yet. Raises: OSError.

        Another thread may put an index out meanwhile.
        """
        with self._undone_on_failure():
            return self._keep(level)

    def _keep(self, level: Level) -> Level:
        if id(level.part.segment) in self._names:
            return level
        name = self._write_segment(level)
        segment, bodies = map_segment(self._folder / name)
        self._names[id(segment)] = (segment, name)
        return replace(
            level,
            rows=replace(self._mapped(level.rows, name), bodies=bodies),
            part=IndexPart(segment, level.part.alive),
            members=self._keep(level.members) if level.members else None,
        )

    def _write_segment(self, level: Level) -> str:
        segment, bodies = level.part.segment, level.rows.bodies.runs
        adopted = self._adopted_of(bodies.arrays[0])
        return self._write("segment", segment_arrays(segment, bodies, adopted), adopted)

    @contextmanager
    def preallocated(self) -> Iterator[tuple[Path, Path]]:
        """Files for profiles and hashes, from HEAD_ROOM on.

        They become those of a segment and its rows. Where that comes to nothing, they go
        with the next index.
        """
        names = self._begin("segment"), self._begin("rows")
        segment, rows = (
            self._folder.resolve() / f"{name}.{os.getpid()}" for name in names
        )
        self._preallocated = segment, rows
        try:
            yield segment, rows
        finally:
            self._preallocated = ()
            for name in names:
                self._begun.pop(name, None)

    def _adopted_of(self, array: Array) -> AdoptedFile | None:
        """Return the file of `preallocated` in which it lies, which becomes another's."""
        path = file_of(array)
        if path is None or path not in self._preallocated:
            return None
        self._preallocated = tuple(
            adopted for adopted in self._preallocated if adopted != path
        )
        return AdoptedFile(path, array)

    def merged(self, merge: Merge) -> Level:
        """The level that is made, as it lies in files, which no manifest names yet.

        Takes long; another thread may put indexes out meanwhile. merge: of an index that
        was put. Raises: OSError, MemoryError.
        """
        if sum(len(level.rows) for level in merge.levels) <= APART_ROWS:
            return self.keep(merge.merged())
        with self._undone_on_failure():
            return self._merged_apart(merge)

    def _merged_apart(self, merge: Merge) -> Level:
        state = self._write("state", ArrayFile(self._alive_of(merge.levels), {}))
        levels = self._manifest_of(merge.levels, merge.policy, state)
        files = MergeFiles(*map(self._begin, ("segment", "rows", "segment")))
        merge_apart(
            Job(
                folder=str(self._folder),
                policy=merge.policy,
                levels=levels,
                files=files,
            )
        )
        del self._begun[state]
        members = {}
        if (self._folder / files.members).exists():
            members[files.segment] = files.members
        manifest = replace_members(
            levels,
            parts=(files.segment,),
            rows={files.segment: files.rows},
            members=members,
        )
        level = level_at(self._folder, files.segment, manifest, merge.policy)
        self._name([level], manifest)
        return level

    def find(self, policy: Policy, sizes: Sizes) -> tuple[Builder, Since] | None:
        """The builder that put the newest index there, and what it holds.

        None where this code would have made other files, or they can't be read: the
        index is built from the start then.
        """
        try:
            manifest = read_manifest(self._folder)
            if manifest is None or not is_current_code(manifest, policy):
                return None
            builder = recovered(self._folder, manifest, policy, sizes)
        except (FileDamaged, OSError):
            return None
        self._name(builder.levels, manifest)
        self._named = manifest.files
        return builder, manifest.since

    def _name(self, levels: Iterable[Level], manifest: IndexManifest) -> None:
        for level, name in zip(levels, manifest.parts, strict=True):
            self._names[id(level.part.segment)] = (level.part.segment, name)
            if level.members:
                members = level.members.part.segment
                self._names[id(members)] = (members, manifest.members[name])
        self._rows |= manifest.rows

    def put(self, builder: Builder, since: Since = _NEVER) -> Builder:
        """Write the index for readers to find. Returns: the builder on its files.

        Raises: OSError.
        """
        with self._undone_on_failure():
            builder = replace(builder, levels=tuple(map(self._keep, builder.levels)))
            manifest = replace_members(
                self._manifest_of(
                    builder.levels,
                    builder.policy,
                    self._write("state", self._state_of(builder)),
                ),
                generation=builder.index.generation,
                code=digest_of_code(),
                since=since,
            )
            self._generations.add(builder.generation)
            publish(self._folder, manifest)
        named = manifest.files
        for name in named:
            self._begun.pop(name, None)
        self._remove_others(self._named | named)
        self._named = named
        return builder

    def _manifest_of(
        self, levels: Sequence[Level], policy: Policy, state: str
    ) -> IndexManifest:
        """Return the manifest of their files. levels: all that are kept."""
        parts = tuple(map(self._name_of, levels))
        return IndexManifest(
            policy=policy.digest,
            generation="",
            parts=parts,
            rows={name: self._rows[name] for name in parts if name in self._rows},
            members={
                self._name_of(level): self._name_of(level.members)
                for level in levels
                if level.members
            },
            state=state,
        )

    def _state_of(self, builder: Builder) -> ArrayFile:
        index = builder.index
        arrays: dict[str, Array] = {
            "dead_terms": index.dead_terms,
            "dead_counts": index.dead_counts,
        }
        numbers = {"cutoff": index.panel.cutoff, "size": len(index)}
        return ArrayFile({**self._alive_of(builder.levels), **arrays}, numbers)

    def _alive_of(self, levels: Sequence[Level]) -> dict[str, Array]:
        """Return, by the name of a segment, which of its rows live."""
        both = [*levels, *(level.members for level in levels)]
        return {self._name_of(level): level.part.alive for level in both if level}

    def _begin(self, kind: str) -> str:
        """The name of a file that is not removed before a manifest named it."""
        name = f"{kind}-{secrets.token_hex(8)}"
        self._begun[name] = threading.get_ident()
        return name

    def _write(
        self, kind: str, content: ArrayFile, adopted: AdoptedFile | None = None
    ) -> str:
        """The name of the file, see `_begin`. adopted: what is to be that file."""
        name = adopted.path.stem if adopted else self._begin(kind)
        write_file(self._folder / name, content)
        return name

    @contextmanager
    def _undone_on_failure(self) -> Iterator[None]:
        """Give up what this thread began on failure: it goes with the next index."""
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

    def _mapped(self, rows: Rows, segment: str) -> Rows:
        """Return the rows in a file of their own. segment: its name."""
        if len(rows) <= MAPPED_ROWS:
            return rows
        adopted = self._adopted_of(rows.hashes)
        name = self._write("rows", row_arrays(rows, adopted), adopted)
        self._rows[segment] = name
        return map_rows(self._folder / name, rows.bodies)

    def _remove_others(self, named: set[str]) -> None:
        named_files = {*named, *self._begun}
        for key, (_, name) in list(self._names.items()):
            if name not in named_files:
                del self._names[key]
                self._rows.pop(name, None)
        gone = [
            path
            for path in self._folder.iterdir()
            # While it is written, a file has more to its name.
            if {path.name, path.stem}.isdisjoint({*named_files, MANIFEST, LOCK})
            and not path.name.startswith(PREFIX)
        ]
        large = [path for path in gone if _size(path) > LARGE_BYTES]
        _unlink(set(gone).difference(large))
        if large:
            threading.Thread(target=_unlink, args=(large,), daemon=True).start()


def _size(path: Path) -> int:
    """Return the size of a file, 0 where it went meanwhile."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _unlink(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
