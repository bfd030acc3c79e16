"""Handing a record to the log, inside the transaction of what it records."""

from datetime import datetime

from registry.db.engine.engines import Connection
from registry.db.log import entries as log
from registry.records.record import Record


def accepted(record: Record, at: datetime) -> log.AcceptedRecord:
    return log.AcceptedRecord(
        record_id=record.id,
        kind=record.kind,
        body=record.body,
        leaf_hash=record.leaf_hash,
        accepted_at=at,
    )


async def accept_record(connection: Connection, record: Record, at: datetime) -> None:
    await log.accept(connection, accepted(record, at))
