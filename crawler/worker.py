"""The worker: leases registrations and tasks, and works on many at a time.

Registrations come first and often: somebody is waiting. Whatever a job raises ends that
job alone; its lease runs out and another takes it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import structlog

from crawler.context import Context
from crawler.registering import decide_one
from crawler.visiting import carry_out_task
from registry.db import registrations, tasks
from registry.db.engine import DatabaseError

DATABASE_PAUSE_S = 1.0

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Jobs that are leased and worked off, each at a host.

    lease: of `registry.db`. pause_s: before an empty queue is asked again.
    """

    lease: Callable[..., Awaitable[Sequence[Any]]]
    work: Callable[[Context, Any], Awaitable[None]]
    lease_time: timedelta
    pause_s: float


REGISTRATIONS = Queue(
    lease=registrations.lease_registrations,
    work=decide_one,
    lease_time=timedelta(seconds=60),
    pause_s=0.1,
)
TASKS = Queue(
    lease=tasks.lease_tasks,
    work=carry_out_task,
    lease_time=timedelta(seconds=120),
    pause_s=0.5,
)


class Worker:
    """at_once: jobs of each of the two kinds worked on at a time. lease: of a task."""

    def __init__(
        self,
        context: Context,
        *,
        at_once: int,
        lease: timedelta = TASKS.lease_time,
    ) -> None:
        self._context = context
        self._at_once = at_once
        self._queues = (REGISTRATIONS, replace(TASKS, lease_time=lease))

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            for queue in self._queues:
                group.create_task(self._work_off(queue, group))

    async def _work_off(self, queue: Queue, group: asyncio.TaskGroup) -> None:
        slots = asyncio.Semaphore(self._at_once)
        while True:
            leased = 0
            try:
                leased = await self._lease(queue, group, slots)
            except (DatabaseError, OSError) as error:
                await _wait_for_database(error)
            if leased == 0:
                await asyncio.sleep(queue.pause_s)

    async def _lease(
        self, queue: Queue, group: asyncio.TaskGroup, slots: asyncio.Semaphore
    ) -> int:
        async with slots, self._context.engine.begin() as connection:
            found = await queue.lease(
                connection,
                now=self._context.chance.now(),
                lease=queue.lease_time,
                limit=self._at_once,
            )
        for one in found:
            await slots.acquire()
            group.create_task(_run(slots, one.host, queue.work(self._context, one)))
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
