"""SQL of what belongs to a ranking record: its columns, disclosures and selection.

A ranking has one row beside its record. Each disclosure is a column of it, packed (see
`records.packing`), so that one can be erased and the others stay; what derives from it is a
column too (see `records.ranking_columns`), and is erased with it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text
from typing_extensions import override

from registry.db.engine.engines import Connection, DatabaseError, driver_errors
from registry.db.engine.insert_new import insert_new
from registry.db.log.erased_pages import (
    EMPTY_RANKING,
    EMPTY_SELECTION,
    ERASED,
    note_pages,
)
from registry.db.schema.column_types import uuid_of
from registry.db.schema.tables import ranking, selection
from registry.records.packing import pack, pack_disclosure, unpack_openings
from registry.records.ranked_answer import DISCLOSED, AnswerOnRecord
from registry.records.ranking_columns import RankingColumns, unpack_sites
from registry.records.record import Record


@dataclass(frozen=True, slots=True)
class RankingRow:
    """All that is stored of a ranking. values: the parameters of `INSERT_RANKING`."""

    answer: AnswerOnRecord
    values: tuple[object, ...]


FEW = 8
"""Rankings; beyond it one statement for all is less work than one for each."""

COLUMNS = (*RankingColumns._fields, *DISCLOSED)
"""Columns of a ranking behind its id; the first is a column of its record too."""

_NAMES = ", ".join(COLUMNS)
_COLUMN_TYPES = {
    "accepted_at": "timestamptz",
    "operator": "text",
    "eligible": "bigint",
    "category": "text",
    "located": "boolean",
}
_PARAMETERS = ", ".join(f"${number}" for number in range(5, 5 + len(COLUMNS)))
_ARRAYS = ", ".join(
    f"${number}::{_COLUMN_TYPES.get(name, 'bytea')}[]"
    for number, name in enumerate(COLUMNS, 5)
)

# Both rows of a ranking or neither, and all rankings of a batch or none: what goes out
# in one round trip is a transaction by itself.
INSERT_RANKING = f"""
    WITH recorded AS (
        INSERT INTO audit.pending (record_id, kind, body, leaf_hash, accepted_at)
        VALUES ($1, $2, $3, $4, $5)
    )
    INSERT INTO audit.ranking (record_id, {_NAMES}) VALUES ($1, {_PARAMETERS})
"""  # noqa: S608 — of our own names

INSERT_RANKINGS = f"""
    WITH recorded AS (
        INSERT INTO audit.pending (record_id, kind, body, leaf_hash, accepted_at)
        SELECT * FROM unnest(
            $1::uuid[], $2::text[], $3::bytea[], $4::bytea[], $5::timestamptz[]
        )
    )
    INSERT INTO audit.ranking (record_id, {_NAMES})
    SELECT * FROM unnest($1::uuid[], {_ARRAYS})
"""  # noqa: S608 — of our own names


class CounterMissing(DatabaseError):
    """A ranking is to be counted for an operator that has no counter."""


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
    not at all there: after a connection that breaks during the commit this is unknown.
    """

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.is_broken_off = False

    @classmethod
    async def over(cls, connection: Connection) -> "RankingWriter":
        raw = await connection.get_raw_connection()
        return cls(raw.driver_connection)

    async def write(self, batch: Sequence[RankingRow]) -> Sequence[int | None]:
        """Return the rankings' numbers, None each. Raises: DatabaseError, OSError."""
        with driver_errors():
            await self._insert([row.values for row in batch])
        return [None] * len(batch)

    async def _insert(self, rows: Sequence[tuple[object, ...]]) -> None:
        if len(rows) <= FEW:
            await self._driver.executemany(INSERT_RANKING, rows)
        else:
            await self._driver.execute(INSERT_RANKINGS, *zip(*rows, strict=True))

    def break_off(self) -> None:
        """End the connection, and with it a `write` that hangs on it."""
        self.is_broken_off = True
        self._driver.terminate()


class CountingWriter(RankingWriter):
    """Gives each ranking its number among those of its operator.

    Counters and rankings are one transaction, and the counters are locked until it
    ends: whatever its outcome, and whichever processes write, no number is left out or given
    twice, and the numbers go up in the order of the commits.
    """

    @override
    async def write(self, batch: Sequence[RankingRow]) -> Sequence[int | None]:
        operators = sorted({str(row.answer.operator) for row in batch})
        with driver_errors():
            async with self._driver.transaction():
                counters = await self._driver.fetch(LOCK_COUNTS, operators)
                if len(counters) < len(operators):
                    raise CounterMissing(f"{len(operators) - len(counters)} have none")
                counts = {row["operator_id"]: row["rankings"] for row in counters}
                numbers = [_next(counts, str(row.answer.operator)) for row in batch]
                await self._insert(list(map(_numbered, batch, numbers)))
                await self._driver.execute(
                    SAVE_COUNTS, list(counts), list(counts.values())
                )
        return numbers


