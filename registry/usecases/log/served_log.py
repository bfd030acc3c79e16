"""The log as outsiders see it: one checkpoint, and the parts of its tree and no more.

With a quorum of witnesses that checkpoint is the newest that so many have cosigned.
Whatever was once part of a published tree never changes, so parts are kept in memory.
"""

import asyncio
import gzip
from collections import OrderedDict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from registry.db.engine.engines import Connection, Engine, reading
from registry.db.log import cosignatures, leaves
from registry.db.log import entries as log
from registry.db.log.entries import LoggedRecord
from registry.tlog.merkle import HASH_BYTES
from registry.tlog.tiles import (
    Bundle,
    Tile,
    encode_bundle,
    format_tile_path,
    is_in_tree,
)
from registry.tlog.witness import Witness
from registry.usecases.log.filed_log import FiledLog

FRESH_S = 1.0
CACHE_BYTES = 32 * 1024 * 1024
GZIP_LEVEL = 5

Part = Tile | Bundle


@dataclass(frozen=True, slots=True)
class WitnessPolicy:
    """witnesses: those who are asked to cosign. quorum: how many must have, 0..all."""

    witnesses: tuple[Witness, ...] = ()
    quorum: int = 0

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(witness.id for witness in self.witnesses)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCheckpoint:
    """note: as it is served, with the cosignatures."""

    size: int
    root: bytes
    note: bytes


class ServedLog:
    """The log as a process serves it.

    engine: may read checkpoints, cosignatures, entries, hashes. filed: the published
    files, which have the entries that the tables have no more.
    """

    def __init__(
        self,
        engine: Engine,
        policy: WitnessPolicy | None = None,
        filed: FiledLog | None = None,
        *,
        cache_bytes: int = CACHE_BYTES,
    ) -> None:
        self._engine = reading(engine)
        self.policy = policy or WitnessPolicy()
        self._filed = filed
        self._cache = _PartCache(cache_bytes)
        self._known_size = 0
        self._newest: ServedCheckpoint | None = None
        self._read_at_s = 0.0

    async def checkpoint(self) -> ServedCheckpoint | None:
        """Return the newest checkpoint; None before the first."""
        async with self._engine.connect() as connection:
            self._newest = await self._read_checkpoint(connection)
        self._read_at_s = asyncio.get_running_loop().time()
        return self._newest

    async def covering(self, index: int) -> ServedCheckpoint | None:
        """A checkpoint of the last second whose tree has the leaf; None without one."""
        age_s = asyncio.get_running_loop().time() - self._read_at_s
        newest = self._newest
        if newest is None or index >= newest.size or age_s > FRESH_S:
            newest = await self.checkpoint()
        return newest if newest and index < newest.size else None

    async def has_published(self, size: int) -> bool:
        """Return whether there has been a tree of this size, or a larger one."""
        if size > self._known_size:
            await self.checkpoint()
        return size <= self._known_size

    async def find(self, connection: Connection, record_id: str) -> LoggedRecord | None:
        """Find a record by its id, in the tables or else in the files."""
        logged = await log.find_record(connection, record_id)
        if logged is None and self._filed:
            logged = await asyncio.to_thread(self._filed.find, record_id)
        return logged

    async def published(self, index: int | None) -> int | None:
        """The leaf's index, once the tree that is served has it."""
        if index is None or index < self._known_size:
            return index
        return None if await self.covering(index) is None else index

    async def read_part(self, part: Part, *, zipped: bool = False) -> bytes | None:
        """Read a tile or bundle; None if the published tree is smaller. zipped: by gzip."""
        if not is_in_tree(part, self._known_size):
            newest = await self.checkpoint()
            if newest is None or not is_in_tree(part, newest.size):
                return None
        content = self._cache.find(part, zipped=zipped)
        if content is None:
            content = (await self._load({part}))[part]
            if zipped:
                content = await self._zip(part, content)
        return content

    async def read_tiles(self, tiles: Iterable[Tile]) -> dict[Tile, bytes]:
        """Tiles of a published tree, be it an older one: cut out of the full tile."""
        wholes = {
            tile: tile.full if is_in_tree(tile.full, self._known_size) else tile
            for tile in tiles
        }
        contents = await self._load(set(wholes.values()))
        return {
            tile: contents[whole][: tile.width * HASH_BYTES]
            for tile, whole in wholes.items()
        }

    async def _read_checkpoint(self, connection: Connection) -> ServedCheckpoint | None:
        ids, quorum = self.policy.ids, self.policy.quorum
        newest = await cosignatures.newest_checkpoint(connection, ids, quorum)
        if newest is None:
            return None
        lines: Sequence[str] = ()
        if ids:
            lines = await cosignatures.lines_of(connection, newest.size, ids)
        self._known_size = max(self._known_size, newest.size)
        note = "".join([newest.note, *lines]).encode()
        return ServedCheckpoint(size=newest.size, root=newest.root, note=note)

    async def _load(self, parts: Collection[Part]) -> dict[Part, bytes]:
        """Parts of the published tree; what is not kept is read, and kept."""
        cached = {part: self._cache.find(part, zipped=False) for part in parts}
        loaded = {part: content for part, content in cached.items() if content}
        if missing := [part for part in parts if part not in loaded]:
            read: dict[Part, bytes] = {}
            if self._filed:
                read = await asyncio.to_thread(_read_filed, self._filed, missing)
            rest = [part for part in missing if part not in read]
            if rest:
                async with self._engine.connect() as connection:
                    read |= await _read_parts(connection, rest)
            for part, content in read.items():
                self._cache.keep(part, content, zipped=False)
            loaded |= read
        return loaded

    async def _zip(self, part: Part, plain: bytes) -> bytes:
        # A full bundle takes some milliseconds, in which others are answered.
        zipped = await asyncio.to_thread(gzip.compress, plain, GZIP_LEVEL, mtime=0)
        self._cache.keep(part, zipped, zipped=True)
        return zipped


