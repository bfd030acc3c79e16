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

from registry.audit.packing import pack, pack_disclosure, unpack_disclosure
from registry.db.column_types import Packed, uuid_of
from registry.db.engine import Connection, driver_errors
from registry.db.log import AcceptedRecord
from registry.db.tables import entry, pending, ranking, selection

DISCLOSURES = ("query", "location", "filters", "request", "scores", "terms")
"""The columns that hold them; another name needs another column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingToLog:
    """A ranking record with its erasable part.

    openings: disclosure name, of `DISCLOSURES`, and its encoded form (RFC 9901).
    eligible: a uniform sample of the eligible sites. tie_seed: of the request; without
    it the tie keys are kept one by one.
    """

    record: AcceptedRecord
    openings: Sequence[tuple[str, str]]
    eligible: Sequence[int]
    tie_seed: bytes | None = None


RankingRow = tuple[object, ...]
"""What is stored of a ranking: the parameters of `RECORD`."""


class _Ordered(msgspec.Struct):
    order: tuple[str, ...] = ()


# Both rows or neither, in one round trip: a statement by itself is a transaction.
RECORD = """
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


class RankingWriter:
    """Commits many rankings in one statement.

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

    async def write(self, batch: Sequence[RankingRow]) -> None:
        """Raises: DatabaseError, OSError."""
        columns = zip(*batch, strict=True)
        with driver_errors():
            await self._driver.execute(RECORD, *columns)

    def abort(self) -> None:
        """Break the connection off, so that a `write` that hangs on it ends."""
        self._driver.terminate()


async def openings_of(connection: Connection, record_id: str) -> dict[str, str]:
    """The disclosures that are not erased, by name."""
    row = await _find(connection, record_id)
    return {} if row is None else _unpack(row)


def _unpack(row: Row[Any]) -> dict[str, str]:
    """row: the disclosures' columns, and the record's body."""
    order = _order_of(row.body)
    packed = {name: getattr(row, name) for name in DISCLOSURES}
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


def pack_ranking(one: RankingToLog) -> RankingRow:
    """Raises: ValueError on a disclosure without a column, or twice the same."""
    record, order = one.record, _order_of(one.record.body)
    packed = {
        name: pack_disclosure(name, disclosure, order, one.tie_seed)
        for name, disclosure in one.openings
    }
    if len(packed) != len(one.openings) or not packed.keys() <= set(DISCLOSURES):
        raise ValueError(f"no columns for the disclosures {sorted(packed)}")
    return (
        uuid_of(record.record_id),
        record.kind,
        pack(record.body),
        record.leaf_hash,
        record.accepted_at,
        *map(packed.get, DISCLOSURES),
        struct.pack(f">{len(one.eligible)}q", *one.eligible),
    )


def _order_of(body: bytes) -> tuple[str, ...]:
    return msgspec.json.decode(body, type=_Ordered).order
