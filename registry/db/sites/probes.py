"""SQL of quality probes."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import text

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.prepared import Prepared
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import probe
from registry.ranking.quality import NEWEST, StoredProbe

_SINCE = Prepared(
    text("""
    SELECT p.site_id, p.observed_at, p.outcome, p.elapsed_ms
    FROM unnest(CAST(:site_ids AS bigint[])) AS one (site_id),
    LATERAL (
        SELECT * FROM registry.probe
        WHERE site_id = one.site_id AND observed_at >= :since
        ORDER BY observed_at DESC LIMIT :limit
    ) AS p
    ORDER BY p.observed_at DESC
""")
)


async def save_probe(connection: Connection, site_id: int, result: StoredProbe) -> None:
    await insert_new(connection, probe, {"site_id": site_id, **asdict(result)})


async def probes_since(
    connection: Connection, site_id: int, since: datetime, limit: int = NEWEST
) -> list[StoredProbe]:
    """The newest first."""
    return (await probes_of_sites(connection, [site_id], since, limit))[site_id]


async def probes_of_sites(
    connection: Connection,
    site_ids: Sequence[int],
    since: datetime,
    limit: int = NEWEST,
) -> dict[int, list[StoredProbe]]:
    """The newest of each first. limit: of a site."""
    probes: dict[int, list[StoredProbe]] = {site_id: [] for site_id in site_ids}
    given = {"site_ids": list(site_ids), "since": since, "limit": limit}
    for row in await _SINCE(connection, **given):
        probes[row.site_id].append(read_row(StoredProbe, row))
    return probes
