"""SQL of owners' hints: of each site, which was the last one and what it cost."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from sqlalchemy import select, update

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import refresh

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRefresh:
    """issued_at: `iat` of the last accepted one. paid_until: see `Allowance`."""

    issued_at: datetime = _NEVER
    paid_until: datetime = _NEVER


async def lock_last(connection: Connection, site_id: int) -> LastRefresh:
    """Lock the last refresh until the transaction ends; also where there was none."""
    await insert_new(connection, refresh, {"site_id": site_id, **asdict(LastRefresh())})
    query = select(refresh).where(refresh.c.site_id == site_id).with_for_update()
    row = (await connection.execute(query)).one()
    return read_row(LastRefresh, row)


async def save_last(connection: Connection, site_id: int, last: LastRefresh) -> None:
    await connection.execute(
        update(refresh).where(refresh.c.site_id == site_id).values(asdict(last))
    )