def _next(counts: dict[str, int], operator: str) -> int:
    counts[operator] += 1
    return counts[operator]


def _numbered(row: RankingRow, number: int) -> tuple[object, ...]:
    return _values(row.answer, row.answer.counted(number))


async def openings_of(connection: Connection, record_id: str) -> dict[str, str]:
    """Return the disclosures that are not erased, by name."""
    query = select(ranking).where(ranking.c.record_id == record_id)
    row = (await connection.execute(query)).one_or_none()
    return {} if row is None else _unpack(row)


def _unpack(row: Row[Any]) -> dict[str, str]:
    packed = {name: getattr(row, name) for name in DISCLOSED}
    return unpack_openings(packed, row.eligible, row.returned, row.sampled)


_PAGE = "CAST(CAST(tableoid AS regclass) AS text) AS part, ctid"
LOCK_OPENINGS = text(f"""
    SELECT returned, sampled, eligible, {", ".join(DISCLOSED)}, {_PAGE} FROM audit.ranking
    WHERE record_id = ANY (CAST(:ids AS uuid[])) FOR UPDATE
""")  # noqa: S608 — of our own names

ERASE = text(f"""
    UPDATE audit.ranking SET {EMPTY_RANKING}
    WHERE record_id = ANY (CAST(:ids AS uuid[]))
        AND num_nonnulls({", ".join(ERASED)}) > 0
""")  # noqa: S608 — of our own names

_CHOSEN = "WHERE ranking_id = ANY (CAST(:ids AS uuid[])) AND choice IS NOT NULL"
LOCK_CHOICES = text(f"SELECT {_PAGE} FROM audit.selection {_CHOSEN} FOR UPDATE")  # noqa: S608
# First to zeros, so that more than the least row is free where both versions were.
ZERO_CHOICES = text(
    "UPDATE audit.selection SET site_id = NULL, "  # noqa: S608 — of our own names
    f"choice = decode(repeat('00', length(choice)), 'hex') {_CHOSEN}"
)
ERASE_CHOICES = text(f"UPDATE audit.selection SET {EMPTY_SELECTION} {_CHOSEN}")  # noqa: S608
# Those of version 1, which have no such disclosure, stand in the log for everybody.


async def erase_openings(
    connection: Connection, record_ids: Sequence[str]
) -> list[str]:
    """Erase what rankings in the log disclose. Return the disclosures that are no more."""
    ids = {"ids": [uuid_of(record_id) for record_id in record_ids]}
    rows = (await connection.execute(LOCK_OPENINGS, ids)).all()
    choices = (await connection.execute(LOCK_CHOICES, ids)).all()
    for statement in (ERASE, ZERO_CHOICES, ERASE_CHOICES):
        await connection.execute(statement, ids)
    opened = [(row, list(_unpack(row).values())) for row in rows]
    touched = [row for row, disclosures in opened if disclosures]
    pages = [(row.part, row.ctid[0]) for row in (*touched, *choices)]
    await note_pages(connection, pages)
    return [disclosure for _, disclosures in opened for disclosure in disclosures]


async def returned_sites(
    connection: Connection, record_id: str
) -> tuple[int, ...] | None:
    """Return the sites of an answer in their order; None once they are erased."""
    query = select(ranking.c.returned, ranking.c.query)
    row = (
        await connection.execute(query.where(ranking.c.record_id == record_id))
    ).one()
    return None if row.query is None else unpack_sites(row.returned)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSelection:
    """record_id: of the selection. site_id: None for no site. choice: the disclosure."""

    ranking_id: str
    record_id: str
    site_id: int | None
    choice: str
    accepted_at: datetime


async def save_selection(connection: Connection, new: StoredSelection) -> bool:
    """Save a selection; return False if the ranking has one already."""
    values = asdict(new) | {"choice": pack_disclosure("choice", new.choice)}
    return await insert_new(connection, selection, values, selection.c.ranking_id)


def row_of(answer: AnswerOnRecord) -> RankingRow:
    """Prepare what is stored; of an answer that is yet to be counted all but its record."""
    values = () if answer.operator else _values(answer, answer.record)
    return RankingRow(answer, values)


def _values(answer: AnswerOnRecord, record: Record) -> tuple[object, ...]:
    return (
        uuid_of(record.id),
        record.kind,
        pack(record.body),
        record.leaf_hash,
        *answer.columns,
        *answer.openings,
    )
