"""SQL of the witnesses' cosignatures, and of the checkpoint that is served with them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import func, select, text
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine.engines import Connection
from registry.db.log.entries import StoredCheckpoint, latest_checkpoint
from registry.db.schema.tables import checkpoint, cosignature

COSIGNER_LOCK = 0xC051641  # any constant; both sides of the advisory lock share it


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCosignature:
    """witness: name and key id. line: of the signed note, its newline included."""

    size: int
    witness: str
    line: str
    cosigned_at: datetime


async def save_cosignature(connection: Connection, new: StoredCosignature) -> None:
    """The first that a witness gave for a size is kept."""
    statement = insert(cosignature).values(asdict(new))
    await connection.execute(statement.on_conflict_do_nothing())


async def last_cosigned_size(connection: Connection, witness: str) -> int:
    """Return the size that a witness cosigned last, 0 if it has cosigned nothing."""
    query = select(func.max(cosignature.c.size)).where(cosignature.c.witness == witness)
    return (await connection.execute(query)).scalar_one() or 0


async def lines_of(
    connection: Connection, size: int, witnesses: Sequence[str]
) -> list[str]:
    query = (
        select(cosignature.c.line)
        .where(cosignature.c.size == size, cosignature.c.witness.in_(witnesses))
        .order_by(cosignature.c.witness)
    )
    return list((await connection.execute(query)).scalars())


async def newest_checkpoint(
    connection: Connection, witnesses: Sequence[str], quorum: int
) -> StoredCheckpoint | None:
    """The newest that so many of the witnesses have cosigned."""
    if quorum == 0:
        return await latest_checkpoint(connection)
    sizes = (
        select(cosignature.c.size)
        .where(cosignature.c.witness.in_(witnesses))
        .group_by(cosignature.c.size)
        .having(func.count() >= quorum)
        .order_by(cosignature.c.size.desc())
        .limit(1)
    )
    query = select(checkpoint).where(checkpoint.c.size == sizes.scalar_subquery())
    row = (await connection.execute(query)).one_or_none()
    return StoredCheckpoint(**row._mapping) if row else None  # noqa: SLF001 — its public name for it


async def try_cosigner_lock(connection: Connection) -> bool:
    """Try to become the witnesses' client, for as long as this connection lives."""
    query = text("SELECT pg_try_advisory_lock(:key)")
    locked = await connection.execute(query, {"key": COSIGNER_LOCK})
    return bool(locked.scalar_one())
