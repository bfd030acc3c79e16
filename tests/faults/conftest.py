from collections.abc import Iterator

import pytest

from registry.db.engine.embedded import EmbeddedPostgres, start_embedded


@pytest.fixture(scope="module")
def own_postgres(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[EmbeddedPostgres]:
    """A server of its own, since it is to be killed."""
    server = start_embedded(tmp_path_factory.mktemp("killed"))
    yield server
    server.close()
