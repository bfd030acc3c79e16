"""SQL of what belongs to a ranking record: disclosures, eligible samples, selections.

A ranking has one row beside its record. Each disclosure is a column of it, packed (see
`audit.packing`), so that one can be erased and the others stay.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Row, select, text
from sqlalchemy.dialects.postgresql import insert
from typing_extensions import override

from registry.audit.packing import pack, unpack_disclosure
from registry.audit.ranked_answer import DISCLOSED, AnswerOnRecord
from registry.audit.record import Record, counted
from registry.db.column_types import Packed, uuid_of
from registry.db.engine import Connection, DatabaseError, driver_errors
from registry.db.tables import entry, pending, ranking, selection


@dataclass(frozen=True, slots=True)
class RankingRow:
    """What is stored of a ranking.

    operator: for whom it is counted. values: the parameters of `RECORD_ONE`.
    """

    record: Record
    operator: str | None
    values: tuple[object, ...]


class _Ordered(msgspec.Struct):
    order: tuple[str, ...] = ()


FEW = 8
"""Rankings; beyond it one statement for all is less work than one for each."""

# Both rows of a ranking or neither, and all rankings of a batch or none: what goes out
# in one round trip is a transaction by itself.
RECORD_ONE = """
    WITH recorded AS (
        INSERT INTO audit.pending (record_id, kind, body, leaf_hash, accepted_at)
        VALUES ($1, $2, $3, $4, $5)
    )
    INSERT INTO audit.ranking
        (record_id, query, location, filters, request, scores, terms, eligible)
    VALUES ($1, $6, $7, $8, $9, $10, $11, $12)
"""

RECORD_MANY = """
    WITH recorded AS (
        INSERT INTO audit.pending (record_id, kind, body, leaf_hash, accepted_at)
        SELECT * FROM unnest(
            $1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::timestamptz[]
        )
    )
    INSERT INTO audit.ranking
        (record_id, query, location, filters, request, scores, terms, eligible)
    SELECT * FROM unnest(
        $1::uuid[], $6::bytea[], $7::bytea[], $8::bytea[], $9::bytea[], $10::bytea[],
        $11::bytea[], $12::bytea[]
    )
"""


class CounterMissing(DatabaseError):
    """A ranking is to be counted for somebody who has no counter."""


LOCK_COUNTS = """
    SELECT operator_id, rankings FROM audit.operator_count
    WHERE operator_id = ANY ($1::text[]) ORDER BY operator_id FOR UPDATE
"""  # in one order everywhere, so that no two wait for each other

SAVE_COUNTS = """
    UPDATE audit.operator_count AS c SET rankings = counted.rankings
    FROM unnest($1::text[], $2::bigint[]) AS counted (operator_id, rankings)
    WHERE c.operator_id = counted.operator_id
"""


class RankingWriter:
    """Commits many rankings in one round trip.

    Its connection is its own: nothing else may run on it. `write` returns once the
    batch is durable (`synchronous_commit` is on). When it raises, the batch is whole or
    not at all there: a connection that breaks during the commit does not tell which.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.is_broken_off = False

    @classmethod
    async def over(cls, connection: Connection) -> "RankingWriter":
        raw = await connection.get_raw_connection()
        return cls(raw.driver_connection)

    async def write(self, batch: Sequence[RankingRow]) -> Sequence[int | None]:
        """The numbers of the rankings: these have none. Raises: DatabaseError, OSError."""
        with driver_errors():
            await self._insert([one.values for one in batch])
        return [None] * len(batch)

    async def _insert(self, rows: Sequence[tuple[object, ...]]) -> None:
        if len(rows) <= FEW:
            await self._driver.executemany(RECORD_ONE, rows)
        else:
            await self._driver.execute(RECORD_MANY, *zip(*rows, strict=True))

    def break_off(self) -> None:
        """End the connection, and with it a `write` that hangs on it."""
        self.is_broken_off = True
        self._driver.terminate()


class CountingWriter(RankingWriter):
    """Gives each ranking its number among those of its operator.

    Counters and rankings are one transaction, and the counters are locked until it
    ends: whatever becomes of it, and whoever else writes, no number is left out or given
    twice, and the numbers go up in the order of the commits.
    """

    @override
    async def write(self, batch: Sequence[RankingRow]) -> Sequence[int | None]:
        operators = sorted({str(one.operator) for one in batch})
        with driver_errors():
            async with self._driver.transaction():
                found = await self._driver.fetch(LOCK_COUNTS, operators)
                if len(found) < len(operators):
                    raise CounterMissing(f"{len(operators) - len(found)} have none")
                counts = {row["operator_id"]: row["rankings"] for row in found}
                numbers = [_next(counts, str(one.operator)) for one in batch]
                await self._insert(list(map(_numbered, batch, numbers)))
                await self._driver.execute(
                    SAVE_COUNTS, list(counts), list(counts.values())
                )
        return numbers


def _next(counts: dict[str, int], operator: str) -> int:
    counts[operator] += 1
    return counts[operator]


def _numbered(row: RankingRow, number: int) -> tuple[object, ...]:
    record = counted(row.record, number)
    identity, kind, _, _, *rest = row.values
    return (identity, kind, pack(record.body), record.leaf_hash, *rest)


async def openings_of(connection: Connection, record_id: str) -> dict[str, str]:
    """The disclosures that are not erased, by name."""
    row = await _find(connection, record_id)
    return {} if row is None else _unpack(row)


def _unpack(row: Row[Any]) -> dict[str, str]:
    """row: the disclosures' columns, and the record's body."""
    order = msgspec.json.decode(row.body, type=_Ordered).order
    packed = {name: getattr(row, name) for name in DISCLOSED}
    return {
        name: unpack_disclosure(name, value, order)
        for name, value in packed.items()
        if value is not None
    }


LOCK_OPENINGS = text("""
    SELECT r.query, r.location, r.filters, r.request, r.scores, r.terms, e.body
    FROM audit.ranking AS r JOIN audit.entry AS e USING (record_id)
    WHERE r.record_id = ANY (CAST(:ids AS uuid[])) FOR UPDATE OF r
""").columns(body=Packed)

ERASE = text("""
    UPDATE audit.ranking SET query = NULL, location = NULL, filters = NULL,
        request = NULL, scores = NULL, terms = NULL
    WHERE record_id = ANY (CAST(:ids AS uuid[]))
        AND num_nonnulls(query, location, filters, request, scores, terms) > 0
""")


async def erase_openings(
    connection: Connection, record_ids: Sequence[str]
) -> list[str]:
    """The disclosures that are no more; of rankings that stand in the log."""
    ids = {"ids": [uuid_of(one) for one in record_ids]}
    rows = (await connection.execute(LOCK_OPENINGS, ids)).all()
    await connection.execute(ERASE, ids)
    return [disclosure for row in rows for disclosure in _unpack(row).values()]


def unpack_eligible(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // 8}q", packed)


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


async def _find(connection: Connection, record_id: str) -> Row[Any] | None:
    """The ranking's row with the body of its record, wherever that lies by now."""
    for table in (entry, pending, entry):
        query = (
            select(ranking, table.c.body)
            .join(table, table.c.record_id == ranking.c.record_id)
            .where(ranking.c.record_id == record_id)
        )
        row = (await connection.execute(query)).one_or_none()
        if row is not None:
            return row
    return None


def row_of(one: AnswerOnRecord) -> RankingRow:
    values = (
        uuid_of(one.record.id),
        one.record.kind,
        one.packed,
        one.leaf_hash,
        one.at,
        *one.openings,
        one.sample,
    )
    return RankingRow(one.record, one.operator, values)
