"""The worker: leases registrations and tasks, and works on many at a time.

Registrations come first and often: somebody is waiting. Whatever a job raises ends that
job alone; its lease runs out and another takes it. Nothing is leased without a free slot
that works on it at once, so that what this worker can not do yet is there for others.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import structlog

from crawler import metrics
from crawler.context import Context
from crawler.tasks.dispatch import carry_out_task
from crawler.tasks.registration import settle_registration
from registry.db.engine.engines import DatabaseError, reading
from registry.db.frontier import due_work as frontier
from registry.db.frontier import heartbeats, tasks
from registry.db.frontier.tasks import Task
from registry.db.registration import registrations
from registry.usecases.background import follow

BEAT_S = 2.0
GRACE_S = 3.0
GIVE_BACK_S = 2.0
_BATCHES = 4

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Jobs that are leased and worked off, each at a host.

    lease: of `registry.db`, a statement that stands alone. pause_s: the shortest before an
    empty queue is asked again. linger_s: how long a few free slots wait to become a batch,
    so that under load not every job costs a query. share: of the slots of a kind.
    """

    lease: Callable[..., Awaitable[Sequence[Any]]]
    work: Callable[[Context, Any], Awaitable[None]]
    lease_time: timedelta
    pause_s: float
    linger_s: float = 0.25
    share: float = 1.0


REGISTRATIONS = Queue(
    lease=registrations.lease_registrations,
    work=settle_registration,
    lease_time=timedelta(seconds=60),
    pause_s=0.1,
)
RETRIES = Queue(
    lease=partial(registrations.lease_registrations, retries=True),
    work=settle_registration,
    lease_time=REGISTRATIONS.lease_time,
    pause_s=1.0,
    share=0.25,
)
"""A lane of their own: hosts that do not answer take no slot from a first try."""
TASKS = Queue(
    lease=tasks.lease_tasks,
    work=carry_out_task,
    lease_time=timedelta(seconds=120),
    pause_s=0.5,
)


class Slots:
    """Slots for jobs. linger_s: as of a queue."""

    def __init__(self, count: int, *, linger_s: float) -> None:
        self.free = count
        self._batch = max(1, count // _BATCHES)
        self._linger_s = linger_s
        self._left = asyncio.Event()

    async def wait(self) -> int:
        """Wait for free slots, at least one; by the batch where jobs end one by one."""
        await self._until_free(1)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._linger_s):
                await self._until_free(self._batch)
        return self.free

    def take(self) -> None:
        self.free -= 1

    def leave(self) -> None:
        self.free += 1
        self._left.set()

    async def _until_free(self, count: int) -> None:
        while self.free < count:
            self._left.clear()
            await self._left.wait()


class Worker:
    """Worker of one process.

    at_once: jobs of each queue worked on at a time, by its share. lease: of a task.
    grace_s: what jobs have to end once it is cancelled; a second time ends it at once.
    """

    def __init__(
        self,
        context: Context,
        *,
        at_once: int,
        lease: timedelta = TASKS.lease_time,
        grace_s: float = GRACE_S,
        queues: Sequence[Queue] = (REGISTRATIONS, RETRIES, TASKS),
    ) -> None:
        self._context = context
        self._at_once = at_once
        self._grace_s = grace_s
        self._queues = [
            replace(queue, lease_time=lease) if queue is TASKS else queue
            for queue in queues
        ]
        self._leasing: set[asyncio.Task[int]] = set()
        self._jobs: dict[asyncio.Task[None], Any] = {}

    async def run(self) -> None:
        """Run until cancelled; then leases of unfinished jobs are given back."""
        try:
            async with asyncio.TaskGroup() as group:
                for queue in self._queues:
                    group.create_task(self._work_off(queue))
                group.create_task(
                    follow(self._beat, pause_s=BEAT_S, lost="heartbeat_lost")
                )
        finally:
            await self._stop()

    async def _beat(self) -> None:
        """Show the web processes that a crawler works."""
        async with self._context.engine.begin() as connection:
            await heartbeats.beat(connection, heartbeats.CRAWLER)

    async def _work_off(self, queue: Queue) -> None:
        count = max(1, round(self._at_once * queue.share))
        slots = Slots(count, linger_s=queue.linger_s)

        async def look() -> int:
            """Lease until there is less than fits."""
            while True:
                free = await slots.wait()
                leased = await self._lease(queue, slots, free)
                if leased < free:
                    return leased

        await follow(look, pause_s=queue.pause_s, lost="database_away")

    async def _lease(self, queue: Queue, slots: Slots, free: int) -> int:
        """Lease and start; not to be cancelled between the two."""
        leasing = asyncio.create_task(self._lease_and_start(queue, slots, free))
        self._leasing.add(leasing)
        try:
            return await asyncio.shield(leasing)
        finally:
            if leasing.done():
                self._leasing.discard(leasing)

    async def _lease_and_start(self, queue: Queue, slots: Slots, free: int) -> int:
        async with reading(self._context.engine).connect() as connection:
            leased = await queue.lease(
                connection,
                now=self._context.clock(),
                lease=queue.lease_time,
                limit=free,
            )
        for item in leased:
            slots.take()
            job = asyncio.create_task(self._run(queue, item))
            self._jobs[job] = item
            job.add_done_callback(self._jobs.pop)
            job.add_done_callback(lambda _: slots.leave())
        return len(leased)

    async def _run(self, queue: Queue, item: Any) -> None:
        of = item.kind if isinstance(item, Task) else "registration"
        metrics.labelled(metrics.LEASES, of).inc()
        end, began_s = "given_back", time.monotonic()
        with metrics.labelled(metrics.UNDER_WAY, of).track_inprogress():
            try:
                await queue.work(self._context, item)
                end = "done"
            except Exception:  # the one place where a job's bug ends
                end = "failed"
                logger.exception("job_failed", host=item.host)
            finally:
                metrics.labelled(metrics.JOBS, of, end).inc()
        if time.monotonic() - began_s > queue.lease_time.total_seconds():
            metrics.OUTLIVED.labels(of).inc()

    async def _stop(self) -> None:
        try:
            await _ended(self._leasing, GIVE_BACK_S)
            await _ended(self._jobs, self._grace_s)
        finally:
            late = dict(self._jobs)
            for job in late:
                job.cancel()
            await _ended(late, GIVE_BACK_S)
            await self._give_back(list(late.values()))

    async def _give_back(self, leased: list[Any]) -> None:
        if not leased:
            return
        try:
            async with (
                asyncio.timeout(GIVE_BACK_S),
                self._context.engine.begin() as connection,
            ):
                returned = await frontier.give_back(connection, leased)
        except (DatabaseError, OSError, TimeoutError) as error:
            logger.warning("leases_not_given_back", kind=type(error).__name__)
        else:
            logger.info("leases_given_back", leases=returned)


async def _ended(some: Collection[asyncio.Task[Any]], timeout_s: float) -> None:
    """Wait for tasks within the time; what they raised is lost."""
    with suppress(TimeoutError):
        async with asyncio.timeout(timeout_s):
            await asyncio.shield(asyncio.gather(*some, return_exceptions=True))
