"""SQL of what fairness reports are computed from, read as the auditor."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from registry.db.engine.engines import Connection
from registry.db.labels import labels_at
from registry.db.reports.window_reading import (
    BLOCK,
    StoredWindow,
    read_parts,
    read_scored,
)
from registry.reports.labels import NO_LABEL, SiteLabel
from registry.reports.window.columns import Observed, make_sites, renumber
from registry.reports.window.observation import SiteDisclosure
from registry.reports.window.site_numbers import SiteNumbers
from registry.sites.identifier import format_site_id, parse_site_id

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
    """Read the window [start, end), of one operator or of all.

    block: rankings read at once.
    """
    window = StoredWindow(start, end, operator)
    known = await site_disclosures(connection, end)
    ids = [parse_site_id(site.site_id) for site in known]
    numbers = SiteNumbers(ids)
    parts = await read_parts(connection, window, numbers, block)
    added = sorted(numbers.added)
    if added:
        in_order = SiteNumbers([*ids, *added])
        parts = [renumber(part, in_order.find(numbers.ids)) for part in parts]
        numbers = in_order
    scored = await read_scored(connection, window, numbers)
    unknown = [SiteDisclosure(site_id=format_site_id(site)) for site in added]
    return Observed(parts=parts, scored=scored, sites=make_sites([*known, *unknown]))


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
    disclosures = []
    for site_id, domain, category, registered_at in rows:
        label = labels.get(site_id, NO_LABEL)
        disclosures.append(
            SiteDisclosure(
                site_id=format_site_id(site_id),
                size=label.size or "unknown",
                independence=label.independence or "unknown",
                commission_percent=label.commission_percent,
                domain=domain,
                category=category,
                registered_at=registered_at,
            )
        )
    return disclosures
