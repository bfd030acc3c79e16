"""SQL of what trials of invariance are made of: recent queries, listed sites, labels."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, text

from registry.audit.packing import unpack_disclosure
from registry.db.column_types import RecordId
from registry.db.engine import Connection
from registry.db.rankings import unpack_eligible
from registry.db.tables import site_label

DISCLOSED = ("query", "location", "filters")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentRanking:
    """disclosures: encoded (RFC 9901), of DISCLOSED. eligible: a sample of the sites."""

    record_id: str
    disclosures: tuple[str, ...]
    eligible: tuple[int, ...]


# The ids of records begin with their time.
RECENT = text("""
    SELECT record_id, query, location, filters, eligible FROM audit.ranking
    WHERE query IS NOT NULL AND location IS NOT NULL AND filters IS NOT NULL
    ORDER BY record_id DESC LIMIT :most
""").columns(record_id=RecordId)

# Those that are wanted come first, the others as their hashes fall.
LISTED = text("""
    SELECT p.site_id FROM registry.site_profile AS p
    LEFT JOIN unnest(CAST(:wanted AS bigint[])) AS w (site_id) USING (site_id)
    WHERE p.listed
    ORDER BY w.site_id IS NULL, hashint8extended(p.site_id, 0) LIMIT :most
""")


async def recent_rankings(connection: Connection, most: int) -> list[RecentRanking]:
    """The newest first, those of which nothing is erased."""
    return [
        RecentRanking(
            record_id=row.record_id,
            disclosures=tuple(
                unpack_disclosure(name, getattr(row, name)) for name in DISCLOSED
            ),
            eligible=unpack_eligible(row.eligible),
        )
        for row in await connection.execute(RECENT, {"most": most})
    ]


async def listed_ids(
    connection: Connection, wanted: Sequence[int], most: int
) -> list[int]:
    """wanted: distinct ids."""
    rows = await connection.execute(LISTED, {"wanted": list(wanted), "most": most})
    return list(rows.scalars())


async def labels_of(
    connection: Connection, site_ids: Sequence[int]
) -> dict[int, tuple[str, str]]:
    """Size and independence of those that have a label."""
    query = select(
        site_label.c.site_id, site_label.c.size, site_label.c.independence
    ).where(site_label.c.site_id.in_(site_ids))
    rows = await connection.execute(query)
    return {row.site_id: (row.size, row.independence) for row in rows}
