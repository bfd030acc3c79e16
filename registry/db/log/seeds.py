"""SQL of the daily tie-break secrets."""

from dataclasses import dataclass
from datetime import date

from sqlalchemy import select, update

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import day_seed, entry


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedSeed:
    """A day's secret whose commitment is logged at `leaf_index`."""

    day: date
    secret: bytes
    leaf_index: int


async def save_seed(
    connection: Connection, day: date, secret: bytes, commitment_id: str
) -> bool:
    """Save the day's secret; return False if it has one already."""
    values = {"day": day, "secret": secret, "commitment_id": commitment_id}
    return await insert_new(connection, day_seed, values, day_seed.c.day)


async def has_seed(connection: Connection, day: date) -> bool:
    query = select(day_seed.c.day).where(day_seed.c.day == day)
    return (await connection.execute(query)).one_or_none() is not None


async def committed_seed(connection: Connection, day: date) -> CommittedSeed | None:
    """The day's secret, once its commitment stands in the log; not before."""
    query = (
        select(day_seed.c.day, day_seed.c.secret, entry.c.leaf_index)
        .join(entry, entry.c.record_id == day_seed.c.commitment_id)
        .where(day_seed.c.day == day)
    )
    row = (await connection.execute(query)).one_or_none()
    return read_row(CommittedSeed, row) if row else None


async def seeds_to_reveal(
    connection: Connection, before: date
) -> list[tuple[date, bytes]]:
    query = (
        select(day_seed.c.day, day_seed.c.secret)
        .where(day_seed.c.day < before, day_seed.c.reveal_id.is_(None))
        .order_by(day_seed.c.day)
    )
    return [(row.day, row.secret) for row in await connection.execute(query)]


async def note_reveal(connection: Connection, day: date, reveal_id: str) -> bool:
    """Mark the day's secret as revealed; return False if it is already."""
    result = await connection.execute(
        update(day_seed)
        .where(day_seed.c.day == day, day_seed.c.reveal_id.is_(None))
        .values(reveal_id=reveal_id)
    )
    return bool(result.rowcount)
