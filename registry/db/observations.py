"""SQL of what fairness reports are computed from, read as the auditor.

A window may hold millions of rankings: they come in by a server-side cursor and are put
in columns block by block, off the event loop.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text

from registry.db.engine import Connection, driver_errors
from registry.db.labels import labels_at
from registry.db.one_moment import beside, both
from registry.db.scored_columns import ScoredColumns
from registry.db.window_columns import WindowColumns
from registry.db.window_reading import BLOCK, WindowReading
from registry.fairness.labels import UNTOLD, SiteLabel
from registry.fairness.window.columns import (
    Observed,
    Rankings,
    make_sites,
    renumber,
)
from registry.fairness.window.observation import SiteDisclosure
from registry.fairness.window.site_numbers import SiteNumbers
from registry.sites.identifier import spell_site_id

SCORED_BLOCK = 2_048  # rankings whose scores are read at once

SCORES = """
    SELECT uuid_send(k.record_id), r.body, k.scores, k.location
    FROM audit.ranking AS k JOIN (
        SELECT record_id, body FROM audit.entry WHERE record_id = ANY ($1::uuid[])
        UNION ALL
        SELECT record_id, body FROM audit.pending WHERE record_id = ANY ($1::uuid[])
    ) AS r USING (record_id)
    WHERE k.record_id = ANY ($1::uuid[]) AND k.scores IS NOT NULL
"""

SITE_IDS = text("""
    SELECT array_agg(site_id ORDER BY site_id) FROM registry.site
    WHERE registered_at <= :at
""")

SITES = text("""
    SELECT site_id, registrable_domain, category, registered_at FROM registry.site
    WHERE registered_at <= :at ORDER BY site_id
""")


async def observe(
    connection: Connection,
    start: datetime,
    end: datetime,
    operator: str = "",
    *,
    block: int = BLOCK,
) -> Observed:
    """The window [start, end), of one operator or of all. connection: see `beside`."""
    ids = (await connection.execute(SITE_IDS, {"at": end})).scalar_one() or []
    reading = await WindowReading.begin(connection, start, end, block)
    front = WindowColumns(SiteNumbers(ids), operator)
    back = WindowColumns(SiteNumbers(ids), operator, backwards=True)

    async def tell_sites_and_read() -> list[SiteDisclosure]:
        told = await site_disclosures(connection, end)
        await reading.read(connection, back)
        return told

    async with beside(connection) as second:
        told, _ = await both(tell_sites_and_read(), reading.read(second, front))
        numbers, parts = _join(ids, front, back)
        scores = ScoredColumns(numbers, front.candidates.and_then(back.candidates))
        await both(_read_scores(connection, scores, 0), _read_scores(second, scores, 1))
    scored = scores.joined()
    unknown = [SiteDisclosure(site_id=spell_site_id(one)) for one in numbers.added]
    return Observed(parts=parts, scored=scored, sites=make_sites([*told, *unknown]))


def _join(
    ids: Sequence[int], *columns: WindowColumns
) -> tuple[SiteNumbers, list[Rankings]]:
    """Sites that are not known are numbered in the order of their ids."""
    numbers = SiteNumbers(ids)
    numbers.find(
        np.array([one for each in columns for one in each.numbers.added], np.int64)
    )
    parts = []
    for each in columns:
        told = numbers.find(each.numbers.ids)
        changed = len(each.numbers.added) > 0
        parts += [renumber(one, told) if changed else one for one in each.finish()]
    return numbers, parts


async def _read_scores(
    connection: Connection, scores: ScoredColumns, turn: int
) -> None:
    """Every second block. Of those whose scores were erased in between nothing is left."""
    ids = [UUID(bytes=bytes(one)) for one in scores.wanted.ids]
    raw: Any = (await connection.get_raw_connection()).driver_connection
    with driver_errors():
        for begin in range(turn * SCORED_BLOCK, len(ids), 2 * SCORED_BLOCK):
            rows = await raw.fetch(SCORES, ids[begin : begin + SCORED_BLOCK])
            await asyncio.to_thread(scores.add, rows)


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
