"""Group commit: an answer is given when its record is durable, and only then."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from sqlalchemy.engine import URL

from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.log.rankings import FEW, openings_of
from registry.db.schema.column_types import ulid_of, uuid_of
from registry.errors import Unavailable
from registry.records.packing import unpack
from registry.records.ranked_answer import DISCLOSED, put_on_record
from registry.records.ranking_columns import RankingColumns, unpack_sites
from registry.usecases.search.record_rankings import MAX_WAITING, RankingRecorder
from tests.db.rankings import MadeRanking, make_ranking
from tests.db.scene import Scene
from tests.unit.records.answers import make_answer
from tests.waiting import PATIENCE_S

BACKENDS = """
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND usename = 'registry_api'
"""


@pytest.fixture
async def writer(database: URL) -> AsyncIterator[Engine]:
    engine = open_engine(database, Role.API, pool=1)
    yield engine
    await engine.dispose()


@asynccontextmanager
async def running(recorder: RankingRecorder) -> AsyncIterator[RankingRecorder]:
    task = asyncio.create_task(recorder.run())
    try:
        yield recorder
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def durable(scene: Scene) -> Counter[str]:
    """How often each record is there for others to see."""
    rows = await scene.sql("SELECT record_id FROM audit.pending")
    return Counter(ulid_of(row.record_id) for row in rows)


def rankings(scene: Scene, count: int) -> list[MadeRanking]:
    return [make_ranking(scene.ids) for _ in range(count)]


async def acknowledged(recorder: RankingRecorder, made_ranking: MadeRanking) -> bool:
    try:
        await recorder.record(made_ranking.on_record)
    except Unavailable:
        return False
    return True


async def record_until_taken(recorder: RankingRecorder, scene: Scene) -> None:
    """The recorder works again."""
    async with asyncio.timeout(PATIENCE_S):
        while not await acknowledged(recorder, make_ranking(scene.ids)):
            await asyncio.sleep(0.05)


async def test_record_is_durable_with_all_its_parts_when_the_call_returns(
    scene: Scene, writer: Engine
) -> None:
    ranking = make_ranking(scene.ids, [5, 7], eligible=[5, 6, 7])
    async with running(RankingRecorder(writer)) as recorder:
        await recorder.record(ranking.on_record)
        record_id = ranking.record.id
        assert (await durable(scene))[record_id] == 1
        (row,) = await scene.sql(
            "SELECT sampled FROM audit.ranking WHERE record_id = :id",
            id=uuid_of(record_id),
        )
        async with scene.api.connect() as connection:
            openings = await openings_of(connection, record_id)
    assert openings == {
        opening.name: opening.disclosure for opening in ranking.openings
    }
    assert unpack_sites(row.sampled) == (5, 6, 7)


@pytest.mark.parametrize("count", [1, FEW, FEW + 1])
async def test_answers_put_on_record_are_stored_as_they_were_made(
    scene: Scene, writer: Engine, count: int
) -> None:
    """In whichever statement they are written."""
    random_bytes = scene.ids.random_bytes
    result = [
        put_on_record(make_answer(record_id=scene.ids.ulid()), random_bytes)
        for _ in range(count)
    ]
    batches: list[int] = []
    recorder = RankingRecorder(writer, batches.append)
    calls = [asyncio.create_task(recorder.record(item)) for item in result]
    await asyncio.sleep(0)
    async with running(recorder):
        assert await asyncio.gather(*calls) == [None] * count
    assert batches == [count]
    rows = await scene.sql("""
        SELECT p.body, p.leaf_hash, p.accepted_at AS logged_at, r.* FROM audit.pending AS p
        JOIN audit.ranking AS r USING (record_id)
    """)
    stored = {ulid_of(row.record_id): row for row in rows}
    for ranking in result:
        row = stored[ranking.record.id]
        assert unpack(row.body) == ranking.record.body
        at = ranking.columns.accepted_at
        assert (row.leaf_hash, row.logged_at) == (ranking.record.leaf_hash, at)
        assert [getattr(row, name) for name in DISCLOSED] == ranking.openings
        stored_columns = [getattr(row, name) for name in RankingColumns._fields]
        assert RankingColumns(*stored_columns) == ranking.columns


async def test_concurrent_records_are_all_durable_once_and_in_few_commits(
    scene: Scene, writer: Engine
) -> None:
    batches: list[int] = []
    many = rankings(scene, 600)
    async with running(RankingRecorder(writer, batches.append)) as recorder:
        await asyncio.gather(*(recorder.record(ranking.on_record) for ranking in many))
    seen = await durable(scene)
    assert all(seen[ranking.record.id] == 1 for ranking in many)
    assert sum(batches) == 600
    assert len(batches) < 20


async def test_full_queue_turns_away_at_once(scene: Scene, writer: Engine) -> None:
    """Nobody writes: the database stalls."""
    recorder = RankingRecorder(writer)
    ranking = make_ranking(scene.ids)
    waiting = [
        asyncio.create_task(recorder.record(ranking.on_record))
        for _ in range(MAX_WAITING)
    ]
    await asyncio.sleep(0)
    with pytest.raises(Unavailable, match="log_busy") as refused:
        await asyncio.wait_for(recorder.record(ranking.on_record), PATIENCE_S)
    assert refused.value.retry_after_s == 1
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)


async def test_killed_connection_loses_no_acknowledged_record(
    scene: Scene, writer: Engine
) -> None:
    taken: list[str] = []
    refused: list[str] = []
    done = asyncio.Event()

    async def call(recorder: RankingRecorder) -> None:
        while not done.is_set():
            ranking = make_ranking(scene.ids)
            answers = taken if await acknowledged(recorder, ranking) else refused
            answers.append(ranking.record.id)
            await asyncio.sleep(0)

    async with running(RankingRecorder(writer)) as recorder:
        callers = asyncio.gather(*(call(recorder) for _ in range(16)))
        for _ in range(6):
            await asyncio.sleep(0.15)
            await scene.sql(BACKENDS.replace("pid", "pg_terminate_backend(pid)", 1))
            await record_until_taken(recorder, scene)
        done.set()
        await callers
    seen = await durable(scene)
    assert taken
    assert refused, "the kills were felt"
    assert [row for row in taken if seen[row] != 1] == []
    assert max(seen.values()) == 1


async def test_stalled_server_turns_callers_away_and_is_left(
    scene: Scene, writer: Engine
) -> None:
    """It neither answers nor hangs up: waiting for it would be waiting for ever."""
    async with running(RankingRecorder(writer, write_timeout_s=2)) as recorder:
        await recorder.record(make_ranking(scene.ids).on_record)
        (pid,) = await recorder_backend(scene)
        os.kill(pid, signal.SIGSTOP)
        try:
            calls = [acknowledged(recorder, ranking) for ranking in rankings(scene, 5)]
            async with asyncio.timeout(PATIENCE_S):
                assert not any(await asyncio.gather(*calls))
                await record_until_taken(recorder, scene)
        finally:
            os.kill(pid, signal.SIGCONT)


async def recorder_backend(scene: Scene) -> set[int]:
    rows = await scene.sql(f"{BACKENDS} AND query ILIKE '%recorded%'")
    return {row.pid for row in rows}


async def test_cancelled_caller_does_not_break_the_batch(
    scene: Scene, writer: Engine
) -> None:
    many = rankings(scene, 30)
    async with running(RankingRecorder(writer)) as recorder:
        calls = [
            asyncio.create_task(recorder.record(ranking.on_record)) for ranking in many
        ]
        await asyncio.sleep(0)
        for call in calls[::3]:
            call.cancel()
        ended = await asyncio.gather(*calls, return_exceptions=True)
    seen = await durable(scene)
    for number, (item, outcome) in enumerate(zip(many, ended, strict=True)):
        if number % 3 == 0:
            assert isinstance(outcome, asyncio.CancelledError)
        else:
            assert outcome is None
            assert seen[item.record.id] == 1


async def test_record_that_the_database_refuses_takes_only_its_batch_down(
    scene: Scene, writer: Engine
) -> None:
    ranking = make_ranking(scene.ids)
    async with running(RankingRecorder(writer)) as recorder:
        await recorder.record(ranking.on_record)
        assert not await acknowledged(recorder, ranking), "its id is taken"
        await record_until_taken(recorder, scene)
    assert (await durable(scene))[ranking.record.id] == 1


async def test_batch_is_whole_or_not_there(scene: Scene, writer: Engine) -> None:
    good = make_ranking(scene.ids)
    bad = await taken_already(scene, writer)
    recorder = RankingRecorder(writer)
    calls = [asyncio.create_task(acknowledged(recorder, item)) for item in (good, bad)]
    await asyncio.sleep(0)
    async with running(recorder):
        assert await asyncio.gather(*calls) == [False, False]
    seen = await durable(scene)
    assert (seen[good.record.id], seen[bad.record.id]) == (0, 1)


async def taken_already(scene: Scene, writer: Engine) -> MadeRanking:
    """One whose id is on record."""
    ranking = make_ranking(scene.ids)
    async with running(RankingRecorder(writer)) as recorder:
        await recorder.record(ranking.on_record)
    return ranking


async def test_database_that_is_away_turns_callers_away(scene: Scene) -> None:
    nowhere = open_engine("postgresql://nobody@127.0.0.1:1/none", pool=1)
    async with running(RankingRecorder(nowhere)) as recorder:
        async with asyncio.timeout(PATIENCE_S):
            assert not await acknowledged(recorder, make_ranking(scene.ids))
    await nowhere.dispose()


async def test_recorder_that_failed_records_again_once_it_runs_again(
    scene: Scene, writer: Engine
) -> None:
    recorder = RankingRecorder(writer)
    async with running(recorder):
        await record_until_taken(recorder, scene)
    async with running(recorder):
        await record_until_taken(recorder, scene)


async def test_recorder_that_ended_gives_no_answer_and_no_wait(
    scene: Scene, writer: Engine
) -> None:
    recorder = RankingRecorder(writer)
    waiting = asyncio.create_task(acknowledged(recorder, make_ranking(scene.ids)))
    async with running(recorder):
        await waiting
    async with asyncio.timeout(PATIENCE_S):
        assert not await acknowledged(recorder, make_ranking(scene.ids))
