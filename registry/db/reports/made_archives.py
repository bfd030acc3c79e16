"""SQL of the archives that were made here, and which of them open what is erased since."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from registry.db.engine.engines import Connection

_SAVE = text("""
    INSERT INTO audit.made_archive (made_at, start_at, end_at, folder)
    VALUES (:made_at, :start_at, :end_at, :folder) RETURNING id
""")
_FINISH = text("UPDATE audit.made_archive SET finished_at = :at WHERE id = :id")

# An erasure may have begun before the archive's snapshot and ended after it. Of entries
# that the table has no more, those around tell the time.
_OUTDATED = text("""
    SELECT a.folder, a.made_at, a.start_at, a.end_at, count(*) AS erasures
    FROM audit.made_archive AS a
    JOIN audit.erasure AS e ON e.erased_at > a.made_at - interval '1 minute'
    WHERE a.end_at > coalesce((SELECT accepted_at FROM audit.entry
            WHERE leaf_index <= e.first_index ORDER BY leaf_index DESC LIMIT 1),
            '-infinity')
        AND a.start_at <= (SELECT accepted_at FROM audit.entry
            WHERE leaf_index >= e.last_index ORDER BY leaf_index LIMIT 1)
    GROUP BY a.id ORDER BY a.id
""")


async def save_archive(
    connection: Connection,
    made_at: datetime,
    window: tuple[datetime, datetime],
    folder: str,
) -> int:
    """Note an archive before it is written; return its number. connection: of the auditor."""
    start_at, end_at = window
    values = {"made_at": made_at, "start_at": start_at, "end_at": end_at}
    saved = await connection.execute(_SAVE, {**values, "folder": folder})
    number: int = saved.scalar_one()
    return number


async def finish_archive(connection: Connection, number: int, at: datetime) -> None:
    """Note that it was written to its end: its month may be dropped."""
    await connection.execute(_FINISH, {"id": number, "at": at})


async def outdated_archives(connection: Connection) -> Sequence[Any]:
    """Return folder, made_at, start_at, end_at and erasures, in the order they were made."""
    return (await connection.execute(_OUTDATED)).all()
