"""A transaction that sees one moment of the database."""

from sqlalchemy import text

from registry.db.engine.engines import Connection

_ONE_MOMENT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


async def read_one_moment(connection: Connection) -> None:
    """Fix the snapshot, before anything is read in the transaction."""
    await connection.execute(_ONE_MOMENT)
