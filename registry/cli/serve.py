"""`serve`: the whole service in one command."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from registry import keyring
from registry.cli.output import console
from registry.cli.supervise import Supervisor, parts_of_service
from registry.client import RegistryClient
from registry.db.embedded import start_embedded
from registry.db.engine import open_engine
from registry.db.migrate import migrate
from registry.observability import configure_logging
from registry.settings import Settings, SettingsInvalid, as_environment, read_settings

READY_TIMEOUT_S = 60.0
READY_PAUSE_S = 0.05


@click.command()
@click.option("--host", help="Address to listen on; 127.0.0.1 by default.")
@click.option("--port", type=int, help="Port to listen on; 8080 by default.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of all data.")
@click.option("--workers", type=int, help="Web processes; 1 by default.")
def serve(**given: Any) -> None:
    """Run everything: database, API, crawler and log publisher, until SIGTERM."""
    settings = settings_or_exit(**given)
    configure_logging(settings.log_format)
    asyncio.run(_serve(settings))


def settings_or_exit(**given: Any) -> Settings:
    try:
        return read_settings(os.environ, **given)
    except SettingsInvalid as error:
        raise click.ClickException(str(error)) from error


async def _serve(settings: Settings) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running_service(settings) as service:
        ready = asyncio.create_task(until_ready(service.origin))
        ready.add_done_callback(lambda done: _tell_ready(done, service))
        await stop.wait()
        ready.cancel()
        with suppress(asyncio.CancelledError, TimeoutError):
            await ready


@asynccontextmanager
async def running_service(settings: Settings) -> AsyncIterator[Settings]:
    """The service, started; stopped in the end. Gives the settings it runs with."""
    settings.data.mkdir(parents=True, exist_ok=True)
    postgres = None
    if not settings.database_url:
        postgres = start_embedded(settings.data)
        postgres.create_database()
        url = postgres.url().render_as_string(hide_password=False)
        settings = replace(settings, database_url=url)
    try:
        await prepare(settings)
        parts = parts_of_service(settings.host, settings.port, settings.workers)
        supervisor = Supervisor(parts, as_environment(settings))
        running = asyncio.create_task(supervisor.run())
        try:
            yield settings
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running
    finally:
        if postgres is not None:
            postgres.close()


async def prepare(settings: Settings) -> None:
    """The newest schema, and the keys."""
    engine = open_engine(settings.database_url)
    try:
        await migrate(engine)
    finally:
        await engine.dispose()
    keyring.create_keyring(settings.keys, settings.log_origin)


async def until_ready(url: str) -> None:
    """Raises: TimeoutError."""
    async with asyncio.timeout(READY_TIMEOUT_S), RegistryClient(url) as client:
        while not await client.is_ready():
            await asyncio.sleep(READY_PAUSE_S)


def _tell_ready(done: asyncio.Task[None], settings: Settings) -> None:
    if not done.cancelled() and done.exception() is None:
        console.print(f"Ready at [bold]{settings.origin}/[/]. Ctrl-C stops it.")
