"""SQL that reads the tree for those who ask from outside: whole tiles, a leaf's place."""

from collections.abc import Sequence

from sqlalchemy import select, text

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Prepared
from registry.db.schema.tables import entry
from registry.tlog.tiles import HashRun


async def first_leaf_with(connection: Connection, leaf_hash: bytes) -> int | None:
    """The lowest index of a leaf with that hash."""
    query = (
        select(entry.c.leaf_index)
        .where(entry.c.leaf_hash == leaf_hash)
        .order_by(entry.c.leaf_index)
        .limit(1)
    )
    return (await connection.execute(query)).scalar_one_or_none()


# Each run as one value: 256 rows cost ten times what they hold.
_RUNS = Prepared(
    text("""
        SELECT CASE WHEN asked.level = 0 THEN (
            SELECT string_agg(leaf_hash, ''::bytea ORDER BY leaf_index)
            FROM audit.entry
            WHERE leaf_index >= asked.first AND leaf_index < asked.first + asked.count
        ) ELSE (
            SELECT string_agg(hash, ''::bytea ORDER BY position) FROM audit.tile_hash
            WHERE level = asked.level AND position >= asked.first
                AND position < asked.first + asked.count
        ) END AS hashes
        FROM unnest(CAST(:levels AS integer[]), CAST(:firsts AS bigint[]),
            CAST(:counts AS bigint[])) WITH ORDINALITY
            AS asked (level, first, count, number)
        ORDER BY asked.number
    """)
)


async def read_runs(connection: Connection, runs: Sequence[HashRun]) -> list[bytes]:
    """The hashes of each run, one after the other."""
    rows = await _RUNS(
        connection,
        levels=[run.level for run in runs],
        firsts=[run.first for run in runs],
        counts=[run.count for run in runs],
    )
    return [row.hashes or b"" for row in rows]
