"""A log that was tampered with: its publisher stops, visibly, and nothing covers it up."""

import asyncio
import os
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry import keyring
from registry.db.engine.engines import Engine, Role
from registry.db.log import entries as log
from registry.process import EXIT_DAMAGED
from registry.records.record import Record
from registry.settings import Settings, as_environment
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow


async def test_publisher_refuses_a_log_of_another_name_and_a_damaged_one(
    database: URL, owner: Engine, engines: dict[Role, Engine], tmp_path: Path
) -> None:
    settings = Settings(
        data=tmp_path, database_url=database.render_as_string(hide_password=False)
    )
    keyring.create_keyring(settings.keys, settings.log_origin)
    sound = await start_publisher(settings)

    async def signs() -> bool:
        return await count(owner, "checkpoint") > 0

    await until("the publisher of a sound log signs a checkpoint", signs)
    sound.terminate()
    assert await sound.wait() == 0

    before = await count(owner, "checkpoint")
    renamed = replace(settings, public_url="https://moved.example")
    assert f"LOG_NAME={settings.log_origin}" in await refusal_of(renamed)
    assert await count(owner, "checkpoint") == before

    async with owner.begin() as connection:
        await connection.execute(text("ALTER TABLE audit.entry DISABLE TRIGGER USER"))
        await connection.execute(text("UPDATE audit.entry SET leaf_hash = sha256('')"))
    async with engines[Role.API].begin() as connection:
        await log.accept(connection, some_record(), datetime.now(UTC))
    before = await count(owner, "entry")
    assert "not those of checkpoint" in await refusal_of(settings)
    assert await count(owner, "entry") == before, "nothing was published over it"


async def refusal_of(settings: Settings) -> str:
    """Return what a publisher logs that ends because it may not go on."""
    publisher = await start_publisher(settings)
    async with asyncio.timeout(PATIENCE_S):
        _, log_lines = await publisher.communicate()
    assert publisher.returncode == EXIT_DAMAGED
    assert b"log_damaged" in log_lines
    return log_lines.decode()


async def start_publisher(settings: Settings) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "registry.publisher"),
        env={**os.environ, **as_environment(settings)},
        stderr=asyncio.subprocess.PIPE,
    )


async def count(owner: Engine, table: str) -> int:
    async with owner.connect() as connection:
        result = await connection.execute(text(f"SELECT count(*) FROM audit.{table}"))
        return int(result.scalar_one())


def some_record() -> Record:
    return Record(id="0" * 26, kind="ranking", body=b'{"i":1}')
