"""Single entries of a log, each proven to stand in the tree of a signed checkpoint."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar

from registry.auditor.source import LogSource
from registry.errors import detail_of
from registry.tlog import refusals
from registry.tlog.checkpoint import Checkpoint
from registry.tlog.edge import ReadRun
from registry.tlog.follow import parse_part
from registry.tlog.merkle import leaf_hashes, verify_inclusion
from registry.tlog.proof import (
    inclusion_runs,
    prove_inclusion,
    read_from_tiles,
    tiles_for,
)
from registry.tlog.refusals import LogInvalid, ProofInvalid
from registry.tlog.tiles import TILE_WIDTH, Bundle, HashRun, Tile, format_tile_path

K = TypeVar("K")
V = TypeVar("V")

CACHED_BUNDLES, CACHED_TILES = 16, 64


class ProvenEntries:
    """head: verified. What was read last is kept for a while."""

    def __init__(self, source: LogSource, head: Checkpoint) -> None:
        self._source = source
        self.head = head
        self._bundles: OrderedDict[int, tuple[bytes, ...]] = OrderedDict()
        self._tiles: OrderedDict[Tile, bytes] = OrderedDict()

    async def at(self, index: int) -> bytes:
        """The entry at an index below the size. Raises: LogInvalid, LogUnreadable."""
        bundle = await self.bundle(index // TILE_WIDTH)
        return bundle[index % TILE_WIDTH]

    async def bundle(self, number: int) -> tuple[bytes, ...]:
        """The entries from number * 256 on."""
        entries = self._bundles.get(number)
        if entries is None:
            entries = await self._read_bundle(number)
            _cache(self._bundles, number, entries, CACHED_BUNDLES)
        return entries

    async def bundles_from(
        self, is_before: Callable[[bytes], bool]
    ) -> AsyncIterator[tuple[int, tuple[bytes, ...]]]:
        """Yield bundles with their numbers, from the one where what is sought may begin.

        is_before: whether an entry stands before that; of entries in order the first do.
        """
        number, end = 0, -(-self.head.size // TILE_WIDTH)
        high = end
        while high - number > 1:
            middle = (number + high) // 2
            if is_before((await self.bundle(middle))[0]):
                number = middle
            else:
                high = middle
        for following in range(number, end):
            yield following, await self.bundle(following)

    async def proof(self, index: int) -> tuple[bytes, ...]:
        """Return the hashes from the leaf at index to the root. Not verified here."""
        size = self.head.size
        read = await self.reader(inclusion_runs(index, size))
        return prove_inclusion(index, size, read)

    async def reader(self, runs: Iterable[HashRun]) -> ReadRun:
        """Return a reader of these runs of hashes, unverified."""
        tiles = tiles_for(runs, self.head.size)
        fetched = {tile: await self._tile(tile) for tile in tiles}
        return read_from_tiles(fetched, self.head.size)

    async def _tile(self, tile: Tile) -> bytes:
        """Return a tile of the requested width, unverified."""
        hashes = self._tiles.get(tile)
        if hashes is None:
            hashes = b"".join(await self._read(tile))
            _cache(self._tiles, tile, hashes, CACHED_TILES)
        return hashes

    async def _read_bundle(self, number: int) -> tuple[bytes, ...]:
        """Read the leaves of a bundle; the proof of the first covers all of them."""
        first = number * TILE_WIDTH
        width = min(TILE_WIDTH, self.head.size - first)
        bundle = Bundle(index=number, width=width)
        entries = await self._read(bundle)
        leaves = leaf_hashes(entries)
        tile = Tile(level=0, index=number, width=width)
        if b"".join(leaves) != await self._tile(tile):
            detail = "an entry does not hash to its leaf"
            raise LogInvalid(
                refusals.LOG_ENTRY_FORGED, detail, path=format_tile_path(bundle)
            )
        await self._verify(first, leaves[0], format_tile_path(tile))
        return entries

    async def _verify(self, index: int, leaf: bytes, path: str) -> None:
        size, root = self.head.size, self.head.root
        proof = await self.proof(index)
        with LogInvalid.on(
            ProofInvalid, refusals.LOG_TILE_FORGED, detail_of, path=path
        ):
            verify_inclusion(leaf, proof, index=index, size=size, root=root)

    async def _read(self, part: Tile | Bundle) -> tuple[bytes, ...]:
        """Read a part; a partial one that is gone has been replaced by the full one."""
        for candidate in dict.fromkeys((part, part.full)):
            data = await self._source.fetch(format_tile_path(candidate))
            if data is not None:
                return parse_part(candidate, data)[: part.width]
        raise LogInvalid(refusals.LOG_MISSING, "not found", path=format_tile_path(part))


def _cache(cache: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    cache[key] = value
    while len(cache) > most:
        cache.popitem(last=False)
