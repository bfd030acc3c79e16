"""Putting an auditor's attestation on record: rankings recomputed, what came out."""

from collections.abc import Collection

from registry.db.engine.engines import Connection
from registry.db.log import attestations
from registry.db.log import entries as log
from registry.errors import Conflict, Forbidden, Refused
from registry.records.attestation import Rescoring
from registry.records.record import rescore_record
from registry.usecases import refusals
from registry.usecases.ids import IdSource
from registry.usecases.log.promiser import Promised, Promiser


def verify_known(auditor: str, auditors: Collection[str]) -> None:
    """Raises: Forbidden."""
    if auditor not in auditors:
        raise Forbidden(refusals.AUDITOR_UNKNOWN, pointer="/auditor")


async def accept_attestation(
    connection: Connection,
    rescoring: Rescoring,
    *,
    auditors: Collection[str],
    origin: str,
    promiser: Promiser,
    ids: IdSource,
) -> Promised:
    """auditors: verifier keys of those whose word is put on record. origin: of the log.

    Raises: Refused, Forbidden, Unavailable, Conflict if it is on record already.
    """
    promiser.verify_log_moves()
    verify_known(rescoring.auditor, auditors)
    rescoring.verify_for(origin)
    newest = await log.latest_checkpoint(connection)
    if newest is None or rescoring.last_index >= newest.size:
        raise Refused(refusals.ATTESTATION_BEYOND_LOG, pointer="/last")
    now = ids.clock()
    record = rescore_record(record_id=ids.ulid(), at=now, rescoring=rescoring)
    fresh = await attestations.save_attestation(
        connection, rescoring.statement, record.id, now
    )
    if not fresh:
        raise Conflict(refusals.ATTESTATION_KNOWN)
    return await promiser.accept(connection, record, now)
