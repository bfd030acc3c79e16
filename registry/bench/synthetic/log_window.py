"""A month of synthetic rankings in the tables, for the benches of reports.

The first rankings are recorded and sequenced by the service's own code. The others
repeat them at later instants under other ids, by COPY.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import numpy as np
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from registry.bench.synthetic.rankings import CATEGORIES, K, Stock, score_columns
from registry.db.engine.engines import Connection, Engine, driver_errors
from registry.db.log.rankings import RankingWriter, row_of
from registry.db.schema.column_types import uuid_of
from registry.records.ranked_answer import AnswerOnRecord, RankedAnswer, put_on_record
from registry.records.record import ANONYMOUS
from registry.sites.identifier import make_ulid
from registry.tlog.edge import TreeEdge
from registry.tlog.note import NoteAlgorithm, Signer
from registry.usecases.ids import IdSource
from registry.usecases.log.sequence import Sequencer

START = datetime(2026, 10, 1, tzinfo=UTC)
END = datetime(2026, 10, 31, tzinfo=UTC)
QUERIES = 50_000
RECORDED_MAX, BATCH = 50_000, 1_000
SELECTED, NONE_SELECTED = 0.3, 0.05
OPERATORS = (ANONYMOUS, "agent-one", "agent-two", "agent-three")
KEY = Ed25519PrivateKey.from_private_bytes(bytes(32))

SITES = text("""
    INSERT INTO registry.site (site_id, host, registrable_domain, status, seq, listing,
        declarations, category, conformance, registered_at, updated_at, changed_at,
        proved_at, proof_source)
    SELECT hashint8extended(number, 0) & 9223372036854775807,
        'site-' || number || '.test', 'domain-' || number / 2 || '.test', 'active', 1,
        '{}', '{}',
        (CAST(:categories AS text[]))[1 + (hashint8extended(number, 1) & 1023) % 7],
        'strict', at, at, at, at, ''
    FROM generate_series(1, :sites) AS number, LATERAL (SELECT CAST(:end AS timestamptz)
        - (1 + hashint8extended(number, 2) & 1023) * interval '1 day' AS at) AS age
    RETURNING site_id
""")
LABELS = text("""
    INSERT INTO disclosure.label (site_id, told_by, told_at, valid_from, size,
        independence, commission_percent, source)
    SELECT site_id, 'registration', registered_at, registered_at,
        (ARRAY['micro', 'micro', 'micro', 'small', 'small', 'small', 'medium', 'large'])
            [1 + (hashint8extended(site_id, 3) & 15)],
        (ARRAY['independent', 'independent', 'chain'])
            [1 + (hashint8extended(site_id, 4) & 3)],
        nullif(least(hashint8extended(site_id, 5) & 63, 31), 31), 'registration'
    FROM registry.site
