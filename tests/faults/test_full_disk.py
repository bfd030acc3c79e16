"""A disk that is full: refused at once, nothing lost, and then as before."""

import asyncio
import resource
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.embedded import EmbeddedPostgres, start_embedded
from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.schema.migrate import migrate
from registry.errors import Unavailable
from registry.usecases.ids import IdSource, utc_now
from registry.usecases.log.sequence import Sequencer
from registry.usecases.search.record_rankings import RankingRecorder
from tests.db.rankings import make_ranking
from tests.db.test_sequencing import SIGNER
from tests.faults.postgres import postmaster_of
from tests.faults.service import lost_or_doubled
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow
WAL_SEGMENT_BYTES = 16 << 20

# Four rows fill a page up to its fill factor. Ids begin with the millisecond, so that
# they lie in the part of this month.
FILL = """
    INSERT INTO audit.ranking
        (record_id, accepted_at, operator, eligible, returned, sampled)
    SELECT CAST(
            lpad(to_hex(CAST(extract(epoch FROM now()) * 1000 AS bigint)), 12, '0')
            || right(replace(CAST(gen_random_uuid() AS text), '-', ''), 20) AS uuid),
        now(), '', 0, '', decode(repeat('00', 1890), 'hex')
    FROM generate_series(1, :rows)
"""


@contextmanager
def full_disk() -> Iterator[None]:
    """Who is started herein writes no file beyond the size of a WAL segment.

    The operating system refuses it as on a full disk, and WAL can still be written.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (WAL_SEGMENT_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    with full_disk():
        server = start_embedded(tmp_path)
    server.create_database()
    yield server
    server.close()


@pytest.fixture
async def owner(small_disk: EmbeddedPostgres) -> AsyncIterator[Engine]:
    engine = open_engine(small_disk.url())
    await migrate(engine)
    yield engine
    await engine.dispose()


async def fill_the_disk(owner: Engine) -> None:
    """By many rows at a time, and then one by one into what those have left."""
    for rows in (200, 1):
        with pytest.raises(DBAPIError, match="File too large"):
            await fill(owner, rows)


async def fill(owner: Engine, rows: int) -> None:
    for _ in range(2_000):
        async with owner.begin() as connection:
            await connection.execute(text(FILL), {"rows": rows})


async def test_full_disk_refuses_records_and_loses_none(
    small_disk: EmbeddedPostgres, owner: Engine
) -> None:
    acknowledged: list[bytes] = []
    api = open_engine(small_disk.url(), Role.API, pool=1)
    publisher = open_engine(small_disk.url(), Role.PUBLISHER)
    recorder = RankingRecorder(api)
    running = [
        asyncio.create_task(recorder.run()),
        asyncio.create_task(Sequencer(publisher, SIGNER, utc_now).run()),
    ]

    async def record() -> bool:
        ranking = make_ranking(IdSource())
        try:
            await recorder.record(ranking.on_record)
        except Unavailable:
            return False
        acknowledged.append(ranking.record.leaf_hash)
        return True

    assert await record()
    await fill_the_disk(owner)
    refused = 0

    async def third_is_refused() -> bool:
        nonlocal refused
        refused += not await record()
        return refused == 3  # a page with room may take a few more

    await until("three records were refused", third_is_refused)
    await asyncio.to_thread(restart, small_disk)  # and now there is room
    await until("a record is taken again", record)
    leaves = await published(owner, len(acknowledged))
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    for engine in (api, publisher):
        await engine.dispose()
    assert lost_or_doubled(acknowledged, leaves) == []


def restart(server: EmbeddedPostgres) -> None:
    postmaster = postmaster_of(server._folder)
    postmaster.send_signal(signal.SIGINT)  # hangs up and ends
    postmaster.wait(PATIENCE_S)
    server.start()


async def published(owner: Engine, count: int) -> list[bytes]:
    leaves: list[bytes] = []

    async def are_enough() -> bool:
        async with owner.connect() as connection:
            rows = await connection.execute(text("SELECT leaf_hash FROM audit.entry"))
            leaves[:] = rows.scalars()
        return len(leaves) >= count

    await until(f"{count} records are published", are_enough)
    return leaves
