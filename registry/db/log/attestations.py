"""SQL of auditors' attestations: which of them are on record, so that none is twice."""

from datetime import datetime
from hashlib import sha256

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.schema.tables import attestation


async def save_attestation(
    connection: Connection, statement: bytes, record_id: str, now: datetime
) -> bool:
    """Save an attestation; return False if the auditor made the same one already."""
    digest = sha256(statement).digest()
    values = {"digest": digest, "record_id": record_id, "accepted_at": now}
    return await insert_new(connection, attestation, values, attestation.c.digest)
