"""SQL of policies: which stood in the log, since when, and their exact bytes.

A policy is logged with the code that ranks by it, and again with each other code.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import DateTime, select, text

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.column_types import Packed, RecordId
from registry.db.schema.tables import policy

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


LEAF = text("""
    SELECT e.leaf_index FROM audit.policy AS p JOIN audit.entry AS e USING (record_id)
    WHERE p.digest = :digest AND p.code = :code
""")


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


async def save_policy(
    connection: Connection,
    digest: str,
    *,
    code: str,
    body: bytes,
    record_id: str,
    now: datetime,
) -> bool:
    """code: the digest of the code that ranks. False if both are there already."""
    identity = {"digest": digest, "code": code, "record_id": record_id}
    values = {**identity, "body": body, "effective_at": now}
    return await insert_new(connection, policy, values, policy.c.digest, policy.c.code)


async def policy_leaf(connection: Connection, digest: str, code: str) -> int | None:
    """Return the leaf of the policy with this code; None until it is logged."""
    result = await connection.execute(LEAF, {"digest": digest, "code": code})
    leaf: int | None = result.scalar_one_or_none()
    return leaf


async def logged_policies(connection: Connection) -> list[LoggedPolicy]:
    """All that have ever stood in the log, in its order."""
    rows = await connection.execute(HISTORY)
    return [read_row(LoggedPolicy, row) for row in rows]


async def find_policy(connection: Connection, digest: str) -> bytes | None:
    """The bytes that the digest names; None where no such policy was ever used."""
    query = select(policy.c.body).where(policy.c.digest == digest).limit(1)
    body: bytes | None = (await connection.execute(query)).scalar_one_or_none()
    return body
