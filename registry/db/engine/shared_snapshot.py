"""A transaction that sees one moment of the database."""

from sqlalchemy import text

from registry.db.engine.engines import Connection

_SNAPSHOT_ISOLATION = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


async def fix_snapshot(connection: Connection) -> None:
    """Fix the snapshot, before anything is read in the transaction."""
    await connection.execute(_SNAPSHOT_ISOLATION)
