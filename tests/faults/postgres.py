"""Database servers that are killed, with signal 9, which no process can catch."""

import asyncio
from contextlib import suppress
from pathlib import Path

import psutil

from registry.db.engine.embedded import EmbeddedPostgres
from tests.waiting import until


def postmaster_of(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "postmaster.pid").read_text().split()[0]))


def kill_postgres(folder: Path) -> None:
    """The server of the data folder and all its children."""
    postmaster = postmaster_of(folder)
    for process in [postmaster, *postmaster.children()]:
        with suppress(psutil.NoSuchProcess):
            process.kill()


async def kill_and_start(server: EmbeddedPostgres) -> None:
    kill_postgres(server._folder)
    await until("the killed server is gone", lambda: not server.is_running())
    await asyncio.to_thread(server.start)
