"""SQL of owners' hints: of each site, which was the last one and what it cost."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine.engines import Connection
from registry.db.schema.tables import refresh

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRefresh:
    """issued_at: `iat` of the last accepted one. paid_until: see `Allowance`."""

    issued_at: datetime = _NEVER
    paid_until: datetime = _NEVER


async def lock_last(connection: Connection, site_id: int) -> LastRefresh:
    """Lock the last refresh until the transaction ends; also where there was none."""
    await connection.execute(
        insert(refresh)
        .values(site_id=site_id, issued_at=_NEVER, paid_until=_NEVER)
        .on_conflict_do_nothing()
    )
    query = select(refresh).where(refresh.c.site_id == site_id).with_for_update()
    row = (await connection.execute(query)).one()
    return LastRefresh(issued_at=row.issued_at, paid_until=row.paid_until)


async def save_last(connection: Connection, site_id: int, last: LastRefresh) -> None:
    await connection.execute(
        update(refresh)
        .where(refresh.c.site_id == site_id)
        .values(issued_at=last.issued_at, paid_until=last.paid_until)
    )
