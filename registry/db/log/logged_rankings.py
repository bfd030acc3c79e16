"""SQL of the rankings in the log with all that they disclose, read as the auditor.

For the archive: one day at a time, in the order of the log, by a server-side cursor.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from registry.db.engine.engines import Connection, driver_errors
from registry.records.packing import unpack, unpack_disclosure, unpack_openings
from registry.records.ranking_columns import RankingColumns

BLOCK = 1_024

Row = Sequence[Any]
Rows = Sequence[Row]
_NAMES = ("query", "location", "filters", "request", "scores", "answer")

RANKINGS = f"""
    SELECT e.leaf_index, e.body, chosen.leaf_index, s.site_id, s.choice,
        {", ".join(f"k.{name}" for name in (*RankingColumns._fields, *_NAMES))}
    FROM audit.entry AS e
    JOIN audit.ranking AS k USING (record_id)
    LEFT JOIN audit.selection AS s
        ON s.ranking_id = e.record_id AND s.accepted_at < $3
    LEFT JOIN audit.entry AS chosen ON chosen.record_id = s.record_id
    WHERE e.kind = 'ranking' AND e.accepted_at >= $1 AND e.accepted_at < $2
    ORDER BY e.leaf_index
"""  # noqa: S608 — of our own names
_COLUMNS = slice(5, 5 + len(RankingColumns._fields))

# What is durable, but not in the tree of $size.
UNCOVERED = text("""
    SELECT EXISTS (SELECT FROM audit.pending WHERE accepted_at < :end)
        OR EXISTS (SELECT FROM audit.entry
            WHERE leaf_index >= :size AND accepted_at < :end)
""")


class StoredRanking(NamedTuple):
    """All that an archive has of a ranking.

    body: as logged. openings: what is disclosed of a report's inputs, by name.
    selection: the leaf of the reported choice, the site, and the disclosure of it.
    """

    leaf_index: int
    body: bytes
    columns: RankingColumns
    openings: Mapping[str, str]
    selection: tuple[int, int | None, str | None] | None


async def has_uncovered(connection: Connection, end: datetime, size: int) -> bool:
    """Return whether something of before the end is not in the first `size` leaves."""
    rows = await connection.execute(UNCOVERED, {"end": end, "size": size})
    return bool(rows.scalar_one())


async def read_rows(
    connection: Connection, start: datetime, end: datetime, selected_by: datetime
) -> AsyncIterator[Rows]:
    """Blocks of rows of [start, end), for `read_stored`.

    selected_by: the instant before which a choice must have been reported.
    """
    raw: Any = (await connection.get_raw_connection()).driver_connection
    with driver_errors():
        cursor = await raw.cursor(RANKINGS, start, end, selected_by)
        while block := await cursor.fetch(BLOCK):
            yield block


def read_stored(row: Row) -> StoredRanking:
    """Decode a stored ranking: some 100 µs, so not on the event loop."""
    leaf_index, packed, selection_index, chosen, choice = row[: _COLUMNS.start]
    columns = RankingColumns(*row[_COLUMNS])
    openings = dict(zip(_NAMES, row[_COLUMNS.stop :], strict=True))
    return StoredRanking(
        leaf_index=leaf_index,
        body=unpack(packed),
        columns=columns,
        openings=unpack_openings(
            openings, columns.eligible, columns.returned, columns.sampled
        ),
        selection=None
        if selection_index is None
        else (
            selection_index,
            chosen,
            None if choice is None else unpack_disclosure("choice", choice),
        ),
    )
