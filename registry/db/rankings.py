"""SQL of what belongs to a ranking record: openings, eligible samples, selections."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection, driver_errors
from registry.db.log import AcceptedRecord
from registry.db.tables import opening, selection


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingToLog:
    """A ranking record with its erasable part.

    openings: disclosure name and its encoded form (RFC 9901).
    eligible: a uniform sample of the eligible sites.
    """

    record: AcceptedRecord
    openings: Sequence[tuple[str, str]]
    eligible: Sequence[int]


class RankingWriter:
    """Commits many rankings in one transaction, by COPY.

    Its connection is its own: nothing else may run on it. `write` returns once the
    batch is durable (`synchronous_commit` is on). When it raises, the batch is whole or
    not at all there: a connection that breaks during the commit does not tell which.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    @classmethod
    async def over(cls, connection: Connection) -> "RankingWriter":
        raw = await connection.get_raw_connection()
        return cls(raw.driver_connection)

    async def write(self, batch: Sequence[RankingToLog]) -> None:
        """Raises: DatabaseError, OSError."""
        with driver_errors():
            await self._copy(batch)

    def abort(self) -> None:
        """Break the connection off, so that a `write` that hangs on it ends."""
        self._driver.terminate()

    async def _copy(self, batch: Sequence[RankingToLog]) -> None:
        driver = self._driver
        async with driver.transaction():
            await driver.copy_records_to_table(
                "pending",
                schema_name="audit",
                columns=("record_id", "kind", "body", "leaf_hash", "accepted_at"),
                records=[_pending_row(one.record) for one in batch],
            )
            await driver.copy_records_to_table(
                "opening",
                schema_name="audit",
                columns=("record_id", "name", "disclosure"),
                records=[
                    (one.record.record_id, name, encoded)
                    for one in batch
                    for name, encoded in one.openings
                ],
            )
            await driver.copy_records_to_table(
                "eligible_sample",
                schema_name="audit",
                columns=("record_id", "site_ids"),
                records=[(one.record.record_id, list(one.eligible)) for one in batch],
            )


async def openings_of(connection: Connection, record_id: str) -> dict[str, str]:
    """The disclosures that are not erased, by name."""
    query = select(opening.c.name, opening.c.disclosure).where(
        opening.c.record_id == record_id
    )
    return {row.name: row.disclosure for row in await connection.execute(query)}


async def save_selection(
    connection: Connection,
    ranking_id: str,
    record_id: str,
    site_id: int | None,
    now: datetime,
) -> bool:
    """False if the ranking has its selection already."""
    statement = insert(selection).values(
        ranking_id=ranking_id, record_id=record_id, site_id=site_id, accepted_at=now
    )
    result = await connection.execute(
        statement.on_conflict_do_nothing(index_elements=[selection.c.ranking_id])
    )
    return bool(result.rowcount)


def _pending_row(record: AcceptedRecord) -> tuple[object, ...]:
    return (
        record.record_id,
        record.kind,
        record.body,
        record.leaf_hash,
        record.accepted_at,
    )
