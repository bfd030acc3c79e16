"""What all tests share: one real PostgreSQL a worker, migrated once, copied per module."""

import asyncio
import itertools
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from sqlalchemy.engine import URL

from registry.db.engine.embedded import EmbeddedPostgres, start_embedded
from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.schema.migrate import migrate
from registry.sites.gazetteer import Gazetteer

if TYPE_CHECKING:
    from tests.api.running import RunningRegistry

TEMPLATE = "template_migrated"
REGISTRY_MODULES = pytest.StashKey[set[Path]]()
REGISTRY_IS_NEXT = pytest.StashKey[bool]()
_numbers = itertools.count()

# Each new client, in our processes and those that we start, would read 140 authorities
# for 25 to 50 ms of CPU. Nothing here speaks to who has a certificate of theirs; what the
# crawler trusts is read by other ways.
os.environ["SSL_CERT_FILE"] = str(Path(__file__).with_name("nobody.crt"))

settings.register_profile("dev", max_examples=10, deadline=None)
settings.register_profile(
    "ci",
    max_examples=50,  # the same ones each time; the rest is the nightly profile's
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", max_examples=20_000, deadline=None)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev")
)


def draw_no_constants_of_ours() -> None:
    """Leave out what Hypothesis reads in our modules: those that are imported so far.

    Which these are depends on the order of the tests, so that "the same ones each time"
    were others in each run; and to read them took 1.5 s of each process.
    """
    constants = providers.Constants()
    providers._get_local_constants = lambda: constants


if settings.get_current_profile_name() != "nightly":
    draw_no_constants_of_ours()


def log_beside_the_tests() -> None:
    """Log to the process's own standard error.

    A registry that runs in a thread would else write into what a test of a command
    captures of standard output.
    """
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))


log_beside_the_tests()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put the modules of a running registry beside each other: then it starts once."""
    modules = {row.path for row in items if _needs_registry(row)}
    config.stash[REGISTRY_MODULES] = modules
    items.sort(key=lambda row: row.path not in modules)


def _needs_registry(item: pytest.Item) -> bool:
    return {"registry", "postgres"} <= set(getattr(item, "fixturenames", ()))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    stash = item.config.stash
    is_next = nextitem is not None and nextitem.path in stash[REGISTRY_MODULES]
    stash[REGISTRY_IS_NEXT] = is_next


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes and long texts by their length.

    Names stay readable, and the same in every worker where a clock or a key went in.
    """
    if isinstance(val, bytes):
        return f"{len(val)}-bytes"
    if isinstance(val, str) and len(val) > 100:
        return f"{len(val)}-characters"
    return None


def skip_or_fail(reason: str) -> None:
    """A machine that lacks something skips; under CI that is a failure."""
    if os.environ.get("CI"):
        pytest.fail(f"CI must have it: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    server = start_embedded(tmp_path_factory.mktemp("pg"))
    server.create_database(TEMPLATE)
    asyncio.run(_migrate(server.url(TEMPLATE)))
    yield server
    server.close()


@pytest.fixture(scope="module")
def database(postgres: EmbeddedPostgres) -> URL:
    """A migrated database of the module's own."""
    name = f"test_{next(_numbers)}"
    postgres.create_database(name, TEMPLATE)
    return postgres.url(name)


@pytest.fixture(scope="module")
async def owner(database: URL) -> AsyncIterator[Engine]:
    """An engine that may do everything."""
    engine = open_engine(database)
    yield engine
    await engine.dispose()


@pytest.fixture(scope="module")
async def engines(database: URL) -> AsyncIterator[dict[Role, Engine]]:
    """An engine for each role."""
    members = {role: open_engine(database, role) for role in Role}
    yield members
    for engine in members.values():
        await engine.dispose()


class RegistryOfWorker:
    """The registry that runs in this worker, or none."""

    def __init__(
        self, postgres: EmbeddedPostgres, folders: pytest.TempPathFactory
    ) -> None:
        self._postgres = postgres
        self._folders = folders
        self._stack = ExitStack()
        self._running: RunningRegistry | None = None

    def started(self) -> "RunningRegistry":
        from tests.api.running import run_registry  # noqa: PLC0415 — units don't pay for it

        if self._running is None:
            data = self._folders.mktemp("registry")
            run = run_registry(self._postgres, data)
            self._running = self._stack.enter_context(run)
        return self._running

    def close(self) -> None:
        self._stack.close()
        self._running = None


@pytest.fixture(scope="session")
def registry_of_worker(
    postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RegistryOfWorker]:
    result = RegistryOfWorker(postgres, tmp_path_factory)
    yield result
    result.close()


@pytest.fixture(scope="module")
def registry(
    registry_of_worker: RegistryOfWorker, request: pytest.FixtureRequest
) -> Iterator["RunningRegistry"]:
    """The whole registry, running, with a small town; settled in some four seconds.

    It is shared by modules that follow each other. Then it is stopped: with nothing to
    do it takes a twelfth of a core.
    """
    yield registry_of_worker.started()
    if not request.config.stash[REGISTRY_IS_NEXT]:
        registry_of_worker.close()


@pytest.fixture(scope="session")
def gazetteer() -> Gazetteer:
    """Loaded once a worker: it takes a second."""
    return Gazetteer.load()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of specifications, real documents and retrieval sets."""
    folder = Path(__file__).parents[1].parent / "shared"
    if not folder.is_dir():
        pytest.skip(f"{folder} is absent: no real documents to try")
    return folder


async def _migrate(url: URL) -> None:
    engine = open_engine(url)
    await migrate(engine)
    await engine.dispose()
