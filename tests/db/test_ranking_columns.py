"""Rankings stored before they were columns are taken up, and their log is the same."""

import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.log import entries as log
from registry.db.log.rankings import RankingWriter, erase_openings, openings_of
from registry.db.schema.column_types import uuid_of
from registry.db.schema.migrate import migrate
from registry.records.packing import PLAIN, pack
from registry.records.ranked_answer import DISCLOSED
from registry.records.ranking_columns import DERIVED, RankingColumns
from registry.records.record import Record
from registry.tlog.merkle import leaf_hash, tree_root
from registry.usecases.ids import IdSource
from registry.usecases.log.sequence import Sequencer, load_edge
from tests.db.rankings import MadeRanking, make_ranking
from tests.db.scene import Clock
from tests.db.test_sequencing import SIGNER
from tests.unit.records.version_1 import ranking_record_1

FORMER_HEAD = "0012"
_numbers = itertools.count()

FORMER = tuple(name for name in DISCLOSED if name != "answer")
PENDING = text("""
    INSERT INTO audit.pending (record_id, kind, body, leaf_hash, accepted_at)
    VALUES (:record_id, 'ranking', :body, :leaf_hash, :accepted_at)
""")
RANKING = text(f"""
    INSERT INTO audit.ranking (record_id, eligible, {", ".join(FORMER)})
    VALUES (:record_id, :sampled, {", ".join(f":{name}" for name in FORMER)})
""")
STORED = text(f"""
    SELECT record_id, {", ".join(RankingColumns._fields)} FROM audit.ranking
    ORDER BY accepted_at
""")
LOGGED = {
    "scores": [
        {
            "factors": [1, 2, 3, 4, 5],
            "score": 7,
            "site": "0000000000001",
            "tie": "0" * 16,
        }
    ]
}


@pytest.fixture
async def former(postgres: EmbeddedPostgres) -> URL:
    """A database at the former head."""
    name = f"former_{next(_numbers)}"
    postgres.create_database(name)
    url = postgres.url(name)
    engine = open_engine(url)
    await migrate(engine, FORMER_HEAD)
    await engine.dispose()
    return url


def rankings(clock: Clock) -> list[MadeRanking]:
    ids = IdSource(clock=clock)
    disclosed: Sequence[dict[str, Any]] = (
        {"query": "bread", "location": "u33d", "filters": {"category": "bakery"}},
        {"query": "", "location": None, "filters": {"country": "DE"}},
        {"query": "rye", "location": None, "filters": {}} | LOGGED,
        {"query": "Brötchen \U0001f956", "filters": {"category": "Café"}},
        {"terms": {"bread": 1}},
    )
    built = []
    for number, values in enumerate(disclosed):
        clock.advance(seconds=1)
        order, operator = (
            list(range(1, 1 + number)),
            ("k" * 43 if number == 3 else None),
        )
        built.append(
            make_ranking(
                ids,
                order,
                eligible=range(40 + number),
                disclosed=values,
                operator=operator,
            )
        )
    return built


def former_record(ranking: MadeRanking) -> Record:
    return ranking_record_1(ranking.fields, ranking.order, ranking.count)


async def insert(engine: Engine, made_ranking: MadeRanking, *, is_plain: bool) -> None:
    """As the former release did."""
    record, on_record = former_record(made_ranking), made_ranking.on_record
    openings = dict(zip(FORMER, on_record.openings, strict=False))
    async with engine.begin() as connection:
        await connection.execute(
            PENDING,
            {
                "record_id": uuid_of(record.id),
                "body": bytes([PLAIN]) + record.body if is_plain else pack(record.body),
                "leaf_hash": record.leaf_hash,
                "accepted_at": made_ranking.fields.at,
            },
        )
        await connection.execute(
            RANKING,
            {
                "record_id": uuid_of(record.id),
                "sampled": on_record.columns.sampled,
                **openings,
            },
        )


async def publish(url: URL, clock: Clock) -> None:
    publisher = open_engine(url, Role.PUBLISHER)
    async with publisher.connect() as connection:
        edge = await load_edge(connection)
        await connection.commit()
        await Sequencer(publisher, SIGNER, clock).step(connection, edge)
    await publisher.dispose()


async def test_a_database_of_the_former_head_is_taken_up(former: URL) -> None:
    clock = Clock()
    result = rankings(clock)
    owner = open_engine(former)
    for number, ranking in enumerate(result):
        if number == len(result) - 1:
            await publish(former, clock)  # the last one has no place in the log yet
        await insert(
            owner, ranking, is_plain=number == 1 or ranking.operator is not None
        )
    async with owner.begin() as connection:
        await connection.execute(
            text("UPDATE audit.ranking SET query = NULL WHERE record_id = :id"),
            {"id": uuid_of(result[2].record.id)},
        )
    await migrate(owner)
    async with owner.connect() as connection:
        rows = (await connection.execute(STORED)).all()
        openings = [
            await openings_of(connection, ranking.record.id) for ranking in result
        ]
    expected = [item.columns for item in result]
    expected[2] = expected[2]._replace(query_key=None)
    expected[3] = expected[3]._replace(located=None)
    expected[4] = expected[4]._replace(located=None)
    assert [RankingColumns(*row[1:]) for row in rows] == expected
    disclosed = [
        {opening.name: opening.disclosure for opening in ranking.openings}
        for ranking in result
    ]
    for values in disclosed:
        del values["answer"]
    del disclosed[2]["query"]
    assert openings == disclosed
    await verify_log(former, owner, clock, result)
    await owner.dispose()


async def verify_log(
    url: URL, owner: Engine, clock: Clock, result: Sequence[MadeRanking]
) -> None:
    """It goes on where it stood: each entry and the whole tree are as they were made."""
    api = open_engine(url, Role.API)
    async with api.connect() as connection:
        later = make_ranking(IdSource(clock=clock))
        await (await RankingWriter.over(connection)).write([later.row])
    await publish(url, clock)
    async with api.connect() as connection:
        bodies = await log.read_bodies(connection, 0, 100)
        head = await log.latest_checkpoint(connection)
    await api.dispose()
    former = [former_record(ranking).body for ranking in result]
    assert bodies == [*former, later.record.body]
    assert head is not None
    assert head.root == tree_root([leaf_hash(body) for body in bodies])
    eraser = open_engine(url, Role.ERASER)
    async with eraser.begin() as connection:
        assert await erase_openings(connection, [result[0].record.id])
    await eraser.dispose()
    async with owner.connect() as connection:
        left = await connection.execute(
            text(f"""
                SELECT num_nonnulls({", ".join((*DISCLOSED, *DERIVED))})
                FROM audit.ranking WHERE record_id = :id
            """),
            {"id": uuid_of(result[0].record.id)},
        )
        assert left.scalar_one() == 0
