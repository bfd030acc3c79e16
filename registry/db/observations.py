"""SQL of what fairness reports are computed from, read as the auditor.

A window may hold millions of rankings: they come in by a server-side cursor and are put
in columns block by block, off the event loop.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from registry.db.engine import Connection, driver_errors
from registry.db.labels import labels_at
from registry.db.scored_columns import ScoredColumns
from registry.db.window_columns import WindowColumns
from registry.fairness.labels import UNTOLD, SiteLabel
from registry.fairness.window.columns import (
    NO_SITE,
    SAMPLED_MAX,
    SCORED_MAX,
    UNREPORTED,
    Observed,
    Scored,
    make_sites,
)
from registry.fairness.window.observation import SiteDisclosure
from registry.fairness.window.site_numbers import SiteNumbers
from registry.sites.identifier import parse_site_id, spell_site_id

BLOCK = 4_096  # rankings read at once: some 50 ms of the reader's work
SAMPLE_MIN = 16  # eligible sites of a ranking that are read at the least

COUNT = text("""
    SELECT (SELECT count(*) FROM audit.entry WHERE kind = 'ranking'
            AND accepted_at >= :start AND accepted_at < :end)
        + (SELECT count(*) FROM audit.pending WHERE kind = 'ranking'
            AND accepted_at >= :start AND accepted_at < :end)
""")

# Of a large sample an even part: as many sites as $3 says, around the end of it, from
# where the last byte of the record's id points.
RANKINGS = """
    WITH record AS (
        SELECT record_id, body FROM audit.entry
        WHERE kind = 'ranking' AND accepted_at >= $1 AND accepted_at < $2
        UNION ALL
        SELECT record_id, body FROM audit.pending
        WHERE kind = 'ranking' AND accepted_at >= $1 AND accepted_at < $2
    )
    SELECT uuid_send(r.record_id), r.body, k.query, k.filters,
        CASE WHEN length(k.eligible) <= 8 * $3 THEN k.eligible ELSE
            substring(k.eligible FROM 8 * at.first + 1 FOR 8 * $3)
            || substring(k.eligible FROM 1
                FOR greatest(0, 8 * (at.first + $3) - length(k.eligible)))
        END,
        k.scores IS NOT NULL,
        coalesce(s.site_id, CASE WHEN s.record_id IS NULL THEN $4::bigint ELSE $5 END)
    FROM record AS r
    LEFT JOIN audit.ranking AS k ON k.record_id = r.record_id
    LEFT JOIN audit.selection AS s
        ON s.ranking_id = r.record_id AND s.accepted_at < $2
    CROSS JOIN LATERAL (SELECT get_byte(uuid_send(r.record_id), 15)
        * (length(k.eligible) / 8) / 256 AS first) AS at
"""

SCORES = """
    SELECT uuid_send(k.record_id), r.body, k.scores, k.location
    FROM audit.ranking AS k JOIN (
        SELECT record_id, body FROM audit.entry WHERE record_id = ANY ($1::uuid[])
        UNION ALL
        SELECT record_id, body FROM audit.pending WHERE record_id = ANY ($1::uuid[])
    ) AS r USING (record_id)
    WHERE k.record_id = ANY ($1::uuid[]) AND k.scores IS NOT NULL
"""

# Record ids begin with their time, so the rows beside the entries of a window lie nearly
# in the order of these: looked up one by one they cost no more than a hash of all that
# were ever written, need no memory, and come from the first one on.
PLANNING = text(
    "SELECT set_config('enable_hashjoin', :allowed, true), "
    "set_config('enable_mergejoin', :allowed, true)"
)

SITES = text("""
    SELECT site_id, registrable_domain, category, registered_at FROM registry.site
    WHERE registered_at <= :at ORDER BY site_id
""")


async def observe(
    connection: Connection, start: datetime, end: datetime, operator: str = ""
) -> Observed:
    """The window [start, end), of one operator or of all."""
    told = await site_disclosures(connection, end)
    numbers = SiteNumbers([parse_site_id(one.site_id) for one in told])
    columns = WindowColumns(numbers, operator)
    window = {"start": start, "end": end}
    count = (await connection.execute(COUNT, window)).scalar_one()
    most = max(SAMPLE_MIN, SAMPLED_MAX // max(1, count))
    raw: Any = (await connection.get_raw_connection()).driver_connection
    with driver_errors():
        await connection.execute(PLANNING, {"allowed": "off"})
        cursor = await raw.cursor(RANKINGS, start, end, most, UNREPORTED, NO_SITE)
        await connection.execute(PLANNING, {"allowed": "on"})
        await _read_blocks(cursor, columns)
        scored = await _read_scored(raw, columns)
    unknown = [SiteDisclosure(site_id=spell_site_id(one)) for one in numbers.added]
    return Observed(
        parts=columns.parts, scored=scored, sites=make_sites([*told, *unknown])
    )


async def _read_blocks(cursor: Any, columns: WindowColumns) -> None:
    """The server makes a block ready while the one before is put in columns."""
    block = await cursor.fetch(BLOCK)
    while block:
        following = asyncio.create_task(cursor.fetch(BLOCK))
        try:
            await asyncio.to_thread(columns.add, block)
        finally:
            block = await following


async def _read_scored(raw: Any, columns: WindowColumns) -> Scored:
    """Of those whose scores were erased in between nothing is left."""
    wanted = columns.candidates.first(SCORED_MAX)
    scores = ScoredColumns(columns.numbers, wanted)
    ids = [UUID(bytes=bytes(one)) for one in wanted.ids]
    for begin in range(0, len(ids), BLOCK):
        rows = await raw.fetch(SCORES, ids[begin : begin + BLOCK])
        await asyncio.to_thread(scores.add, rows)
    return scores.joined()


async def site_disclosures(
    connection: Connection, at: datetime
) -> list[SiteDisclosure]:
    """All sites registered by then, with the labels that counted at that instant."""
    labels = await labels_at(connection, at)
    rows = (await connection.execute(SITES, {"at": at})).all()
    return await asyncio.to_thread(_disclosed, rows, labels)


def _disclosed(
    rows: Iterable[Sequence[Any]], labels: Mapping[int, SiteLabel]
) -> list[SiteDisclosure]:
    found = []
    for site_id, domain, category, registered_at in rows:
        label = labels.get(site_id, UNTOLD)
        found.append(
            SiteDisclosure(
                site_id=spell_site_id(site_id),
                size=label.size or "unknown",
                independence=label.independence or "unknown",
                commission_percent=label.commission_percent,
                domain=domain,
                category=category,
                registered_at=registered_at,
            )
        )
    return found
