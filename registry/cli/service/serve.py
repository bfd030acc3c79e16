"""`serve`: the whole service in one command."""

import asyncio
import resource
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import structlog

from registry import keyring
from registry.cli.service.command_settings import (
    make_data_folder,
    settings_of_log,
    settings_or_exit,
)
from registry.cli.service.database import (
    database_or_exit,
    migrate_or_exit,
    url_of,
    verify_roles,
)
from registry.cli.service.ports import verify_port_is_free
from registry.cli.service.supervise import Supervisor, parts_of_service
from registry.client import RegistryClient
from registry.db.engine.embedded import EmbeddedPostgres, start_embedded
from registry.db.engine.engines import engine_at
from registry.observability import (
    SHARED_METRICS,
    configure_logging,
    metrics_in,
    metrics_served,
)
from registry.process import (
    ensure_standard_streams,
    release_standard_streams,
    stop_requested,
)
from registry.publisher import continuity_of
from registry.settings import Settings, as_environment
from registry.terminal.output import console
from registry.usecases.log.continuity import LogDamaged
from registry.usecases.log.sequence import load_edge

LEAST_FILES = 1_024
"""Open files that a process must be allowed, where the system allows so few at all."""
READY_TIMEOUT_S = 180.0
READY_PAUSE_S = 0.05
DATABASE_CHECK_S = 0.5
DATABASE_RETRY_S = 5.0

logger = structlog.get_logger()


@click.command()
@click.option("--host", help="Address to listen on; 127.0.0.1 by default.")
@click.option("--port", type=int, help="Port to listen on; 8080 by default.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of all data.")
@click.option("--workers", type=int, help="Web processes; 1 by default.")
@click.option(
    "--crawlers", type=int, help="Crawler processes; 1 by default, 0 for none."
)
def serve(**given: Any) -> None:
    """Run everything: database, API, crawler and log publisher, until SIGTERM."""
    ensure_standard_streams()
    settings = settings_or_exit(**given)
    configure_logging(settings.log_format, settings.log_level)
    try:
        asyncio.run(_serve(settings))
    finally:
        release_standard_streams()


async def _serve(settings: Settings) -> None:
    stop = stop_requested()
    async with running_service(settings) as service:
        ready = asyncio.create_task(until_ready(service.origin))
        ready.add_done_callback(lambda done: _print_ready(done, service))
        await stop.wait()
        ready.cancel()
        with suppress(asyncio.CancelledError, TimeoutError):
            await ready


def _verify_file_limit() -> None:
    """Raises: click.ClickException; connections beyond the limit would get no answer."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < LEAST_FILES:
        raise click.ClickException(
            f"a process may open {hard} files here, and each connection is one: raise "
            f"that to {LEAST_FILES} or more (ulimit -n; LimitNOFILE of a unit)"
        )


@asynccontextmanager
async def running_service(settings: Settings) -> AsyncIterator[Settings]:
    """The service, started; stopped in the end. Gives the settings it runs with."""
    verify_port_is_free(settings.host, settings.port)
    _verify_file_limit()
    settings = settings_of_log(settings)
    make_data_folder(settings)
    postgres = None
    if not settings.database_url:
        with database_or_exit("the database does not start"):
            postgres = start_embedded(settings.data)
        postgres.create_database()
        settings = replace(settings, database_url=url_of(postgres))
    try:
        await migrate_or_exit(settings.database_url)
        await verify_roles(settings.database_url)
        keyring.create_keyring(settings.keys, settings.log_origin)
        await _verify_log(settings)
        parts = parts_of_service(
            settings.host,
            settings.port,
            settings.workers,
            crawlers=settings.crawlers,
            witnessed=bool(settings.witnesses),
        )
        with _served_metrics(settings) as shared:
            environment = {**as_environment(settings), SHARED_METRICS: shared}
            works = [Supervisor(parts, environment).run()]
            if postgres is not None:
                works.append(keep_running(postgres))
            async with beside(works):
                yield settings
    finally:
        if postgres is not None:
            postgres.close()


async def _verify_log(settings: Settings) -> None:
    """Raises: click.ClickException if the database is older than the log."""
    url = settings.database_url
    async with engine_at(url) as engine, engine.connect() as connection:
        try:
            await load_edge(connection, continuity_of(settings))
        except LogDamaged as damaged:
            raise click.ClickException(str(damaged)) from damaged


@contextmanager
def _served_metrics(settings: Settings) -> Iterator[str]:
    """Give the folder in which the parts keep what is served here."""
    with (
        TemporaryDirectory(prefix="fair-registry-metrics-") as folder,
        metrics_served(settings.metrics_at, metrics_in(Path(folder))),
    ):
        yield folder


@asynccontextmanager
async def beside(works: list[Coroutine[Any, Any, None]]) -> AsyncIterator[None]:
    """Run the works while the block runs; what ends one of them ends the block."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failed:
        first: BaseException = failed
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from None


async def keep_running(postgres: EmbeddedPostgres) -> None:
    """Start the embedded server again whenever it has died, until cancelled."""
    detail, pause_s = "", DATABASE_CHECK_S
    while True:
        await asyncio.sleep(pause_s)
        if postgres.is_running():
            continue
        if not detail:
            logger.warning("database_ended")
        try:
            await asyncio.to_thread(postgres.start)
        except OSError as error:
            if str(error) != detail:  # reported once, and tried again
                logger.error("database_start_failed", detail=str(error))  # noqa: TRY400
            detail, pause_s = str(error), min(2 * pause_s, DATABASE_RETRY_S)
        else:
            detail, pause_s = "", DATABASE_CHECK_S


async def until_ready(url: str) -> None:
    """Raises: TimeoutError."""
    async with asyncio.timeout(READY_TIMEOUT_S), RegistryClient(url) as client:
        while not await client.is_ready():
            await asyncio.sleep(READY_PAUSE_S)


def _print_ready(done: asyncio.Task[None], settings: Settings) -> None:
    if not done.cancelled() and done.exception() is None:
        # Rich ends the process where nobody reads its output any more.
        with suppress(OSError, SystemExit):
            console.print(f"Ready at [bold]{settings.origin}/[/]. Ctrl-C stops it.")