class _PartCache:
    """The parts that were asked for last, as many as fit."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._parts: OrderedDict[tuple[Part, bool], bytes] = OrderedDict()

    def find(self, part: Part, *, zipped: bool) -> bytes | None:
        content = self._parts.get((part, zipped))
        if content is not None:
            self._parts.move_to_end((part, zipped))
        return content

    def keep(self, part: Part, content: bytes, *, zipped: bool) -> None:
        self._bytes -= len(self._parts.pop((part, zipped), b""))
        self._parts[part, zipped] = content
        self._bytes += len(content)
        while self._bytes > self._most_bytes:
            _, dropped = self._parts.popitem(last=False)
            self._bytes -= len(dropped)


def _read_filed(filed: FiledLog, parts: Sequence[Part]) -> dict[Part, bytes]:
    """Read from the files what is there; tables have all levels but the lowest."""
    lowest = [part for part in parts if isinstance(part, Bundle) or not part.level]
    read = {part: filed.read_part(part) for part in lowest}
    return {part: content for part, content in read.items() if content}


async def _read_parts(
    connection: Connection, parts: Sequence[Part]
) -> dict[Part, bytes]:
    """Raises: LookupError where rows are missing; caches would keep it so for a year."""
    tiles = [part for part in parts if not isinstance(part, Bundle)]
    contents: dict[Part, bytes] = {}
    if tiles:
        runs = await leaves.read_runs(connection, [tile.run for tile in tiles])
        for tile, hashes in zip(tiles, runs, strict=True):
            _verify_whole(tile, len(hashes) // HASH_BYTES)
            contents[tile] = hashes
    for part in parts:
        if isinstance(part, Bundle):
            bodies = await log.read_bodies(connection, part.first, part.width)
            _verify_whole(part, len(bodies))
            contents[part] = encode_bundle(bodies)
    return contents


def _verify_whole(part: Part, there: int) -> None:
    if there != part.width:
        raise LookupError(f"of {format_tile_path(part)} only {there} are stored")
