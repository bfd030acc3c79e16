"""Verification of a served log, from its checkpoint down to every entry.

The signed root vouches for the tiles on the right edge, each hash in a vouched tile for
one full tile below it, and each leaf hash for one entry. Going down in this order, no
tile is used before it is authenticated: a forged entry beside its forged leaf hash, which
a reader that only compares those two lets through, fails at the tile above. One tile of
each level and one bundle are held at a time, so memory does not grow with the log.

What was verified earlier is not read again. Of an earlier tree only its edge is kept:
the tiles in which that tree ended must begin with the hashes of the edge, and then all
to the left of them is what it was.

Without I/O: the generator yields a path below the log's prefix and is sent the bytes
stored there, or None for "not found". No valid response exceeds MAX_RESPONSE_BYTES.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

from registry.errors import Refused, RegistryError, detail_of
from registry.tlog import refusals
from registry.tlog.checkpoint import Checkpoint, VerifiedCheckpoint, verify_checkpoint
from registry.tlog.edge import TreeEdge, edge_runs, rebuild_edge
from registry.tlog.merkle import leaf_hashes, tree_root
from registry.tlog.note import VerifierKey
from registry.tlog.refusals import LogInvalid
from registry.tlog.tiles import (
    MAX_BUNDLE_BYTES,
    TILE_WIDTH,
    Bundle,
    HashRun,
    Tile,
    format_tile_path,
    hash_count,
    parse_bundle,
    parse_tile,
    tile_of_run,
)

CHECKPOINT_PATH = "checkpoint"
MAX_RESPONSE_BYTES = MAX_BUNDLE_BYTES

Reading = Generator[str, bytes | None, None]
Visit = Callable[[int, bytes], None]
"""Called with each entry's index and bytes, in order, once it is authenticated."""
Report = Callable[[LogInvalid], None]
"""Called with each fault. If it does not raise, the reader continues where it can."""


def raise_invalid(invalid: LogInvalid) -> None:
    raise invalid


def verify_head(
    data: bytes | None,
    log_key: VerifierKey,
    witness_keys: Sequence[VerifierKey] = (),
    quorum: int = 0,
) -> VerifiedCheckpoint:
    """Verify the checkpoint. data: the response at CHECKPOINT_PATH. Raises: LogInvalid."""
    if data is None:
        detail = "not found; a new log has none before its witnesses have cosigned one"
        raise LogInvalid(refusals.LOG_MISSING, detail, path=CHECKPOINT_PATH)
    try:
        head = verify_checkpoint(data, log_key, witness_keys)
    except RegistryError as exc:
        detail, origin = (
            exc.problem.detail,
            data.split(b"\n")[0].decode("utf-8", "replace"),
        )
        if origin != log_key.name:
            detail = (
                f"it is of the log {origin}; {log_key.name} is followed with this key"
            )
        raise LogInvalid(
            refusals.LOG_CHECKPOINT_INVALID, detail, path=CHECKPOINT_PATH
        ) from exc
    if len(head.cosignatures) < quorum:
        raise LogInvalid(
            refusals.LOG_UNWITNESSED,
            f"{len(head.cosignatures)} of the witnesses cosigned it, {quorum} must",
            path=CHECKPOINT_PATH,
        )
    return head


def paths_to_read(known_size: int, size: int) -> Iterator[str]:
    """Yield the paths that a LogWalk requests, in order, so that a reader can prefetch.

    If a partial tile or bundle is gone, the walk requests the full one in between.
    """
    if known_size == size:
        return
    runs = edge_runs(size)
    for run in runs:
        yield format_tile_path(tile_of_run(run, size))
    for run in reversed(runs):
        yield from _paths_below(run, known_size)


