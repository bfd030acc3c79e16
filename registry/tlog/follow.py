"""Verification of a whole served log, from its checkpoint down to every entry.

The signed root vouches for the tiles on the right edge, each hash in a vouched tile for
one full tile below it, and each leaf hash for one entry. Going down in this order, no
tile is used before it is authenticated: a forged entry beside its forged leaf hash, which
a reader that only compares those two lets through, fails at the tile above. One tile of
each level and one bundle are held at a time, so memory does not grow with the log.

Without I/O: the generator yields a path below the log's prefix and is sent the bytes
found there, or None for "not found". No valid response exceeds MAX_RESPONSE_BYTES.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from registry.errors import Refused, RegistryError
from registry.tlog.checkpoint import Checkpoint, VerifiedCheckpoint, verify_checkpoint
from registry.tlog.edge import TreeEdge, edge_runs, rebuild_edge
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.note import VerifierKey
from registry.tlog.refusals import (
    LOG_CHECKPOINT_INVALID,
    LOG_ENTRY_FORGED,
    LOG_FORKED,
    LOG_MISSING,
    LOG_PART_MALFORMED,
    LOG_ROOT_WRONG,
    LOG_SHRUNK,
    LOG_TILE_FORGED,
    LogInvalid,
)
from registry.tlog.tiles import (
    MAX_BUNDLE_BYTES,
    TILE_WIDTH,
    Bundle,
    Tile,
    format_tile_path,
    hash_count,
    parse_bundle,
    parse_tile,
    tile_of_run,
)

CHECKPOINT_PATH = "checkpoint"
MAX_RESPONSE_BYTES = MAX_BUNDLE_BYTES

Visit = Callable[[int, bytes], None]
"""Called with each entry's index and bytes, in order, once it is authenticated."""


def follow_log(
    log_key: VerifierKey,
    *,
    witness_keys: Sequence[VerifierKey] = (),
    previous: Checkpoint | None = None,
    visit: Visit = lambda _index, _entry: None,
) -> Generator[str, bytes | None, VerifiedCheckpoint]:
    """Verifies the log under its current checkpoint, which the generator returns.

    previous: a checkpoint of this log that was verified earlier; the tree must extend it.
    Raises: LogInvalid at the first thing that is wrong.
    """
    data = yield CHECKPOINT_PATH
    verified = _verify_head(data, log_key, witness_keys)
    walk = _Walk(head=verified.checkpoint, previous=previous, visit=visit)
    yield from walk.run()
    return verified


def read_log(
    reading: Generator[str, bytes | None, VerifiedCheckpoint],
    fetch: Callable[[str], bytes | None],
) -> VerifiedCheckpoint:
    """Answers a reading path by path. fetch: the bytes at a path, None if not there."""
    try:
        path = next(reading)
        while True:
            path = reading.send(fetch(path))
    except StopIteration as done:
        verified: VerifiedCheckpoint = done.value
        return verified


@dataclass(slots=True, kw_only=True)
class _Walk:
    """prefix: the tree of the previous checkpoint, grown anew from its leaves."""

    head: Checkpoint
    previous: Checkpoint | None
    visit: Visit
    prefix: TreeEdge = field(default_factory=TreeEdge)

    def run(self) -> Generator[str, bytes | None, None]:
        self._check_growth()
        edge = yield from _read_edge(self.head)
        # The higher the level of an edge tile, the earlier the leaves below it.
        for level in reversed(range(len(edge.levels))):
            index = hash_count(self.head.size, level) // TILE_WIDTH
            yield from self._descend(level, index, edge.levels[level])

    def _descend(
        self, level: int, index: int, hashes: Sequence[bytes]
    ) -> Generator[str, bytes | None, None]:
        """Verifies all below the tile (level, index); its hashes are authenticated."""
        if level == 0:
            yield from self._read_entries(index, hashes)
            return
        for place, parent in enumerate(hashes, start=index * TILE_WIDTH):
            below = yield from _read_full_tile(level - 1, place, parent)
            yield from self._descend(level - 1, place, below)

    def _read_entries(
        self, index: int, leaves: Sequence[bytes]
    ) -> Generator[str, bytes | None, None]:
        if not leaves:
            return
        bundle = Bundle(index=index, width=len(leaves))
        entries = yield from _read_part(bundle)
        _check_entries(bundle, entries, leaves)
        self._extend_prefix(leaves)
        for number, entry in enumerate(entries, start=bundle.first):
            self.visit(number, entry)

    def _check_growth(self) -> None:
        if self.previous is None:
            return
        if self.previous.size > self.head.size:
            raise LogInvalid(
                LOG_SHRUNK,
                f"size {self.head.size} after size {self.previous.size}",
                path=CHECKPOINT_PATH,
            )
        if self.previous.size == self.head.size:
            self._check_same_root(self.head.root)

    def _extend_prefix(self, leaves: Sequence[bytes]) -> None:
        missing = self.previous.size - self.prefix.size if self.previous else 0
        if missing > 0:
            self.prefix, _ = self.prefix.append(leaves[:missing])
            if missing <= len(leaves):
                self._check_same_root(self.prefix.root())

    def _check_same_root(self, root: bytes) -> None:
        if self.previous and root != self.previous.root:
            raise LogInvalid(
                LOG_FORKED,
                f"its first {self.previous.size} entries are not those seen before",
                path=CHECKPOINT_PATH,
            )


