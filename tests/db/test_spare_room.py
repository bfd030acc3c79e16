"""Disk and log are watched, so that there is room for those who have a key."""

from pathlib import Path

import pytest
from sqlalchemy import text

from registry.db.engine.engines import Engine, Role
from registry.db.log import entries as log
from registry.interfaces.http.spare_room import SpareRoom, free_bytes_of
from registry.observability import ANONYMOUS_TURNED_AWAY, FREE_BYTES
from registry.usecases.ids import IdSource
from tests.db.rankings import make_ranking


class Watch:
    """A room whose disk has as many bytes free as the test says."""

    def __init__(self, engine: Engine) -> None:
        self.free = 1_000
        self.room = SpareRoom(
            engine,
            Path(),
            min_free_bytes=100,
            max_pending=3,
            free_bytes=lambda _: self.free,
        )

    async def short(self) -> str | None:
        await self.room.look()
        assert ANONYMOUS_TURNED_AWAY._value.get() == self.room.is_short
        assert FREE_BYTES._value.get() == self.free
        return self.room.shortage


@pytest.fixture
async def watch(engines: dict[Role, Engine], owner: Engine) -> Watch:
    async with owner.begin() as connection:
        await connection.execute(text("TRUNCATE audit.pending"))
    return Watch(engines[Role.API])


async def test_a_disk_that_runs_full_is_noticed_and_has_to_have_some_more_again(
    watch: Watch,
) -> None:
    seen = []
    for free in (1_000, 100, 99, 100, 109, 111, 100):
        watch.free = free
        seen.append(await watch.short())
    assert seen == [None, None, "disk", "disk", "disk", None, None]


async def test_a_log_that_falls_behind_is_noticed(watch: Watch, owner: Engine) -> None:
    for number in range(4):
        assert await watch.short() is None, number
        async with owner.begin() as connection:
            ranking = make_ranking(IdSource())
            await log.accept(connection, ranking.record, ranking.fields.at)
    assert await watch.short() == "log"


def test_the_disk_is_that_of_the_folder(tmp_path: Path) -> None:
    assert free_bytes_of(tmp_path) > 0
