"""SQL of the daily tables of exposure: the public ones, and those for each site."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.sql.functions import coalesce

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.reports.window_reading import BLOCK, StoredWindow, read_parts
from registry.db.schema.report_tables import exposure_day, site_exposure
from registry.db.schema.tables import entry
from registry.reports.exposure_table import (
    DayCounts,
    SiteCounts,
    add_noise,
    count_sites,
)
from registry.reports.window.site_numbers import SiteNumbers

BATCH = 10_000  # rows of one statement
_SELECTABLE = timedelta(days=8)
_AMOUNTS = SiteCounts._fields[1:]

_COUNT = text("""
    SELECT count(*) AS rankings, count(*) FILTER (WHERE query IS NULL) AS erased
    FROM audit.ranking
    WHERE record_id BETWEEN :first AND :last AND accepted_at >= :start AND accepted_at < :end
""")
_CHOSEN = text("""
    SELECT site_id, count(*) AS selections FROM audit.selection
    WHERE ranking_id BETWEEN :oldest AND :last AND site_id IS NOT NULL
        AND accepted_at >= :start AND accepted_at < :end
    GROUP BY site_id
""")
_MONTHS = text("""
    SELECT date_trunc('month', day)::date AS month, sum(appearances)::bigint AS appearances,
        sum(attention)::bigint AS attention, sum(selections)::bigint AS selections
    FROM audit.site_exposure
    WHERE site_id = :site_id
        AND day >= date_trunc('month', CAST(CAST(:start AS date) AS timestamp))
        AND day < date_trunc('month', CAST(least(
            CAST(:end AS date), (SELECT max(day) FROM audit.exposure_day) + 1
        ) AS timestamp))
    GROUP BY 1 ORDER BY 1
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDay:
    """A day's table as it is served. signature: a detached JWS over the body.

    noise_key: of the noise in it, which is never published; None: there is no noise.
    """

    day: date
    record_id: str
    made_at: datetime
    body: bytes
    signature: str
    noise_key: bytes | None


async def count_day(connection: Connection, start: datetime) -> DayCounts:
    """Count what the rankings of a day gave and what was chosen on it.

    connection: of the auditor. start: the day's midnight in UTC.
    """
    window = StoredWindow(start, start + timedelta(days=1), "")
    first, last, *_ = window.parameters
    oldest, *_ = StoredWindow(start - _SELECTABLE, start, "").parameters
    bounds = {"first": first, "last": last, "start": start, "end": window.end}
    totals = (await connection.execute(_COUNT, bounds)).one()
    chosen = await connection.execute(_CHOSEN, {**bounds, "oldest": oldest})
    selections = {row.site_id: row.selections for row in chosen}
    numbers = SiteNumbers([])
    parts = await read_parts(connection, window, numbers, BLOCK)
    sites = count_sites(parts, numbers.ids.tolist(), selections)
    return DayCounts(totals.rankings, totals.erased, sites)


async def save_day(
    connection: Connection, table: StoredDay, sites: Sequence[SiteCounts]
) -> bool:
    """Save a day's table; return False, and save nothing, if the day has one."""
    if not await insert_new(connection, exposure_day, asdict(table)):
        return False
    for begin in range(0, len(sites), BATCH):
        rows = [
            {
                "site_id": site,
                "day": table.day,
                **dict(zip(_AMOUNTS, amounts, strict=True)),
            }
            for site, *amounts in sites[begin : begin + BATCH]
        ]
        await connection.execute(insert(site_exposure), rows)
    return True


async def newest_day(connection: Connection) -> date | None:
    query = select(exposure_day.c.day).order_by(exposure_day.c.day.desc()).limit(1)
    return (await connection.execute(query)).scalar_one_or_none()


_ENTRIES = exposure_day.outerjoin(entry, entry.c.record_id == exposure_day.c.record_id)


async def list_days(
    connection: Connection, limit: int, before: date | None = None
) -> Sequence[Any]:
    """Return day, record_id, made_at and leaf_index of the newest before a day."""
    query = (
        select(
            exposure_day.c.day,
            exposure_day.c.record_id,
            exposure_day.c.made_at,
            entry.c.leaf_index,
        )
        .select_from(_ENTRIES)
        .order_by(exposure_day.c.day.desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(exposure_day.c.day < before)
    return (await connection.execute(query)).all()


async def find_day(
    connection: Connection, day: date
) -> tuple[StoredDay, int | None] | None:
    """Return a day's table and the leaf of its record, None until that is sequenced."""
    query = select(exposure_day, entry.c.leaf_index).select_from(_ENTRIES)
    row = (
        await connection.execute(query.where(exposure_day.c.day == day))
    ).one_or_none()
    return (read_row(StoredDay, row), row.leaf_index) if row else None


async def days_of_site(
    connection: Connection, site_id: int, start: date, end: date
) -> Sequence[tuple[date, SiteCounts]]:
    """Return what is shown to a site of each day with noise from start up to end."""
    counts = site_exposure.c
    joined = exposure_day.outerjoin(
        site_exposure, (counts.day == exposure_day.c.day) & (counts.site_id == site_id)
    )
    query = (
        select(
            exposure_day.c.day,
            exposure_day.c.noise_key,
            *(coalesce(counts[name], 0) for name in _AMOUNTS),
        )
        .select_from(joined)
        .where(exposure_day.c.day >= start, exposure_day.c.day < end)
        .where(exposure_day.c.noise_key.is_not(None))
    )
    rows = (await connection.execute(query.order_by(exposure_day.c.day))).all()
    return [
        (day, add_noise(SiteCounts(site_id, *amounts), key))
        for day, key, *amounts in rows
    ]


async def months_of_site(
    connection: Connection, site_id: int, start: date, end: date
) -> Sequence[Any]:
    """Return month and exact counts of each month that is over, from that of start.

    A month is whole or not there, else a day could be computed from two answers.
    """
    bounds = {"site_id": site_id, "start": start, "end": end}
    return (await connection.execute(_MONTHS, bounds)).all()
