from collections.abc import AsyncIterator

import pytest

from tests.crawler.net import Net


@pytest.fixture(scope="session")
def internet(tmp_path_factory: pytest.TempPathFactory) -> Net:
    return Net(tmp_path_factory.mktemp("authority"))


@pytest.fixture
async def net(internet: Net) -> AsyncIterator[Net]:
    yield internet
    await internet.close()
