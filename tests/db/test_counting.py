"""Rankings counted for operators: no number is left out, given twice or out of order."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import msgspec
import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry.db import operators
from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.log.rankings import CountingWriter, openings_of
from registry.db.schema.column_types import uuid_of
from registry.errors import Unavailable
from registry.records import record as records
from registry.records.packing import unpack
from registry.records.ranked_answer import put_on_record
from registry.records.rules.log_rules import Conduct
from registry.usecases.search.record_rankings import RankingRecorder
from tests.db.rankings import MadeRanking, add_operator, make_ranking, numbered
from tests.db.scene import Scene
from tests.db.test_recording import BACKENDS, running
from tests.unit.records.answers import make_answer
from tests.waiting import PATIENCE_S

HOLD = "SELECT 1 FROM audit.operator_count WHERE operator_id = :id FOR UPDATE"


@pytest.fixture
async def writers(database: URL) -> AsyncIterator[list[Engine]]:
    engines = [open_engine(database, Role.API, pool=2) for _ in range(2)]
    yield engines
    for engine in engines:
        await engine.dispose()


def counting(engine: Engine, *, write_timeout_s: float = 5.0) -> RankingRecorder:
    return RankingRecorder(engine, kind=CountingWriter, write_timeout_s=write_timeout_s)


async def new_operator(scene: Scene) -> str:
    async with scene.api.begin() as connection:
        return await add_operator(connection, scene.clock())


def ask(scene: Scene, operator: str) -> MadeRanking:
    """A ranking that this operator asked for, not yet counted."""
    return make_ranking(scene.ids, operator=operator)


async def stored(scene: Scene, operator: str) -> list[bytes]:
    """The records of the operator in the order in which they go to the log."""
    rows = await scene.sql("SELECT body FROM audit.pending ORDER BY position")
    bodies = [unpack(row.body) for row in rows]
    return [body for body in bodies if f'"op":"{operator}"'.encode() in body]


def numbers(bodies: Sequence[bytes]) -> list[int]:
    return [msgspec.json.decode(body)["opn"] for body in bodies]


async def count_of(scene: Scene, operator: str) -> int:
    async with scene.api.connect() as connection:
        result = await operators.find_operator(connection, operator)
    assert result
    return result.rankings


async def acknowledged(
    recorder: RankingRecorder, made_ranking: MadeRanking
) -> int | None:
    try:
        return await recorder.record(made_ranking.on_record)
    except Unavailable:
        return None


async def test_number_is_in_the_record_that_is_hashed_and_stored(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    first, second = ask(scene, operator), ask(scene, operator)
    async with running(counting(writers[0])) as recorder:
        assert await recorder.record(first.on_record) == 1
        assert await recorder.record(second.on_record) == 2
    second_stored = numbered(second, 2)
    assert (await stored(scene, operator))[1] == second_stored.body
    assert records.parse_record(second_stored.body)["opn"] == 2
    (row,) = await scene.sql(
        "SELECT leaf_hash FROM audit.pending WHERE record_id = :id",
        id=uuid_of(second_stored.id),
    )
    assert row.leaf_hash == second_stored.leaf_hash
    async with scene.api.connect() as connection:
        openings = await openings_of(connection, second_stored.id)
    assert openings == {opening.name: opening.disclosure for opening in second.openings}


async def test_answer_put_on_record_is_packed_with_its_number(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    answer = make_answer(record_id=scene.ids.ulid(), operator=operator)
    ranking = put_on_record(answer, scene.ids.random_bytes)
    async with running(counting(writers[0])) as recorder:
        assert await recorder.record(ranking) == 1
    assert await stored(scene, operator) == [ranking.counted(1).body]


async def test_two_processes_at_once_count_without_gap_or_double_in_order(
    scene: Scene, writers: list[Engine]
) -> None:
    names = [await new_operator(scene) for _ in range(3)]
    query = [ask(scene, names[number % 3]) for number in range(300)]
    async with (
        running(counting(writers[0])) as item,
        running(counting(writers[1])) as other,
    ):
        given = await asyncio.gather(
            *(
                (item, other)[number % 2].record(ranking.on_record)
                for number, ranking in enumerate(query)
            )
        )
    for name in names:
        bodies = await stored(scene, name)
        assert numbers(bodies) == list(range(1, 101))
        assert await count_of(scene, name) == 100
    members = {
        msgspec.json.decode(stored_row)["id"]: msgspec.json.decode(stored_row)["opn"]
        for name in names
        for stored_row in await stored(scene, name)
    }
    assert [members[ranking.record.id] for ranking in query] == list(given)


async def test_auditors_are_content_with_the_numbers(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    async with running(counting(writers[0])) as recorder:
        await asyncio.gather(
            *(recorder.record(ask(scene, operator).on_record) for _ in range(20))
        )
    bodies = await stored(scene, operator)
    broken: list[str] = []
    conduct = Conduct(origin="", report=lambda notice: broken.append(notice.code))
    for index, body in enumerate(bodies):
        conduct.read(index, body)
    assert "operator_count_broken" not in broken
    assert conduct.state.operators[operator].reached == 20
    assert conduct.state.operators[operator].ahead == {}


async def test_cancelled_caller_leaves_no_gap(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    async with running(counting(writers[0])) as recorder:
        calls = [
            asyncio.create_task(recorder.record(ask(scene, operator).on_record))
            for _ in range(40)
        ]
        await asyncio.sleep(0)
        for call in calls[::3]:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        await recorder.record(ask(scene, operator).on_record)
    result = numbers(await stored(scene, operator))
    assert result == list(range(1, await count_of(scene, operator) + 1))
    assert {call.result() for call in calls if not call.cancelled()} <= set(result)


async def test_failed_transaction_leaves_no_gap(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    item = ask(scene, operator)
    async with running(counting(writers[0])) as recorder:
        assert await recorder.record(item.on_record) == 1
        assert await acknowledged(recorder, item) is None, "its id is taken"
        async with asyncio.timeout(PATIENCE_S):
            while (
                number := await acknowledged(recorder, ask(scene, operator))
            ) is None:
                await asyncio.sleep(0.05)
    assert number == 2
    assert numbers(await stored(scene, operator)) == [1, 2]


async def test_killed_connections_leave_no_gap_and_no_double(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    given: list[int] = []
    done = asyncio.Event()

    async def call(recorder: RankingRecorder) -> None:
        while not done.is_set():
            number = await acknowledged(recorder, ask(scene, operator))
            if number is not None:
                given.append(number)
            await asyncio.sleep(0)

    async with (
        running(counting(writers[0])) as item,
        running(counting(writers[1])) as other,
    ):
        callers = asyncio.gather(*(call(recorder) for recorder in (item, other) * 8))
        for _ in range(5):
            await asyncio.sleep(0.2)
            await scene.sql(BACKENDS.replace("pid", "pg_terminate_backend(pid)", 1))
        enough = len(given) + 50
        async with asyncio.timeout(PATIENCE_S):
            while len(given) < enough:
                await asyncio.sleep(0.02)
        done.set()
        await callers
    result = numbers(await stored(scene, operator))
    assert result == list(range(1, len(result) + 1))
    assert len(set(given)) == len(given)
    assert set(given) <= set(result)


async def test_anonymous_rankings_do_not_wait_for_a_counter(
    scene: Scene, writers: list[Engine]
) -> None:
    """Another process holds it."""
    operator = await new_operator(scene)
    async with (
        running(RankingRecorder(writers[0])) as anonymous,
        running(counting(writers[0], write_timeout_s=PATIENCE_S)) as recorder,
        scene.api.begin() as holding,
    ):
        await holding.execute(text(HOLD), {"id": operator})
        waiting = asyncio.create_task(recorder.record(ask(scene, operator).on_record))
        async with asyncio.timeout(PATIENCE_S / 2):
            for _ in range(20):
                assert await anonymous.record(make_ranking(scene.ids).on_record) is None
        assert not waiting.done()
        await holding.rollback()
        assert await waiting == 1


async def test_counter_that_stays_locked_turns_callers_away(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    async with running(counting(writers[0], write_timeout_s=0.2)) as recorder:
        async with scene.api.begin() as holding:
            await holding.execute(text(HOLD), {"id": operator})
            assert await acknowledged(recorder, ask(scene, operator)) is None
        async with asyncio.timeout(PATIENCE_S):
            while await acknowledged(recorder, ask(scene, operator)) is None:
                await asyncio.sleep(0.05)
    result = numbers(await stored(scene, operator))
    assert result == list(range(1, len(result) + 1))


async def test_whoever_has_no_counter_is_not_counted(
    scene: Scene, writers: list[Engine]
) -> None:
    operator = await new_operator(scene)
    async with running(counting(writers[0])) as recorder:
        with suppress(Unavailable):
            await recorder.record(ask(scene, "nobody").on_record)
            pytest.fail("it was counted")
        async with asyncio.timeout(PATIENCE_S):
            while await acknowledged(recorder, ask(scene, operator)) is None:
                await asyncio.sleep(0.05)
    assert await stored(scene, "nobody") == []
