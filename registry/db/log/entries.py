"""SQL of the transparency log: accepted records, entries, tile hashes, checkpoints.

A record lies in `pending` from its commit until the sequencer moves it to `entry`, in
one transaction with the tile hashes that cover it; so it is in exactly one of the two at
any instant. A checkpoint that is inserted is published.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import insert, select, text

from registry.db.engine.engines import Connection, DatabaseError
from registry.db.engine.prepared import Prepared
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import checkpoint, entry, pending
from registry.records.record import Record
from registry.tlog.edge import TreeEdge


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRecord:
    """leaf_index: None until the record is sequenced."""

    record: Record
    accepted_at: datetime
    leaf_index: int | None


class PendingLeaf(NamedTuple):
    """position: by which records are logged, in the order of their acceptance."""

    position: int
    leaf_hash: bytes


class TurnLost(DatabaseError):
    """A log on which another sequencer works."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    """note: the signed note as served."""

    size: int
    root: bytes
    note: str
    published_at: datetime


async def accept(connection: Connection, record: Record, at: datetime) -> None:
    """Hand one record to the log, in the transaction of what it records."""
    row = {
        "record_id": record.id,
        "kind": record.kind,
        "body": record.body,
        "leaf_hash": record.leaf_hash,
        "accepted_at": at,
    }
    # inline: its writers may not read the position that would else be returned.
    await connection.execute(insert(pending).inline().values(row))


async def find_record(connection: Connection, record_id: str) -> LoggedRecord | None:
    # Between the first two reads the sequencer may have moved it.
    for table in (entry, pending, entry):
        query = select(table).where(table.c.record_id == record_id)
        if row := (await connection.execute(query)).one_or_none():
            return LoggedRecord(
                record=Record(id=row.record_id, kind=row.kind, body=row.body),
                accepted_at=row.accepted_at,
                leaf_index=row.leaf_index if table is entry else None,
            )
    return None


PEEK = text(
    "SELECT position, leaf_hash FROM audit.pending ORDER BY position LIMIT :limit"
)


async def peek_pending(connection: Connection, limit: int) -> list[PendingLeaf]:
    """The oldest of what waits; it stays there until `append` moves it."""
    rows = await connection.execute(PEEK, {"limit": limit})
    return [PendingLeaf(*row) for row in rows]


# The bodies never leave the server, and all of a step is one round trip.
APPEND = Prepared(
    text("""
    WITH newest AS (
        SELECT size, root FROM audit.checkpoint ORDER BY size DESC LIMIT 1
    ), taken AS (
        DELETE FROM audit.pending WHERE position = ANY (CAST(:positions AS bigint[]))
            AND coalesce((SELECT size FROM newest), 0) = CAST(:first AS bigint)
            AND coalesce((SELECT root FROM newest) = CAST(:root AS bytea), true)
        RETURNING *
    ), moved AS (
        INSERT INTO audit.entry
            (leaf_index, record_id, kind, body, leaf_hash, accepted_at)
        SELECT CAST(:first AS bigint) - 1 + row_number() OVER (ORDER BY position),
            record_id, kind, body, leaf_hash, accepted_at FROM taken
        RETURNING 1
    ), filled AS (
        INSERT INTO audit.tile_hash (level, position, hash) SELECT * FROM unnest(
            CAST(:levels AS smallint[]), CAST(:tile_positions AS bigint[]),
            CAST(:hashes AS bytea[])
        )
    )
    SELECT count(*) AS count FROM moved
    """)
)


async def end_when_idle(connection: Connection, after_s: int) -> None:
    """Set the server to close an idle connection, which frees the lock."""
    for name in ("idle_session_timeout", "idle_in_transaction_session_timeout"):
        await connection.execute(text(f"SET {name} = '{after_s}s'"))


async def append(
    connection: Connection,
    edge: TreeEdge,
    leaves: Sequence[PendingLeaf],
    tile_hashes: Sequence[tuple[int, int, bytes]],
) -> None:
    """Move what waits to entries behind the edge of the published tree.

    leaves: as `peek_pending` gave them. tile_hashes: level, position, hash of those
    that they fill. Raises: TurnLost if another sequencer has moved some of them, or the
    newest checkpoint is not of this tree; DatabaseError; then nothing may be committed.
    Its transaction has begun already.
    """
    levels, positions, hashes = (
        zip(*tile_hashes, strict=True) if tile_hashes else ((),) * 3
    )
    (moved,) = await APPEND(
        connection,
        positions=[leaf.position for leaf in leaves],
        first=edge.size,
        root=edge.root(),
        levels=levels,
        tile_positions=positions,
        hashes=hashes,
    )
    if moved.count != len(leaves):
        raise TurnLost(f"{moved.count} of {len(leaves)} records were still there")


async def publish(connection: Connection, covering: StoredCheckpoint) -> None:
    """Insert a checkpoint, which anybody can read from then on."""
    await connection.execute(insert(checkpoint).values(asdict(covering)))


async def latest_checkpoint(connection: Connection) -> StoredCheckpoint | None:
    query = select(checkpoint).order_by(checkpoint.c.size.desc()).limit(1)
    row = (await connection.execute(query)).one_or_none()
    return read_row(StoredCheckpoint, row) if row else None


async def read_bodies(connection: Connection, first: int, count: int) -> list[bytes]:
    """Entries in order, as logged."""
    query = (
        select(entry.c.body)
        .where(entry.c.leaf_index >= first, entry.c.leaf_index < first + count)
        .order_by(entry.c.leaf_index)
    )
    return list((await connection.execute(query)).scalars())


class LogTimes(NamedTuple):
    """oldest_pending: when the record that is published next was accepted, if one waits.

    newest: when the last entry was. now: by the database's clock.
    """

    oldest_pending: datetime | None
    newest: datetime | None
    now: datetime


_TIMES = text("""
    SELECT (
        SELECT min(accepted_at) FROM (
            (SELECT accepted_at FROM audit.pending ORDER BY position LIMIT 1) UNION ALL
            (SELECT accepted_at FROM audit.entry WHERE leaf_index >=
                (SELECT coalesce(max(size), 0) FROM audit.checkpoint)
            ORDER BY leaf_index LIMIT 1)
        ) AS unpublished
    ), (
        SELECT accepted_at FROM audit.entry ORDER BY leaf_index DESC LIMIT 1
    ), clock_timestamp()
""")


async def read_times(connection: Connection) -> LogTimes:
    return LogTimes(*(await connection.execute(_TIMES)).one())


async def more_pending_than(connection: Connection, number: int) -> bool:
    """Look at no more of them than the answer needs."""
    query = text("SELECT 1 FROM audit.pending OFFSET :number LIMIT 1")
    return (await connection.execute(query, {"number": number})).first() is not None