def _paths_below(run: HashRun, known_size: int) -> Iterator[str]:
    if run.level == 0:
        yield format_tile_path(Bundle(index=run.first // TILE_WIDTH, width=run.count))
        return
    known = hash_count(known_size, run.level)
    for index in range(max(run.first, known), run.first + run.count):
        tile = Tile(level=run.level - 1, index=index)
        yield format_tile_path(tile)
        yield from _paths_below(tile.run, known_size)


@dataclass(slots=True, kw_only=True)
class LogWalk:
    """Walk over the entries that a verified checkpoint adds to the tree of `start`.

    head: verified. start: the edge of a tree that was verified earlier. previous: a
    checkpoint seen earlier, beyond start; the tree must extend it too. report: called
    with each fault; after the first no entry is visited any more.
    """

    head: Checkpoint
    start: TreeEdge = field(default_factory=TreeEdge)
    previous: Checkpoint | None = None
    visit: Visit = lambda _index, _entry: None
    report: Report = raise_invalid
    size: int = 0
    _path: dict[int, tuple[int, Sequence[bytes]]] = field(default_factory=dict)
    _is_sound: bool = True

    @property
    def edge(self) -> TreeEdge:
        """Edge of the tree of all entries visited so far, the first `size` of the log."""
        return self.start if self.size == self.start.size else self._edge_at(self.size)

    def read(self) -> Reading:
        """Read and verify. Raises: LogInvalid for another log, or what `report` raises."""
        self.size = self.start.size
        self._check_growth()
        if self.start.size == self.head.size:
            return
        edge = yield from _read_edge(self.head)
        # The higher the level of an edge tile, the earlier the leaves below it.
        for level in reversed(range(len(edge.levels))):
            index = hash_count(self.head.size, level) // TILE_WIDTH
            yield from self._descend(level, index, edge.levels[level])

    def _descend(self, level: int, index: int, hashes: Sequence[bytes]) -> Reading:
        """Verify all below the tile (level, index), whose hashes are authenticated."""
        self._check_extends_start(level, index, hashes)
        self._path[level] = (index, hashes)
        if level == 0:
            if hashes:
                yield from self._read_entries(index, hashes)
            return
        known = hash_count(self.start.size, level)
        for child, parent in enumerate(hashes, start=index * TILE_WIDTH):
            if child < known:
                continue
            try:
                below = yield from _read_full_tile(level - 1, child, parent)
            except LogInvalid as invalid:
                self._report(invalid)
            else:
                yield from self._descend(level - 1, child, below)

    def _read_entries(self, index: int, leaves: Sequence[bytes]) -> Reading:
        bundle = Bundle(index=index, width=len(leaves))
        try:
            entries = yield from _read_part(bundle)
            _check_entries(bundle, entries, leaves)
        except LogInvalid as invalid:
            self._report(invalid)
            return
        end = bundle.first + len(leaves)
        if self.previous and bundle.first < self.previous.size <= end:
            self._check_previous(self._edge_at(self.previous.size).root())
        if self._is_sound:
            for number in range(max(bundle.first, self.start.size), end):
                self.visit(number, entries[number - bundle.first])
            self.size = end

    def _report(self, invalid: LogInvalid) -> None:
        self._is_sound = False
        self.report(invalid)

    def _edge_at(self, size: int) -> TreeEdge:
        """Return the edge at a size at most one bundle before the last entries read."""

        def read(run: HashRun) -> Sequence[bytes]:
            start = run.first % TILE_WIDTH
            return self._path[run.level][1][start : start + run.count]

        return rebuild_edge(size, read)

    def _check_growth(self) -> None:
        seen = max(self.start.size, self.previous.size if self.previous else 0)
        if seen > self.head.size:
            raise LogInvalid(
                refusals.LOG_SHRUNK,
                f"size {self.head.size} after size {seen}",
                path=CHECKPOINT_PATH,
            )
        if self.start.size == self.head.size and self.start.root() != self.head.root:
            raise _forked(self.start.size)
        if self.previous and self.previous.size == self.head.size:
            self._check_previous(self.head.root)

    def _check_previous(self, root: bytes) -> None:
        if self.previous and root != self.previous.root:
            raise _forked(self.previous.size)

    def _check_extends_start(
        self, level: int, index: int, hashes: Sequence[bytes]
    ) -> None:
        """Check that the tile begins with the hashes that the edge of `start` has of it."""
        ended_here = index == hash_count(self.start.size, level) // TILE_WIDTH
        if ended_here and level < len(self.start.levels):
            known = self.start.levels[level]
            if tuple(hashes[: len(known)]) != known:
                raise _forked(self.start.size)


def _forked(size: int) -> LogInvalid:
    return LogInvalid(
        refusals.LOG_FORKED,
        f"its first {size} entries are not those seen before",
        path=CHECKPOINT_PATH,
    )


def _read_edge(head: Checkpoint) -> Generator[str, bytes | None, TreeEdge]:
    """Read the right edge, authenticated by the root."""
    tiles = {run: tile_of_run(run, head.size) for run in edge_runs(head.size)}
    hashes = {}
    for run, tile in tiles.items():
        hashes[run] = yield from _read_part(tile)
    edge = rebuild_edge(head.size, hashes.__getitem__)
    if edge.root() != head.root:
        paths = ", ".join(map(format_tile_path, tiles.values())) or "an empty tree"
        raise LogInvalid(
            refusals.LOG_ROOT_WRONG, f"not the root of {paths}", path=CHECKPOINT_PATH
        )
    return edge


def _read_full_tile(
    level: int, index: int, parent: bytes
) -> Generator[str, bytes | None, tuple[bytes, ...]]:
    """Read a full tile. parent: its authenticated hash one level up."""
    tile = Tile(level=level, index=index)
    hashes = yield from _read_part(tile)
    if tree_root(hashes) != parent:
        above, position = divmod(index, TILE_WIDTH)
        raise LogInvalid(
            refusals.LOG_TILE_FORGED,
            f"its root is not hash {position} of tile {above} at level {level + 1}",
            path=format_tile_path(tile),
        )
    return hashes


def _read_part(part: Tile | Bundle) -> Generator[str, bytes | None, tuple[bytes, ...]]:
    """Read hashes or entries; if the partial file is gone, from the full one."""
    for candidate in dict.fromkeys((part, part.full)):
        data = yield format_tile_path(candidate)
        if data is not None:
            return parse_part(candidate, data)[: part.width]
    raise LogInvalid(refusals.LOG_MISSING, "not found", path=format_tile_path(part))


def parse_part(part: Tile | Bundle, data: bytes) -> tuple[bytes, ...]:
    """Parse hashes or entries. Raises: LogInvalid unless there are part.width of them."""
    parse = parse_tile if isinstance(part, Tile) else parse_bundle
    with LogInvalid.on(
        Refused, refusals.LOG_PART_MALFORMED, detail_of, path=format_tile_path(part)
    ):
        return parse(data, part.width)


def _check_entries(
    bundle: Bundle, entries: Sequence[bytes], leaves: Sequence[bytes]
) -> None:
    hashed = leaf_hashes(entries)
    if hashed == tuple(leaves):
        return
    pairs = zip(hashed, leaves, strict=True)
    wrong = next(
        i for i, (value, leaf) in enumerate(pairs, bundle.first) if value != leaf
    )
    raise LogInvalid(
        refusals.LOG_ENTRY_FORGED,
        f"entry {wrong} does not hash to its leaf",
        path=format_tile_path(bundle),
        entry_index=wrong,
    )
