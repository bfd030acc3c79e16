"""The log as files below one folder, as tlog-tiles names them, for a CDN or a mirror.

Of the log only the checkpoint and the entry bundles are fetched: every tile is computed
from the entries. What comes out of it hashes to the signed root, or nothing of it is
published. How files appear is `log_folder`'s part.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from registry.errors import Refused, RegistryError
from registry.tlog import refusals
from registry.tlog.checkpoint import Checkpoint, verify_by_any, verify_checkpoint
from registry.tlog.edge import TreeEdge, edge_runs, rebuild_edge
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import VerifierKey
from registry.tlog.proof import read_from_tiles, tiles_for
from registry.tlog.refusals import LogInvalid
from registry.tlog.tiles import (
    TILE_WIDTH,
    Bundle,
    Tile,
    bundles_of,
    encode_bundle,
    format_tile_path,
    hash_count,
    parse_bundle,
    tiles_of,
)
from registry.usecases.log.log_folder import LogFolder

CHECKPOINT = "checkpoint"

Fetch = Callable[[str], Awaitable[bytes | None]]
"""The bytes at a path below the log's prefix; None where there is nothing."""
OnProgress = Callable[[int, int], None]
"""Callback of progress: entries in the folder, entries of the tree."""


@dataclass(slots=True, kw_only=True)
class Published:
    """entries: of the tree now. fetched: bundles; repaired: files that were not right."""

    entries: int
    fetched: int = 0
    written: int = 0
    repaired: int = 0


async def publish_files(
    folder: Path,
    fetch: Fetch,
    log_key: VerifierKey,
    *,
    former_keys: Sequence[VerifierKey] = (),
    quick: bool = False,
    on_progress: OnProgress = lambda _done, _size: None,
) -> Published:
    """Bring the folder to the log's newest checkpoint.

    former_keys: with which the log may have signed what was published before.
    quick: of what is there read only the edge, which the checkpoint beside it vouches
    for; otherwise every file is checked, and written again where it is wrong.
    Raises: LogInvalid if the log is not sound or not the one of the folder; OSError.
    """
    log_folder = LogFolder(folder)
    with log_folder.locked():
        before = _previous(log_folder, (log_key, *former_keys))
        return await _publish(
            log_folder, fetch, log_key, before, quick=quick, on_progress=on_progress
        )


async def _publish(
    log_folder: LogFolder,
    fetch: Fetch,
    log_key: VerifierKey,
    before: Checkpoint | None,
    *,
    quick: bool,
    on_progress: OnProgress,
) -> Published:
    note = await fetch(CHECKPOINT)
    if note is None:
        raise LogInvalid(refusals.LOG_MISSING, "not found", path=CHECKPOINT)
    head = verify_checkpoint(note, log_key).checkpoint
    _verify_growth(before, head)
    growth = _Growth(
        log_folder=log_folder,
        fetch=fetch,
        before=before,
        on_progress=on_progress,
        summary=Published(entries=head.size),
    )
    edge = await growth.run(
        _saved_edge(log_folder, before if quick else None), head.size
    )
    if edge.root() != head.root:  # the folder was wrong: write all of it again
        growth.trusts_folder = False
        edge = await growth.run(TreeEdge(), head.size)
    if edge.root() != head.root:
        log_folder.drop_staged()
        raise LogInvalid(
            refusals.LOG_ROOT_WRONG, "the entries do not give its root", path=CHECKPOINT
        )
    growth.stage_edge()
    log_folder.publish(CHECKPOINT, note)
    log_folder.drop_folders(_outgrown(head.size))
    return growth.summary


