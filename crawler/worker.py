"""The worker: leases registrations and tasks, and works on many at a time.

Registrations come first and often: somebody is waiting. Whatever a job raises ends that
job alone; its lease runs out and another takes it.
"""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta

import structlog

from crawler.context import Context
from crawler.registering import decide_one
from crawler.visiting import carry_out_task
from registry.db import registrations, tasks
from registry.db.engine import DatabaseError

REGISTRATION_LEASE = timedelta(seconds=60)
TASK_LEASE = timedelta(seconds=120)
REGISTRATION_PAUSE_S = 0.1
TASK_PAUSE_S = 0.5
DATABASE_PAUSE_S = 1.0

logger = structlog.get_logger()


class Worker:
    """at_once: jobs of each of the two kinds worked on at a time."""

    def __init__(self, context: Context, *, at_once: int) -> None:
        self._context = context
        self._at_once = at_once

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._register(group))
            group.create_task(self._visit(group))

    async def _register(self, group: asyncio.TaskGroup) -> None:
        slots = asyncio.Semaphore(self._at_once)
        while True:
            leased = 0
            try:
                leased = await self._lease_registrations(group, slots)
            except (DatabaseError, OSError) as error:
                await _wait_for_database(error)
            if leased == 0:
                await asyncio.sleep(REGISTRATION_PAUSE_S)

    async def _visit(self, group: asyncio.TaskGroup) -> None:
        slots = asyncio.Semaphore(self._at_once)
        while True:
            leased = 0
            try:
                leased = await self._lease_tasks(group, slots)
            except (DatabaseError, OSError) as error:
                await _wait_for_database(error)
            if leased == 0:
                await asyncio.sleep(TASK_PAUSE_S)

    async def _lease_registrations(
        self, group: asyncio.TaskGroup, slots: asyncio.Semaphore
    ) -> int:
        async with slots, self._context.engine.begin() as connection:
            found = await registrations.lease_registrations(
                connection,
                now=self._context.chance.now(),
                lease=REGISTRATION_LEASE,
                limit=self._at_once,
            )
        for one in found:
            await slots.acquire()
            group.create_task(_run(slots, one.host, decide_one(self._context, one)))
        return len(found)

    async def _lease_tasks(
        self, group: asyncio.TaskGroup, slots: asyncio.Semaphore
    ) -> int:
        async with slots, self._context.engine.begin() as connection:
            found = await tasks.lease_tasks(
                connection,
                now=self._context.chance.now(),
                lease=TASK_LEASE,
                limit=self._at_once,
            )
        for one in found:
            await slots.acquire()
            group.create_task(_run(slots, one.host, carry_out_task(self._context, one)))
        return len(found)


async def _run(slots: asyncio.Semaphore, host: str, job: Awaitable[None]) -> None:
    try:
        await job
    except Exception:  # the one place where a job's bug ends: the lease runs out
        logger.exception("job_failed", host=host)
    finally:
        slots.release()


async def _wait_for_database(error: Exception) -> None:
    logger.warning("database_away", kind=type(error).__name__)
    await asyncio.sleep(DATABASE_PAUSE_S)