def _verify_head(
    data: bytes | None, log_key: VerifierKey, witness_keys: Sequence[VerifierKey]
) -> VerifiedCheckpoint:
    if data is None:
        raise LogInvalid(LOG_MISSING, "not found", path=CHECKPOINT_PATH)
    try:
        return verify_checkpoint(data, log_key, witness_keys)
    except RegistryError as exc:
        raise LogInvalid(
            LOG_CHECKPOINT_INVALID, exc.problem.detail, path=CHECKPOINT_PATH
        ) from exc


def _read_edge(head: Checkpoint) -> Generator[str, bytes | None, TreeEdge]:
    """The right edge, authenticated by the root."""
    tiles = {run: tile_of_run(run, head.size) for run in edge_runs(head.size)}
    hashes = {}
    for run, tile in tiles.items():
        hashes[run] = yield from _read_part(tile)
    edge = rebuild_edge(head.size, hashes.__getitem__)
    if edge.root() != head.root:
        paths = ", ".join(map(format_tile_path, tiles.values())) or "an empty tree"
        raise LogInvalid(
            LOG_ROOT_WRONG, f"not the root of {paths}", path=CHECKPOINT_PATH
        )
    return edge


def _read_full_tile(
    level: int, index: int, parent: bytes
) -> Generator[str, bytes | None, tuple[bytes, ...]]:
    """parent: its authenticated hash one level up."""
    tile = Tile(level=level, index=index)
    hashes = yield from _read_part(tile)
    if tree_root(hashes) != parent:
        place, above = index % TILE_WIDTH, index // TILE_WIDTH
        raise LogInvalid(
            LOG_TILE_FORGED,
            f"its root is not hash {place} of tile {above} at level {level + 1}",
            path=format_tile_path(tile),
        )
    return hashes


def _read_part(
    part: Tile | Bundle,
) -> Generator[str, bytes | None, tuple[bytes, ...]]:
    """The hashes or entries; where the partial is gone, the full one has taken over."""
    for candidate in dict.fromkeys((part, part.full)):
        data = yield format_tile_path(candidate)
        if data is not None:
            return _parse_part(candidate, data)[: part.width]
    raise LogInvalid(LOG_MISSING, "not found", path=format_tile_path(part))


def _parse_part(part: Tile | Bundle, data: bytes) -> tuple[bytes, ...]:
    parse = parse_tile if isinstance(part, Tile) else parse_bundle
    try:
        return parse(data, part.width)
    except Refused as exc:
        raise LogInvalid(
            LOG_PART_MALFORMED, exc.problem.detail, path=format_tile_path(part)
        ) from exc


def _check_entries(
    bundle: Bundle, entries: Sequence[bytes], leaves: Sequence[bytes]
) -> None:
    pairs = zip(entries, leaves, strict=True)
    for number, (entry, leaf) in enumerate(pairs, start=bundle.first):
        if leaf_hash(entry) != leaf:
            raise LogInvalid(
                LOG_ENTRY_FORGED,
                f"entry {number} does not hash to its leaf",
                path=format_tile_path(bundle),
                entry_index=number,
            )
