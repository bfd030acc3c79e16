"""SQL of old checkpoints: of each hour the last stays, and the last that was cosigned."""

from datetime import datetime

from sqlalchemy import text

from registry.db.engine.engines import Connection

BATCH = 200_000
"""Rows that are looked at in one statement; an hour has 36,000 at the most."""

# The first checkpoint that covers a policy's record dates its validity.
_THIN = text("""
    WITH old AS (
        SELECT size, date_trunc('hour', published_at) AS hour, EXISTS (
            SELECT 1 FROM audit.cosignature AS s WHERE s.size = c.size
        ) AS is_cosigned
        FROM audit.checkpoint AS c WHERE published_at < :before
        ORDER BY size LIMIT :batch
    ), staying AS (
        SELECT max(size) AS size FROM old GROUP BY hour
        UNION SELECT max(size) FROM old WHERE is_cosigned GROUP BY hour
        UNION SELECT (SELECT min(size) FROM audit.checkpoint WHERE size > e.leaf_index)
        FROM audit.policy JOIN audit.entry AS e USING (record_id)
    ), dropped AS (
        DELETE FROM audit.checkpoint
        WHERE size IN (SELECT size FROM old EXCEPT SELECT size FROM staying)
        RETURNING size
    ), parted AS (
        DELETE FROM audit.cosignature WHERE size IN (SELECT size FROM dropped)
    )
    SELECT count(*) FROM dropped
""")


async def thin_checkpoints(connection: Connection, before: datetime) -> int:
    """Drop all but the staying ones of those published before; return how many."""
    values = {"before": before, "batch": BATCH}
    dropped: int = (await connection.execute(_THIN, values)).scalar_one()
    return dropped
