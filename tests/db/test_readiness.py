"""When a registry is ready, and which part it misses."""

from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import text

from registry.db.engine.engines import Engine, Role
from registry.db.frontier.heartbeats import CRAWLER, beat
from registry.errors import Unavailable
from registry.usecases.readiness import SILENCE_S, Readiness


@pytest.fixture(autouse=True)
async def never_crawled(owner: Engine) -> None:
    async with owner.begin() as connection:
        await connection.execute(text("DELETE FROM registry.heartbeat"))


def readiness(
    engines: dict[Role, Engine], *, crawls: bool, builder_silence_s: float | None = 0
) -> Readiness:
    async def is_ready() -> bool:
        return True

    follower = SimpleNamespace(builder_silence_s=lambda: builder_silence_s)
    searcher: Any = SimpleNamespace(is_ready=is_ready, follower=follower)
    return Readiness(engines[Role.API], searcher, crawls=crawls)


async def test_registry_misses_a_crawler_unless_it_is_to_have_none(
    engines: dict[Role, Engine],
) -> None:
    await readiness(engines, crawls=False).verify()
    with pytest.raises(Unavailable, match="crawler: none has shown work yet"):
        await readiness(engines, crawls=True).verify()
    async with engines[Role.CRAWLER].begin() as connection:
        await beat(connection, CRAWLER)
    await readiness(engines, crawls=True).verify()


@pytest.mark.parametrize("silence_s", [None, SILENCE_S + 1])
async def test_registry_misses_the_index_builder_of_its_machine(
    engines: dict[Role, Engine], silence_s: float | None
) -> None:
    with pytest.raises(Unavailable) as caught:
        await readiness(engines, crawls=True, builder_silence_s=silence_s).verify()
    parts = [cause.pointer for cause in caught.value.causes]
    assert parts == ["indexer", "crawler"]