@dataclass(slots=True, kw_only=True)
class _Growth:
    """The tree, grown from entries.

    before: the checkpoint that it has to pass by. trusts_folder: what is there may be
    taken from there.
    """

    log_folder: LogFolder
    fetch: Fetch
    before: Checkpoint | None
    on_progress: OnProgress
    summary: Published
    trusts_folder: bool = True
    edge: TreeEdge = field(default_factory=TreeEdge)

    async def run(self, start: TreeEdge, size: int) -> TreeEdge:
        """The edge at `size`. Raises: LogInvalid."""
        self.edge = _cut(start)
        for bundle in islice(bundles_of(size), self.edge.size // TILE_WIDTH, None):
            leaves = await self._shelve(bundle)
            self._verify_passes_by(leaves)
            self._append(bundle, leaves)
            self.on_progress(self.edge.size, size)
        return self.edge

    def stage_edge(self) -> None:
        """The incomplete tiles of the tree that is about to be published."""
        for level, hashes in enumerate(self.edge.levels):
            if hashes:
                index = hash_count(self.edge.size, level) // TILE_WIDTH
                tile = Tile(level=level, index=index, width=len(hashes))
                self._put(tile, b"".join(hashes))

    def _verify_passes_by(self, leaves: Sequence[bytes]) -> None:
        """Verify the prefix from the log alone; a wrong one is then the log's doing."""
        begun, before = self.edge, self.before
        if before and begun.size < before.size <= begun.size + len(leaves):
            prefix, _ = begun.append(leaves[: before.size - begun.size])
            if prefix.root() != before.root and not self.trusts_folder:
                self.log_folder.drop_staged()
                raise LogInvalid(
                    refusals.LOG_FORKED,
                    f"its first {before.size} entries are not those published before",
                    path=CHECKPOINT,
                )

    async def _shelve(self, bundle: Bundle) -> list[bytes]:
        """Return the leaf hashes of a bundle that is in the folder or staged."""
        path = format_tile_path(bundle)
        there = self.log_folder.read(path)
        leaves = _leaves_of(bundle, there) if self.trusts_folder else None
        if leaves is not None and self._agrees(bundle, leaves):
            return leaves
        content = await self.fetch(path) or await self._fetch_full(bundle)
        leaves = _leaves_of(bundle, content)
        if content is None or leaves is None:
            raise LogInvalid(refusals.LOG_MISSING, "not found, or no bundle", path=path)
        self.summary.fetched += 1
        self.summary.repaired += there is not None and there != content
        if there != content:
            self._stage(path, content)
        return leaves

    def _agrees(self, bundle: Bundle, leaves: Sequence[bytes]) -> bool:
        """A bundle and its tile are written together; if they differ, one is wrong."""
        tile = Tile(level=0, index=bundle.index, width=bundle.width)
        return self.log_folder.read(format_tile_path(tile)) in (None, b"".join(leaves))

    async def _fetch_full(self, bundle: Bundle) -> bytes | None:
        content = await self.fetch(format_tile_path(bundle.full))
        if content is None:
            return None
        return encode_bundle(parse_bundle(content, TILE_WIDTH)[: bundle.width])

    def _append(self, bundle: Bundle, leaves: Sequence[bytes]) -> None:
        """Append leaves and stage every tile that they complete."""
        before = self.edge
        self.edge, nodes = before.append(leaves)
        if bundle.width < TILE_WIDTH:
            return
        self._put(Tile(level=0, index=bundle.index), b"".join(leaves))
        for node in nodes:
            index, offset = divmod(node.position, TILE_WIDTH)
            if offset == TILE_WIDTH - 1:
                hashes = (*before.levels[node.level], node.hash)
                self._put(Tile(level=node.level, index=index), b"".join(hashes))

    def _put(self, tile: Tile, content: bytes) -> None:
        path = format_tile_path(tile)
        there = self.log_folder.read(path)
        if there != content:
            self.summary.repaired += there is not None
            self._stage(path, content)

    def _stage(self, path: str, content: bytes) -> None:
        self.log_folder.stage(path, content)
        self.summary.written += 1


def _previous(log_folder: LogFolder, keys: Sequence[VerifierKey]) -> Checkpoint | None:
    """Return the checkpoint published last; a note that this log did not sign is no checkpoint."""
    note = log_folder.read_published(CHECKPOINT)
    if note is None:
        return None
    try:
        return verify_by_any(note, keys)
    except RegistryError as refused:
        raise LogInvalid(
            refusals.LOG_FORKED,
            f"the one in the folder is not of this log: {refused.problem.detail}",
            path=CHECKPOINT,
        ) from refused


def _verify_growth(before: Checkpoint | None, head: Checkpoint) -> None:
    if before is None:
        return
    if head.size < before.size:
        raise LogInvalid(
            refusals.LOG_SHRUNK,
            f"size {head.size} after size {before.size}",
            path=CHECKPOINT,
        )
    if head.size == before.size and head.root != before.root:
        raise LogInvalid(
            refusals.LOG_FORKED, f"two trees of size {head.size}", path=CHECKPOINT
        )


def _saved_edge(log_folder: LogFolder, before: Checkpoint | None) -> TreeEdge:
    """The edge that the folder's tiles give, if its checkpoint vouches for it."""
    if before is None:
        return TreeEdge()
    tiles = tiles_for(edge_runs(before.size), before.size)
    contents = {tile: log_folder.read(format_tile_path(tile)) or b"" for tile in tiles}
    try:
        edge = rebuild_edge(before.size, read_from_tiles(contents, before.size))
    except Refused:
        return TreeEdge()
    return edge if edge.root() == before.root else TreeEdge()


def _cut(edge: TreeEdge) -> TreeEdge:
    """The edge before the leaves of its incomplete bundle."""
    rest = edge.size % TILE_WIDTH
    if not rest:
        return edge
    return TreeEdge(size=edge.size - rest, levels=_trimmed(((), *edge.levels[1:])))


def _trimmed(levels: tuple[tuple[bytes, ...], ...]) -> tuple[tuple[bytes, ...], ...]:
    """Drop the empty levels at the top: the digits of a number begin with none."""
    while levels and not levels[-1]:
        levels = levels[:-1]
    return levels


def _leaves_of(bundle: Bundle, content: bytes | None) -> list[bytes] | None:
    if content is None:
        return None
    try:
        return [leaf_hash(entry) for entry in parse_bundle(content, bundle.width)]
    except Refused:
        return None


def _outgrown(size: int) -> Iterator[str]:
    """Yield the folders of partial parts of those that are full by now."""
    for part in chain[Tile | Bundle](tiles_of(size), bundles_of(size)):
        if part.width == TILE_WIDTH:
            yield f"{format_tile_path(part)}.p"
