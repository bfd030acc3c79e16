"""The reporter as a process runs it: its schedule looks, and what is due is done."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry import keyring, reporter
from registry.db.engine.engines import Engine
from registry.settings import Settings
from registry.usecases.ids import utc_now
from registry.usecases.reports.keep_exposure import ExposureKeeper

BEGAN = timedelta(days=40)
WAIT_S = 60.0


@pytest.fixture
def settings(database: URL, tmp_path: Path) -> Settings:
    result = Settings(
        data=tmp_path, database_url=database.render_as_string(hide_password=False)
    )
    keyring.create_keyring(result.keys, result.log_origin)
    return result


@pytest.fixture
async def began_before(owner: Engine) -> None:
    """Let the log have begun before the last month did, or in it."""
    async with owner.begin() as connection:
        await connection.execute(
            text(
                "INSERT INTO audit.entry VALUES"
                " (0, :id, 'selection', '\\x00'::bytea, '\\x00'::bytea, :at)"
            ),
            {"id": UUID(int=1), "at": utc_now() - BEGAN},
        )


@pytest.mark.usefixtures("began_before")
async def test_it_catches_up_by_itself(
    settings: Settings, owner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reporter, "FIRST_LOOK", timedelta())
    running = asyncio.create_task(reporter.report(settings))
    try:
        async with asyncio.timeout(WAIT_S):
            while not (saved := await months(owner)):
                await asyncio.sleep(0.1)
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    assert saved[-1] < datetime.now(UTC).date().replace(day=1)


async def test_it_ends_once_its_work_has_ended(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would close its engines while the work still holds connections."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def work(_: ExposureKeeper) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.05)
            ended.set()

    monkeypatch.setattr(reporter, "FIRST_LOOK", timedelta())
    monkeypatch.setattr(ExposureKeeper, "keep_missing", work)
    running = asyncio.create_task(reporter.report(settings))
    async with asyncio.timeout(WAIT_S):
        await began.wait()
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert ended.is_set()


async def months(owner: Engine) -> list[object]:
    async with owner.connect() as connection:
        query = text("SELECT month FROM audit.kept_report ORDER BY month")
        return list((await connection.execute(query)).scalars())
