"""What the scheduler says of jobs: failures, and nothing of those that the end cancelled."""

import asyncio
import logging
from io import StringIO

import pytest

from registry.scheduled_jobs import scheduled_jobs


async def test_jobs_that_fail_are_logged_and_those_cancelled_at_the_end_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logged, begun = StringIO(), asyncio.Event()
    executors = logging.getLogger("apscheduler.executors.default")
    monkeypatch.setattr(executors, "handlers", [logging.StreamHandler(logged)])

    async def wait_for_ever() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def fail() -> None:
        raise ValueError("broken")

    async with scheduled_jobs() as scheduler:
        scheduler.add_job(fail)
        scheduler.add_job(wait_for_ever)
        scheduler.start()
        await begun.wait()
    assert "ValueError: broken" in logged.getvalue()
    assert "CancelledError" not in logged.getvalue()