""")
_TABLES = {"entry": "leaf_index", "ranking": "record_id", "selection": "ranking_id"}

Row = dict[str, Any]


async def fill_sites(engine: Engine, count: int) -> list[int]:
    """Insert sites with categories and labels; return their ids."""
    async with engine.begin() as connection:
        given = {"sites": count, "categories": list(CATEGORIES), "end": END}
        rows = await connection.execute(SITES, given)
        ids = [row.site_id for row in rows]
        await connection.execute(LABELS)
    return ids


@dataclass(frozen=True, slots=True, kw_only=True)
class LogWindow:
    """Rankings of [start, end), drawn from a seed; `sites`: ids."""

    sites: Sequence[int]
    start: datetime
    end: datetime

    async def fill(self, engine: Engine, count: int) -> None:
        """Record, sequence and select `count` rankings."""
        recorded = min(count, RECORDED_MAX)
        span = (self.end - self.start) * recorded / count
        rng, stock = np.random.default_rng(1), Stock.make(IdSource()).answers
        async with engine.connect() as connection:
            writer = await RankingWriter.over(connection)
            for first in range(0, recorded, BATCH):
                last = min(first + BATCH, recorded)
                instants = [
                    self.start + span * number / recorded
                    for number in range(first, last)
                ]
                answers = _answers(rng, stock, self.sites, instants)
                await writer.write(list(map(row_of, answers)))
                await _copy(connection, "selection", _selections(rng, answers))
        async with engine.connect() as connection:
            await _sequence(engine, connection, recorded)
        await _repeat(engine, count, recorded, span)
        analyzing = engine.execution_options(isolation_level="AUTOCOMMIT")
        async with analyzing.connect() as connection:
            await connection.execute(text("ANALYZE"))


def _answers(
    rng: np.random.Generator,
    stock: Sequence[RankedAnswer],
    sites: Sequence[int],
    instants: Sequence[datetime],
) -> list[AnswerOnRecord]:
    """Put one ranking on record for each instant."""
    shape = len(instants), 2 * K
    # Some sites are returned again and again, most hardly ever; so are queries.
    ranked = (rng.beta(0.5, 1.5, shape) * len(sites)).astype(int).tolist()
    sampled = rng.integers(0, len(sites), (len(instants), len(stock[0].sample)))
    queries = (rng.zipf(1.3, len(instants)) % QUERIES).tolist()
    operators = rng.integers(0, len(OPERATORS), len(instants)).tolist()
    return [
        _recorded(
            msgspec.structs.replace(
                stock[number % len(stock)],
                record_id=make_ulid(int(at.timestamp() * 1000), rng.bytes(10)),
                at=at,
                sample=sorted({sites[site] for site in sampled[number].tolist()}),
                query=f"order bread number {queries[number]}",
            ),
            [sites[site] for site in list(dict.fromkeys(ranked[number]))[:K]],
            OPERATORS[operators[number]],
            rng,
        )
        for number, at in enumerate(instants)
    ]


def _recorded(
    answer: RankedAnswer, sites: list[int], operator: str, rng: np.random.Generator
) -> AnswerOnRecord:
    factors = answer.scores.factors[: len(sites)]
    ranked = msgspec.structs.replace(
        answer,
        operator=None if operator == ANONYMOUS else operator,
        scores=score_columns(answer.tie_seed, sites, factors),
    )
    sealed = put_on_record(ranked, rng.bytes)
    if sealed.operator is None:
        return sealed
    return msgspec.structs.replace(sealed, operator=None, record=sealed.counted(1))


def _selections(
    rng: np.random.Generator, answers: Sequence[AnswerOnRecord]
) -> list[tuple[object, ...]]:
    """Draw choices; the record of each is the ranking's own, which is in the log.

    A row has no disclosure of its choice: reports read the site.
    """
    rows: list[tuple[object, ...]] = []
    ranks = (rng.geometric(0.4, len(answers)) % K).tolist()
    for answer, rank, draw in zip(
        answers, ranks, rng.random(len(answers)), strict=True
    ):
        if draw < SELECTED + NONE_SELECTED:
            order = answer.columns.order
            site = order[rank % len(order)]
            identity = uuid_of(answer.record.id)
            rows.append(
                (
                    identity,
                    identity,
                    site if draw < SELECTED else None,
                    answer.columns.accepted_at,
                    None,
                )
            )
    return rows


async def _sequence(engine: Engine, connection: Connection, count: int) -> None:
    signer = Signer(
        name="bench.example/log", algorithm=NoteAlgorithm.ED25519, private=KEY
    )
    sequencer, edge = Sequencer(engine, signer, lambda: END), TreeEdge()
    while edge.size < count:
        edge = await sequencer.step(connection, edge)


async def _repeat(engine: Engine, count: int, recorded: int, span: timedelta) -> None:
    """Copy the first `recorded` rankings until there are `count`, `span` later each."""
    async with engine.connect() as connection:
        tables = [await _read(connection, table) for table in _TABLES]
    # A connection of its own: what is copied in an open transaction goes with it.
    async with engine.connect() as connection:
        await _copy_later(connection, tables, count, recorded, span)


async def _copy_later(
    connection: Connection,
    tables: Sequence[tuple[list[str], list[Row]]],
    count: int,
    recorded: int,
    span: timedelta,
) -> None:
    (_, entries), *_ = tables
    for turn in range(1, -(-count // recorded)):
        last = entries[min(recorded, count - turn * recorded) - 1]["record_id"]
        for table, (columns, rows) in zip(_TABLES, tables, strict=True):
            later = [
                _later(row, turn * recorded, turn * span)
                for row in rows
                if row["record_id"] <= last
            ]
            await _copy(
                connection, table, [tuple(map(row.get, columns)) for row in later]
            )


def _later(row: Row, places: int, span: timedelta) -> Row:
    """Shift instants, positions, and the time that ids begin with (48 of 128 bits)."""
    milliseconds = int(span.total_seconds() * 1000)
    shifted: Row = {}
    for name, value in row.items():
        match value:
            case UUID():
                shifted[name] = UUID(int=value.int + (milliseconds << 80))
            case datetime():
                shifted[name] = value + span
            case _:
                shifted[name] = value + places if name == "leaf_index" else value
    return shifted


async def _read(connection: Connection, table: str) -> tuple[list[str], list[Row]]:
    query = f"SELECT * FROM audit.{table} ORDER BY {_TABLES[table]}"  # noqa: S608 — our own names
    result = await connection.execute(text(query))
    return list(result.keys()), [dict(row._mapping) for row in result]  # noqa: SLF001 — its public name


async def _copy(
    connection: Connection, table: str, rows: Sequence[tuple[object, ...]]
) -> None:
    driver: Any = (await connection.get_raw_connection()).driver_connection
    with driver_errors():
        await driver.copy_records_to_table(table, schema_name="audit", records=rows)


async def count_rankings(engine: Engine) -> int:
    async with engine.connect() as connection:
        result = await connection.execute(text("SELECT count(*) FROM audit.entry"))
        return int(result.scalar_one())
