"""Jobs that a process does now and then, beside its work."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from apscheduler.executors.asyncio import AsyncIOExecutor
from apscheduler.schedulers.asyncio import AsyncIOScheduler


class _Executor(AsyncIOExecutor):  # type: ignore[misc]  # it has no types
    @property
    def running(self) -> tuple[asyncio.Future[object], ...]:
        return tuple(self._pending_futures)


def _is_failure(record: logging.LogRecord) -> bool:
    """Return whether it is no cancelled job, which the executor logs like any exception."""
    return not (
        record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError)
    )


logging.getLogger("apscheduler.executors.default").addFilter(_is_failure)


@asynccontextmanager
async def scheduled_jobs() -> AsyncIterator[AsyncIOScheduler]:
    """Yield a scheduler to be started; at the end its jobs are cancelled, and have ended.

    Until then they hold connections of engines that are closed next.
    """
    executor = _Executor()
    scheduler = AsyncIOScheduler(executors={"default": executor}, timezone="UTC")
    try:
        yield scheduler
    finally:
        if scheduler.running:
            running = executor.running
            scheduler.shutdown(wait=False)
            await asyncio.gather(*running, return_exceptions=True)
