"""SQL of the sizes of the log's tables, indexes and all, partitions with their whole."""

from sqlalchemy import text

from registry.db.engine.engines import Connection, Engine

TABLES = text("""
    SELECT w.relname AS name, CAST(sum(pg_total_relation_size(c.oid)) AS bigint) AS bytes
    FROM pg_class AS c JOIN pg_class AS w ON w.oid = coalesce(pg_partition_root(c.oid), c.oid)
    WHERE c.relnamespace = 'audit'::regnamespace AND c.relkind = 'r' GROUP BY 1
""")


async def table_bytes(connection: Connection) -> dict[str, int]:
    return {row.name: row.bytes for row in await connection.execute(TABLES)}


async def sweep(owner: Engine) -> None:
    """Remove dead rows; owner: of the tables."""
    autocommit = owner.execution_options(isolation_level="AUTOCOMMIT")
    async with autocommit.connect() as connection:
        await connection.execute(text("VACUUM (ANALYZE)"))


async def count_records(connection: Connection) -> dict[str, int]:
    """Logged and pending records by kind."""
    query = text("""
        SELECT kind, sum(n)::bigint AS n FROM (
            SELECT kind, count(*) AS n FROM audit.entry GROUP BY kind
            UNION ALL SELECT kind, count(*) FROM audit.pending GROUP BY kind
        ) AS counted GROUP BY kind
    """)
    return {row.kind: row.n for row in await connection.execute(query)}
