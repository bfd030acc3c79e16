"""Proofs against the checkpoint that is served, from a handful of tiles."""

from collections.abc import Iterable
from dataclasses import dataclass

from registry.db.engine.engines import Connection
from registry.db.log import leaves
from registry.db.log.entries import LoggedRecord
from registry.errors import Conflict, NotFound
from registry.records.record import Record
from registry.tlog.edge import ReadRun, edge_runs, rebuild_edge
from registry.tlog.proof import (
    LogProof,
    consistency_runs,
    inclusion_runs,
    prove_consistency,
    prove_inclusion,
    read_from_tiles,
    tiles_for,
)
from registry.tlog.tiles import HashRun
from registry.usecases import refusals
from registry.usecases.log.served_log import ServedCheckpoint, ServedLog

MERGE_DELAY_S = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion:
    """Proof that a leaf stands at its index in the tree of that size and root."""

    leaf_index: int
    leaf_hash: bytes
    tree_size: int
    root_hash: bytes
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyProof:
    """Proof that the tree of from_size is the beginning of the tree of to_size."""

    from_size: int
    from_root_hash: bytes
    to_size: int
    to_root_hash: bytes
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenRecord:
    """inclusion: in the tree of the checkpoint."""

    record: Record
    inclusion: Inclusion
    checkpoint: ServedCheckpoint

    @property
    def log_proof(self) -> LogProof:
        return LogProof(
            index=self.inclusion.leaf_index,
            hashes=self.inclusion.hashes,
            checkpoint=self.checkpoint.note,
        )


async def find_logged(
    served: ServedLog, connection: Connection, record_id: str, kind: str | None = None
) -> LoggedRecord:
    """kind: the one it must be of. Raises: NotFound."""
    logged = await served.find(connection, record_id)
    if logged is None or (kind and logged.record.kind != kind):
        raise NotFound(refusals.RECORD_UNKNOWN)
    return logged


async def prove_record(served: ServedLog, logged: LoggedRecord) -> ProvenRecord:
    """Raises: Conflict while the record is not under a served checkpoint."""
    index = logged.leaf_index
    newest = None if index is None else await served.covering(index)
    if newest is None or index is None:
        raise Conflict(refusals.RECORD_PENDING, retry_after_s=MERGE_DELAY_S)
    read = await _reader(served, inclusion_runs(index, newest.size), newest.size)
    inclusion = Inclusion(
        leaf_index=index,
        leaf_hash=logged.record.leaf_hash,
        tree_size=newest.size,
        root_hash=newest.root,
        hashes=prove_inclusion(index, newest.size, read),
    )
    return ProvenRecord(record=logged.record, inclusion=inclusion, checkpoint=newest)


async def prove_leaf(
    served: ServedLog, index: int, size: int | None = None
) -> Inclusion:
    """size: of a published tree, by default the newest. Raises: NotFound."""
    size = await _published_size(served, size)
    if index >= size:
        raise NotFound(
            refusals.LEAF_UNKNOWN, f"a tree of size {size} has no leaf {index}"
        )
    leaf = HashRun(level=0, first=index, count=1)
    runs = (leaf, *edge_runs(size), *inclusion_runs(index, size))
    read = await _reader(served, runs, size)
    return Inclusion(
        leaf_index=index,
        leaf_hash=read(leaf)[0],
        tree_size=size,
        root_hash=rebuild_edge(size, read).root(),
        hashes=prove_inclusion(index, size, read),
    )


async def find_leaf(connection: Connection, leaf_hash: bytes) -> int:
    """The first leaf with that hash. Raises: NotFound."""
    index = await leaves.first_leaf_with(connection, leaf_hash)
    if index is None:
        detail = (
            "no leaf in the tables has this hash; older ones are found by their index"
        )
        raise NotFound(refusals.LEAF_UNKNOWN, detail, pointer="hash")
    return index


async def prove_growth(
    served: ServedLog, old_size: int, new_size: int | None = None
) -> ConsistencyProof:
    """new_size: of a published tree, by default the newest; 0 < old_size <= new_size.

    Raises: NotFound, ProofInvalid.
    """
    size = await _published_size(served, new_size)
    runs = (*consistency_runs(old_size, size), *edge_runs(old_size), *edge_runs(size))
    read = await _reader(served, runs, size)
    return ConsistencyProof(
        from_size=old_size,
        from_root_hash=rebuild_edge(old_size, read).root(),
        to_size=size,
        to_root_hash=rebuild_edge(size, read).root(),
        hashes=prove_consistency(old_size, size, read),
    )


async def _published_size(served: ServedLog, size: int | None) -> int:
    """Return a published size, by default the newest. Raises: NotFound."""
    if size is not None and await served.has_published(size):
        return size
    newest = await served.checkpoint()
    published = newest.size if newest else 0
    if size is not None:
        raise NotFound(
            refusals.TREE_UNKNOWN, f"the published tree has size {published}"
        )
    return published


async def _reader(served: ServedLog, runs: Iterable[HashRun], size: int) -> ReadRun:
    """Read these runs of a published tree at once."""
    return read_from_tiles(await served.read_tiles(tiles_for(runs, size)), size)
