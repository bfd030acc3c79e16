"""SQL of the rankings in the log with all that they disclose, read as the auditor.

For the archive: one day at a time, in the order of the log, by a server-side cursor.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import text

from registry.audit.packing import unpack, unpack_disclosure
from registry.db.engine import Connection, driver_errors
from registry.db.rankings import unpack_eligible

BLOCK = 1_024

Row = Sequence[Any]
Rows = Sequence[Row]
_NAMES = ("query", "location", "filters", "scores")

RANKINGS = """
    SELECT e.leaf_index, e.body, k.eligible, chosen.leaf_index, s.site_id,
        k.query, k.location, k.filters, k.scores
    FROM audit.entry AS e
    LEFT JOIN audit.ranking AS k ON k.record_id = e.record_id
    LEFT JOIN audit.selection AS s
        ON s.ranking_id = e.record_id AND s.accepted_at < $3
    LEFT JOIN audit.entry AS chosen ON chosen.record_id = s.record_id
    WHERE e.kind = 'ranking' AND e.accepted_at >= $1 AND e.accepted_at < $2
    ORDER BY e.leaf_index
"""

# What is durable, but not in the tree of $size.
UNCOVERED = text("""
    SELECT EXISTS (SELECT FROM audit.pending
            WHERE kind IN ('ranking', 'selection', 'label')
            AND accepted_at >= :start AND accepted_at < :end)
        OR EXISTS (SELECT FROM audit.entry
            WHERE kind IN ('ranking', 'selection', 'label')
            AND accepted_at >= :start AND accepted_at < :end AND leaf_index >= :size)
""")


class _Ordered(msgspec.Struct):
    order: tuple[str, ...]


_read_order = msgspec.json.Decoder(_Ordered).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRanking:
    """body: as logged. openings: what is disclosed of a report's inputs, by name.

    eligible: the sample. selection: the leaf of the reported choice, and the site.
    """

    leaf_index: int
    body: bytes
    openings: Mapping[str, str]
    eligible: tuple[int, ...]
    selection: tuple[int, int | None] | None


async def has_uncovered(
    connection: Connection, start: datetime, end: datetime, size: int
) -> bool:
    """Whether what happened in [start, end) is not all in the first `size` leaves."""
    window = {"start": start, "end": end, "size": size}
    return bool((await connection.execute(UNCOVERED, window)).scalar_one())


async def read_rows(
    connection: Connection, start: datetime, end: datetime, selected_by: datetime
) -> AsyncIterator[Rows]:
    """Blocks of rows of [start, end), for `read_logged`.

    selected_by: the instant before which a choice must have been reported.
    """
    raw: Any = (await connection.get_raw_connection()).driver_connection
    with driver_errors():
        cursor = await raw.cursor(RANKINGS, start, end, selected_by)
        while block := await cursor.fetch(BLOCK):
            yield block


def read_logged(row: Row) -> LoggedRanking:
    """Not on the event loop: it takes some 100 µs."""
    leaf_index, packed, eligible, selection_index, chosen, *disclosed = row
    body = unpack(packed)
    order = _read_order(body).order
    return LoggedRanking(
        leaf_index=leaf_index,
        body=body,
        openings={
            name: unpack_disclosure(name, value, order)
            for name, value in zip(_NAMES, disclosed, strict=True)
            if value is not None
        },
        eligible=unpack_eligible(eligible or b""),
        selection=None if selection_index is None else (selection_index, chosen),
    )
