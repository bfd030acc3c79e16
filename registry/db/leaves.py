"""SQL that reads the tree for those who ask from outside: whole tiles, a leaf's place."""

from sqlalchemy import select, text

from registry.db.engine import Connection
from registry.db.prepared import Prepared
from registry.db.tables import entry
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


# As one value: 256 rows cost ten times what they hold.
_LEAVES = Prepared(
    text("""
        SELECT string_agg(leaf_hash, ''::bytea ORDER BY leaf_index) AS hashes
        FROM audit.entry WHERE leaf_index >= :first AND leaf_index < :end
    """)
)
_NODES = Prepared(
    text("""
        SELECT string_agg(hash, ''::bytea ORDER BY position) AS hashes
        FROM audit.tile_hash
        WHERE level = :level AND position >= :first AND position < :end
    """)
)


async def read_run(connection: Connection, run: HashRun) -> bytes:
    """The hashes of a run, one after the other."""
    first, end = run.first, run.first + run.count
    if run.level == 0:
        rows = await _LEAVES(connection, first=first, end=end)
    else:
        rows = await _NODES(connection, level=run.level, first=first, end=end)
    return rows[0].hashes or b""
