"""That the harness notices a loss: the same faults, against recorders that are wrong."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial

import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.schema.migrate import migrate
from registry.errors import Unavailable
from registry.usecases.ids import IdSource
from registry.usecases.search.record_rankings import RankingRecorder
from tests.db.rankings import make_ranking
from tests.faults.early_recorder import EarlyRecorder
from tests.faults.postgres import kill_and_start
from tests.faults.service import lost_or_doubled
from tests.waiting import until

pytestmark = pytest.mark.slow
CALLERS, ROUNDS = 16, 4
CUT_OFF = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
    "WHERE datname = current_database() AND usename = 'registry_api'"
)


async def lost_records(
    recorder: RankingRecorder, owner: Engine, break_it: Callable[[], Awaitable[None]]
) -> tuple[int, int]:
    """How many records were acknowledged, and how many of them are not there once."""
    acknowledged: list[bytes] = []

    async def call() -> None:
        while True:
            ranking = make_ranking(IdSource())
            with suppress(Unavailable):
                await recorder.record(ranking.on_record)
                acknowledged.append(ranking.record.leaf_hash)
            await asyncio.sleep(0)

    async def another(count: int) -> None:
        enough = len(acknowledged) + count
        await until(
            f"{count} more are acknowledged", lambda: len(acknowledged) >= enough
        )

    tasks = [asyncio.create_task(recorder.run())]
    tasks += [asyncio.create_task(call()) for _ in range(CALLERS)]
    for _ in range(ROUNDS):
        await another(200)
        await break_it()
    for task in reversed(tasks):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    async with owner.connect() as connection:
        rows = await connection.execute(text("SELECT leaf_hash FROM audit.pending"))
        there = [row.leaf_hash for row in rows]
    return len(acknowledged), len(lost_or_doubled(acknowledged, there))


@pytest.mark.parametrize(
    ("recorder", "loses"), [(RankingRecorder, False), (EarlyRecorder, True)]
)
async def test_cut_connection_loses_what_is_acknowledged_before_the_commit(
    database: URL, owner: Engine, recorder: type[RankingRecorder], *, loses: bool
) -> None:
    async def cut_off() -> None:
        async with owner.begin() as connection:
            await connection.execute(CUT_OFF)

    writer = open_engine(database, Role.API, pool=1)
    acknowledged, lost = await lost_records(recorder(writer), owner, cut_off)
    await writer.dispose()
    assert acknowledged >= 200 * ROUNDS
    assert (lost > 0) is loses


@pytest.fixture
async def killed(own_postgres: EmbeddedPostgres) -> AsyncIterator[Engine]:
    own_postgres.create_database()
    engine = open_engine(own_postgres.url())
    await migrate(engine)
    async with engine.begin() as connection:
        await connection.execute(text("TRUNCATE audit.pending"))
    yield engine
    await engine.dispose()


@pytest.mark.parametrize(
    ("synchronous_commit", "loses"), [("on", False), ("off", True)]
)
async def test_killed_postgres_loses_what_it_did_not_commit_synchronously(
    own_postgres: EmbeddedPostgres,
    killed: Engine,
    synchronous_commit: str,
    *,
    loses: bool,
) -> None:
    setting = f"ALTER ROLE registry_api SET synchronous_commit = {synchronous_commit}"
    async with killed.begin() as connection:
        await connection.execute(text(setting))
    writer = open_engine(own_postgres.url(), Role.API, pool=1)
    recorder = RankingRecorder(writer)
    acknowledged, lost = await lost_records(
        recorder, killed, partial(kill_and_start, own_postgres)
    )
    await writer.dispose()
    assert acknowledged >= 200 * ROUNDS
    assert (lost > 0) is loses
