"""SQL of auditors' attestations: which of them are on record, so that none is twice."""

from datetime import datetime
from hashlib import sha256

from sqlalchemy.dialects.postgresql import insert

from registry.db.engine.engines import Connection
from registry.db.schema.tables import attestation


async def save_attestation(
    connection: Connection, statement: bytes, record_id: str, now: datetime
) -> bool:
    """Save an attestation; return False if the auditor made the same one already."""
    inserted = insert(attestation).values(
        digest=sha256(statement).digest(), record_id=record_id, accepted_at=now
    )
    result = await connection.execute(
        inserted.on_conflict_do_nothing(index_elements=[attestation.c.digest])
    )
    return bool(result.rowcount)
