"""SQL of what fairness reports are computed from, read as the auditor."""

from datetime import datetime

from sqlalchemy import text

from registry.audit.disclosure import parse_disclosure
from registry.audit.record import parse_record
from registry.db.engine import Connection
from registry.fairness.observation import (
    ObservedRanking,
    ObservedSelection,
    SiteDisclosure,
)
from registry.sites.identifier import spell_site_id

RANKINGS = text("""
    WITH ranking AS (
        SELECT record_id, body FROM audit.entry
        WHERE kind = 'ranking' AND accepted_at >= :start AND accepted_at < :end
        UNION ALL
        SELECT record_id, body FROM audit.pending
        WHERE kind = 'ranking' AND accepted_at >= :start AND accepted_at < :end
    )
    SELECT r.record_id, r.body, e.site_ids AS eligible, o.disclosure AS query,
        s.record_id AS selection_id, s.site_id AS selected
    FROM ranking AS r
    LEFT JOIN audit.eligible_sample AS e USING (record_id)
    LEFT JOIN audit.opening AS o ON o.record_id = r.record_id AND o.name = 'query'
    LEFT JOIN audit.selection AS s ON s.ranking_id = r.record_id
    ORDER BY r.record_id
""")

LABELS = text("""
    SELECT s.site_id, s.registrable_domain, l.size, l.independence,
        l.commission_percent
    FROM registry.site AS s LEFT JOIN disclosure.site_label AS l USING (site_id)
    ORDER BY s.site_id
""")


async def observed_rankings(
    connection: Connection, start: datetime, end: datetime
) -> list[ObservedRanking]:
    """Ranked answers of [start, end), in the order of their ids."""
    rows = await connection.execute(RANKINGS, {"start": start, "end": end})
    found = []
    for row in rows:
        record = parse_record(row.body)
        selection = None
        if row.selection_id is not None:
            selected = None if row.selected is None else spell_site_id(row.selected)
            selection = ObservedSelection(site_id=selected)
        found.append(
            ObservedRanking(
                id=row.record_id,
                eligible=_integer(record["n"]),
                returned=tuple(_texts(record["order"])),
                eligible_sample=tuple(map(spell_site_id, row.eligible or ())),
                selection=selection,
                query=_query(row.query),
            )
        )
    return found


async def site_disclosures(connection: Connection) -> list[SiteDisclosure]:
    return [
        SiteDisclosure(
            site_id=spell_site_id(row.site_id),
            size=row.size or "unknown",
            independence=row.independence or "unknown",
            commission_percent=row.commission_percent,
            domain=row.registrable_domain,
        )
        for row in await connection.execute(LABELS)
    ]


def _query(disclosure: str | None) -> str:
    """The words asked, while they are not erased."""
    return str(parse_disclosure(disclosure).value) if disclosure else ""


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("a ranking record counts its eligible sites")
    return value


def _texts(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        raise TypeError("a ranking record lists its order")
    return [str(one) for one in value]
