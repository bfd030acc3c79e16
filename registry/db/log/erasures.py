"""SQL of erasure: which record of the log states that disclosures are erased.

The erasure itself is `rankings.erase_openings`.
"""

from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import and_, func, or_, select

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import entry, erasure


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredErasure:
    """record_id: of the erase record. One ranking by itself, or a range by schedule."""

    record_id: str
    first_index: int
    last_index: int
    is_scheduled: bool
    erased_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedEntry:
    leaf_index: int
    record_id: str
    kind: str
    accepted_at: datetime


async def save_erasure(connection: Connection, new: StoredErasure) -> bool:
    """Save an erasure; return False if there is the same one already."""
    return await insert_new(connection, erasure, asdict(new), constraint="erasure_once")


async def find_erasure(connection: Connection, leaf_index: int) -> StoredErasure | None:
    """The first that covers the leaf."""
    scheduled = select(func.max(erasure.c.first_index)).where(
        erasure.c.is_scheduled, erasure.c.first_index <= leaf_index
    )
    alone = and_(erasure.c.first_index == leaf_index, ~erasure.c.is_scheduled)
    in_range = and_(
        erasure.c.first_index == scheduled.scalar_subquery(), erasure.c.is_scheduled
    )
    query = (
        select(erasure)
        .where(or_(alone, in_range), erasure.c.last_index >= leaf_index)
        .order_by(erasure.c.erased_at, erasure.c.is_scheduled)
        .limit(1)
    )
    row = (await connection.execute(query)).one_or_none()
    return read_row(StoredErasure, row) if row else None


async def last_scheduled_index(connection: Connection) -> int:
    """Return the index up to which the schedule has erased; -1 before its first run."""
    query = select(func.max(erasure.c.last_index)).where(erasure.c.is_scheduled)
    last_index = (await connection.execute(query)).scalar_one()
    return -1 if last_index is None else last_index


async def entries_after(
    connection: Connection, after_index: int, limit: int
) -> list[DatedEntry]:
    """Return entries in the order of the log, which is about that of time."""
    query = (
        select(entry.c.leaf_index, entry.c.record_id, entry.c.kind, entry.c.accepted_at)
        .where(entry.c.leaf_index > after_index)
        .order_by(entry.c.leaf_index)
        .limit(limit)
    )
    rows = await connection.execute(query)
    return [read_row(DatedEntry, row) for row in rows]
