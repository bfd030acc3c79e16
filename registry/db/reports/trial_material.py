"""SQL of what trials of invariance are made of: recent queries and listed sites."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, bindparam, select, text

from registry.db.engine.engines import Connection
from registry.db.schema.column_types import RecordId
from registry.db.schema.tables import site_profile
from registry.records.packing import unpack_disclosure

DISCLOSED = ("query", "location", "filters")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentRanking:
    """disclosures: encoded (RFC 9901), of DISCLOSED; none where one of them is erased."""

    record_id: str
    disclosures: tuple[str, ...]


LOGGED = (
    text("""
    SELECT record_id, query, location, filters FROM audit.ranking
    WHERE record_id IN :record_ids
""")
    .columns(record_id=RecordId)
    .bindparams(bindparam("record_ids", type_=RecordId, expanding=True))
)

# The ids of records begin with their time.
RECENT = text("""
    SELECT record_id, query, location, filters FROM audit.ranking
    WHERE query IS NOT NULL AND location IS NOT NULL AND filters IS NOT NULL
    ORDER BY record_id DESC LIMIT :most
""").columns(record_id=RecordId)

# Requested ones come first, the others in the order of their hashes.
LISTED = text("""
    SELECT p.site_id FROM registry.site_profile AS p
    LEFT JOIN unnest(CAST(:wanted AS bigint[])) AS w (site_id) USING (site_id)
    WHERE p.listed
    ORDER BY w.site_id IS NULL, hashint8extended(p.site_id, :seed) LIMIT :most
""")


async def recent_rankings(connection: Connection, most: int) -> list[RecentRanking]:
    """The newest first, those of which nothing is erased."""
    return [
        _recent_ranking(row) for row in await connection.execute(RECENT, {"most": most})
    ]


async def find_rankings(
    connection: Connection, record_ids: Sequence[str]
) -> dict[str, RecentRanking]:
    """Return those that are there, by their ids."""
    rows = await connection.execute(LOGGED, {"record_ids": record_ids})
    return {row.record_id: _recent_ranking(row) for row in rows}


def _recent_ranking(row: Row[Any]) -> RecentRanking:
    stored = {name: getattr(row, name) for name in DISCLOSED}
    is_erased = None in stored.values()
    left = {} if is_erased else stored
    return RecentRanking(
        record_id=row.record_id,
        disclosures=tuple(
            unpack_disclosure(name, value) for name, value in left.items()
        ),
    )


async def listed_ids(
    connection: Connection, wanted: Sequence[int], most: int, seed: int = 0
) -> list[int]:
    """wanted: distinct ids. seed: of those that are drawn besides."""
    limits = {"wanted": list(wanted), "most": most, "seed": seed}
    rows = await connection.execute(LISTED, limits)
    return list(rows.scalars())


async def profiles_of(
    connection: Connection, wanted: Sequence[int], policy: str, most: int
) -> dict[int, bytes]:
    """Return profiles of listed sites, the wanted among them, made under the policy.

    wanted: distinct ids, fewer than `most`.
    """
    ids = await listed_ids(connection, wanted, most)
    query = select(site_profile.c.site_id, site_profile.c.profile).where(
        site_profile.c.site_id.in_(ids), site_profile.c.policy == policy
    )
    return {row.site_id: row.profile for row in await connection.execute(query)}
