"""SQL of the witnesses' cosignatures, of what is served with them, and of rollbacks."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import func, select, text

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.log.entries import StoredCheckpoint, latest_checkpoint
from registry.db.schema.tables import checkpoint, cosignature


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCosignature:
    """witness: name and key id. line: of the signed note, its newline included."""

    size: int
    witness: str
    line: str
    cosigned_at: datetime


PUBLISHER = "publisher"
_SAVE = text("""
    INSERT INTO audit.rollback_evidence VALUES (:source, :size, :detail)
    ON CONFLICT (source) DO UPDATE SET size = excluded.size, detail = excluded.detail
    WHERE rollback_evidence.detail <> excluded.detail
""")
# Once the log is as large again as a witness has seen it, that is none.
_LIST = text("""
    SELECT source, detail FROM audit.rollback_evidence
    WHERE detail <> '' AND (size = 0
        OR size > (SELECT coalesce(max(size), 0) FROM audit.checkpoint))
""")


async def save_evidence(
    connection: Connection, source: str, detail: str, size: int = 0
) -> None:
    """Save what a source says; detail: "" where that is nothing any more.

    size: of the larger tree that a witness cosigned; 0 of what no growth mends.
    """
    await connection.execute(_SAVE, {"source": source, "size": size, "detail": detail})


async def list_evidence(connection: Connection) -> dict[str, str]:
    """Return details by source: PUBLISHER, or a witness of another tree or a larger one."""
    rows = await connection.execute(_LIST)
    return {row.source: row.detail for row in rows}


async def save_cosignature(connection: Connection, new: StoredCosignature) -> None:
    """Save a cosignature, unless the witness has given one for this size."""
    await insert_new(connection, cosignature, asdict(new))


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
    """Return the newest that has a quorum of cosignatures."""
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
    return read_row(StoredCheckpoint, row) if row else None
