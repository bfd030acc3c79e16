from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry.db.engine.engines import Engine, Role, engine_at
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.log.served_log import ServedLog
from registry.usecases.sites.list_site import Lister
from tests.crawler.net import Net
from tests.db.asgi import open_client
from tests.db.filled_log import FilledLog, empty_log
from tests.db.scene import Clock, Scene


@pytest.fixture(scope="module")
async def database(database: URL) -> URL:
    """A database whose log takes records of any time: clocks here are set by hand."""
    async with engine_at(database) as owner, owner.begin() as connection:
        await connection.execute(
            text("ALTER TABLE audit.pending DISABLE TRIGGER of_its_time")
        )
    return database


@pytest.fixture(scope="session")
def lister() -> Lister:
    return Lister(
        gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def scene(
    engines: dict[Role, Engine], owner: Engine, lister: Lister, clock: Clock
) -> Scene:
    return Scene(engines, owner, lister, clock)


@pytest.fixture
async def net(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Net]:
    internet = Net(tmp_path_factory.mktemp("authority"))
    yield internet
    await internet.close()


@pytest.fixture
async def log(owner: Engine) -> FilledLog:
    return await empty_log(owner)


@pytest.fixture
async def client(
    log: FilledLog, engines: dict[Role, Engine]
) -> AsyncIterator[httpx.AsyncClient]:
    """Of the log's faces."""
    api = engines[Role.API]
    async with open_client(api=api, served=ServedLog(api)) as opened:
        yield opened
