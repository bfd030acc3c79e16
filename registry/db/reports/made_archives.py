"""SQL of the archives that were made here, and which of them open what is erased since."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from registry.db.engine.engines import Connection

_SAVE = text("""
    INSERT INTO audit.made_archive (made_at, start_at, end_at, folder)
    VALUES (:made_at, :start_at, :end_at, :folder)
""")

# An erasure may have begun before the archive's snapshot and ended after it.
_OUTDATED = text("""
    SELECT a.folder, a.made_at, a.start_at, a.end_at, count(*) AS erasures
    FROM audit.made_archive AS a
    JOIN audit.erasure AS e ON e.erased_at > a.made_at - interval '1 minute'
    JOIN audit.entry AS first ON first.leaf_index = e.first_index
    JOIN audit.entry AS last ON last.leaf_index = e.last_index
    WHERE first.accepted_at < a.end_at AND last.accepted_at >= a.start_at
    GROUP BY a.id ORDER BY a.id
""")


async def save_archive(
    connection: Connection,
    made_at: datetime,
    window: tuple[datetime, datetime],
    folder: str,
) -> None:
    """Note an archive before it is written. connection: of the auditor."""
    start_at, end_at = window
    values = {"made_at": made_at, "start_at": start_at, "end_at": end_at}
    await connection.execute(_SAVE, {**values, "folder": folder})


async def outdated_archives(connection: Connection) -> Sequence[Any]:
    """Return folder, made_at, start_at, end_at and erasures, in the order they were made."""
    return (await connection.execute(_OUTDATED)).all()
