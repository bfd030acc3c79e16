"""SQL of policies: which stood in the log, since when, and their exact bytes."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import DateTime, select, text

from registry.db.column_types import Packed, RecordId
from registry.db.engine import Connection
from registry.db.tables import policy

# The first checkpoint that covers the record: no ranking could use the policy before.
HISTORY = text("""
    SELECT p.digest, p.body, p.record_id, e.leaf_index, e.body AS record,
        e.accepted_at, c.published_at
    FROM audit.policy AS p JOIN audit.entry AS e USING (record_id)
    CROSS JOIN LATERAL (
        SELECT published_at FROM audit.checkpoint WHERE size > e.leaf_index
        ORDER BY size LIMIT 1
    ) AS c
    ORDER BY e.leaf_index
""").columns(
    record_id=RecordId,
    record=Packed,
    accepted_at=DateTime(timezone=True),
    published_at=DateTime(timezone=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedPolicy:
    """body: canonical JSON, whose SHA-256 is the digest. record: as it was logged."""

    digest: str
    body: bytes
    record_id: str
    record: bytes
    leaf_index: int
    accepted_at: datetime
    published_at: datetime


async def logged_policies(connection: Connection) -> list[LoggedPolicy]:
    """All that have ever stood in the log, in its order."""
    return [
        LoggedPolicy(
            digest=row.digest,
            body=row.body,
            record_id=row.record_id,
            record=row.record,
            leaf_index=row.leaf_index,
            accepted_at=row.accepted_at,
            published_at=row.published_at,
        )
        for row in await connection.execute(HISTORY)
    ]


async def find_policy(connection: Connection, digest: str) -> bytes | None:
    """The bytes that the digest names; None where no such policy was ever used."""
    query = select(policy.c.body).where(policy.c.digest == digest)
    body: bytes | None = (await connection.execute(query)).scalar_one_or_none()
    return body
