"""SQL of heartbeats: what the crawlers show, and the web processes look at.

The times are the database's own, so that the clocks of several machines do not matter.
"""

from sqlalchemy import text

from registry.db.engine.engines import Connection

CRAWLER = "crawler"

_BEAT = text("""
    INSERT INTO registry.heartbeat AS h (part, beat_at)
    VALUES (:part, clock_timestamp())
    ON CONFLICT (part) DO UPDATE SET beat_at = excluded.beat_at
    WHERE h.beat_at < excluded.beat_at - interval '1 second'
        OR h.beat_at > excluded.beat_at
""")

_SILENCE = text("""
    SELECT extract(epoch FROM clock_timestamp() - beat_at)::float
    FROM registry.heartbeat WHERE part = :part
""")


async def beat(connection: Connection, part: str) -> None:
    """Show that a process of the part works; of several one a second is enough."""
    await connection.execute(_BEAT, {"part": part})


async def silence_s(connection: Connection, part: str) -> float | None:
    """Return the seconds since the last heartbeat of the part, None without any."""
    return (await connection.execute(_SILENCE, {"part": part})).scalar_one_or_none()
