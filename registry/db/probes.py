"""SQL of quality probes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, bindparam, select
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection
from registry.db.prepared import Prepared
from registry.db.tables import probe

_SINCE = Prepared(
    select(probe)
    .where(
        probe.c.site_id == bindparam("site_id"),
        probe.c.observed_at >= bindparam("since"),
    )
    .order_by(probe.c.observed_at.desc())
    .limit(bindparam("limit", type_=Integer))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProbe:
    observed_at: datetime
    outcome: str
    elapsed_ms: int


async def save_probe(connection: Connection, site_id: int, one: StoredProbe) -> None:
    statement = insert(probe).values(
        site_id=site_id,
        observed_at=one.observed_at,
        outcome=one.outcome,
        elapsed_ms=one.elapsed_ms,
    )
    await connection.execute(statement.on_conflict_do_nothing())


async def probes_since(
    connection: Connection, site_id: int, since: datetime, limit: int = 2000
) -> Sequence[StoredProbe]:
    """The newest first."""
    return [
        StoredProbe(
            observed_at=row.observed_at, outcome=row.outcome, elapsed_ms=row.elapsed_ms
        )
        for row in await _SINCE(connection, site_id=site_id, since=since, limit=limit)
    ]
