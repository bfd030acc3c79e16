"""SQL of the sizes of the log's tables, indexes and all."""

from sqlalchemy import text

from registry.db.engine.engines import Connection, Engine

TABLES = text("""
    SELECT relname AS name, pg_total_relation_size(oid) AS bytes FROM pg_class
    WHERE relnamespace = 'audit'::regnamespace AND relkind = 'r'
""")


async def table_bytes(connection: Connection) -> dict[str, int]:
    return {row.name: row.bytes for row in await connection.execute(TABLES)}


async def sweep(owner: Engine) -> None:
    """Remove dead rows; owner: of the tables."""
    autocommit = owner.execution_options(isolation_level="AUTOCOMMIT")
    async with autocommit.connect() as connection:
        await connection.execute(text("VACUUM (ANALYZE)"))
