"""SQL of the audit tables' partitions: rankings and selections by month, entries by leaf.

The functions are the owner's; the publisher's role may call them (migration 0027).
"""

from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import text

from registry.db.engine.engines import Connection

ENTRIES = 256**3
"""Leaves of a part of the entries: one hash of level 3 covers them."""
MONTHS_AHEAD = 3


@dataclass(frozen=True, slots=True)
class EntryPart:
    """Leaves first .. after - 1."""

    first: int
    after: int


_ADD = text("""
    SELECT audit.add_month(CAST(CAST(:month AS date) + make_interval(months => n) AS date))
    FROM generate_series(0, CAST(:ahead AS integer) - 1) AS n
""")
_ADD_ENTRIES = text("""
    SELECT audit.add_entries((coalesce(max(size), 0) / CAST(:width AS bigint) + 2) * CAST(:width AS bigint))
    FROM audit.checkpoint
""")
_MONTHS = text(r"""
    SELECT to_date(substring(c.relname FROM '\d+_\d+$'), 'YYYY_MM') AS month
    FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass('audit.ranking') AND c.relname ~ '\d$' ORDER BY 1
""")
_DROP = text("SELECT audit.drop_month(CAST(:month AS date))")
# Those that have all of their entries.
_WHOLE = text(r"""
    SELECT first, after FROM (
        SELECT CAST(bounds[1] AS bigint) AS first, CAST(bounds[2] AS bigint) AS after
        FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid,
            regexp_match(pg_get_expr(c.relpartbound, c.oid),
                'FROM \(.?(\d+).* TO \(.?(\d+)') AS bounds
        WHERE i.inhparent = to_regclass('audit.entry')
    ) AS part
    WHERE after <= (SELECT max(size) FROM audit.checkpoint)
        AND EXISTS (SELECT FROM audit.entry WHERE kind IN ('ranking', 'selection')
            AND leaf_index >= first AND leaf_index < after)
    ORDER BY 1
""")
_THIN = text("SELECT audit.thin_entries(:first)")
_DROPPED = text(
    "SELECT CAST(max(month) + interval '1 month' AS date) FROM audit.dropped_month"
)


async def add_partitions(connection: Connection, now: datetime) -> None:
    """Make the parts that are used next: this month and two more, and free leaves."""
    values = {"month": now.date(), "ahead": MONTHS_AHEAD}
    await connection.execute(_ADD, values)
    await connection.execute(_ADD_ENTRIES, {"width": ENTRIES})


async def months_there(connection: Connection) -> list[date]:
    """Return the months that have a part, the oldest first."""
    return list((await connection.execute(_MONTHS)).scalars())


async def drop_month(connection: Connection, month: date) -> bool:
    """Drop a month; return False unless it is over, archived, reported and all erased."""
    return bool((await connection.execute(_DROP, {"month": month})).scalar_one())


async def whole_parts(connection: Connection) -> list[EntryPart]:
    """Return the full parts that still have their rankings and selections."""
    return [EntryPart(*row) for row in await connection.execute(_WHOLE)]


async def thin_entries(connection: Connection, part: EntryPart) -> bool:
    """Drop rankings and selections of a part; return False while a month of it is there.

    All of them must stand in the log's files.
    """
    return bool((await connection.execute(_THIN, {"first": part.first})).scalar_one())


async def first_month_there(connection: Connection) -> date | None:
    """Return the month after the last one that was dropped; None if none was."""
    month: date | None = (await connection.execute(_DROPPED)).scalar_one()
    return month


async def allow_long_statements(connection: Connection) -> None:
    """Set no time limit on a connection, which is not used again."""
    await connection.execute(text("SET statement_timeout = 0"))
