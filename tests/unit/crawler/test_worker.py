"""What a worker leases, and what it does with it; its jobs end when a test says so."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typing_extensions import override

from crawler.context import Context
from crawler.worker import Queue, Slots, Worker

NEVER_S = 3600.0


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(50):
        await asyncio.sleep(0)


@dataclass
class Backlog:
    """A queue without end. limits: of each query; waiting: leased but not begun."""

    limits: list[int] = field(default_factory=list)
    leased: int = 0
    begun: list[asyncio.Event] = field(default_factory=list)
    waiting: int = 0
    broken_off: int = 0

    async def lease(self, _: object, *, limit: int, **__: object) -> Sequence[Any]:
        self.limits.append(limit)
        self.leased += limit
        return [SimpleNamespace(host="shop.test") for _ in range(limit)]

    async def work(self, _: object, __: object) -> None:
        end = asyncio.Event()
        self.begun.append(end)
        try:
            await end.wait()
        except asyncio.CancelledError:
            self.broken_off += 1
            raise

    async def end(self, count: int) -> None:
        for item in [task for task in self.begun if not task.is_set()][:count]:
            item.set()
        await settle()
        self.waiting = max(self.waiting, self.leased - len(self.begun))

    def queue(self, linger_s: float = NEVER_S) -> Queue:
        return Queue(
            lease=self.lease,
            work=self.work,
            lease_time=timedelta(seconds=60),
            pause_s=NEVER_S,
            linger_s=linger_s,
        )


def context() -> Context:
    async def execute(*_: object) -> None:
        """Take the heartbeat."""

    class Pool:
        """Engine whose connections do nothing, standing alone or in a transaction."""

        @asynccontextmanager
        async def begin(self) -> AsyncIterator[SimpleNamespace]:
            yield SimpleNamespace(execute=execute)

        connect = begin

        def execution_options(self, **_: object) -> "Pool":
            return self

    return cast("Context", SimpleNamespace(engine=Pool(), clock=lambda: None))


Make = Callable[..., Worker]


@asynccontextmanager
async def working(
    backlog: Backlog, *, at_once: int, make: Make = Worker, grace_s: float = 0.0
) -> AsyncIterator["asyncio.Task[None]"]:
    worker = make(context(), at_once=at_once, queues=[backlog.queue()], grace_s=grace_s)
    running = asyncio.create_task(worker.run())
    await settle()
    backlog.waiting = backlog.leased - len(backlog.begun)
    yield running
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


class Greedy(Worker):
    """As it was: where one slot is free, as much is leased as all slots could do."""

    @override
    async def _lease_and_start(self, queue: Queue, slots: Slots, free: int) -> int:
        result = await queue.lease(None, limit=self._at_once)
        for item in result:
            await slots.wait()
            slots.take()
            job = asyncio.create_task(self._run(queue, item))
            job.add_done_callback(lambda _: slots.leave())
        return len(result)


async def test_nothing_leased_waits_for_a_slot() -> None:
    backlog = Backlog()
    async with working(backlog, at_once=4):
        for _ in range(20):
            await backlog.end(1)
    assert len(backlog.begun) > 20
    assert backlog.waiting == 0


async def test_whoever_leases_for_all_slots_lets_leases_wait() -> None:
    """The control."""
    backlog = Backlog()
    async with working(backlog, at_once=4, make=Greedy):
        for _ in range(20):
            await backlog.end(1)
    assert backlog.waiting > 0


async def test_under_load_one_query_leases_a_batch() -> None:
    backlog = Backlog()
    async with working(backlog, at_once=16):
        assert backlog.limits == [16]
        for _ in range(3):
            await backlog.end(1)
        assert backlog.limits == [16], "three slots are no batch"
        await backlog.end(1)
        assert backlog.limits == [16, 4]
        await backlog.end(9)
        assert backlog.limits == [16, 4, 9]


async def test_a_single_free_slot_does_not_wait_for_ever() -> None:
    slots = Slots(16, linger_s=0.0)
    for _ in range(16):
        slots.take()
    waiting = asyncio.create_task(slots.wait())
    await settle()
    assert not waiting.done()
    slots.leave()
    assert await waiting == 1


async def test_a_bug_in_a_job_ends_that_job_alone() -> None:
    backlog = Backlog()
    works = backlog.work

    async def work(context: object, item: object) -> None:
        if len(backlog.begun) == 1:
            backlog.begun.append(asyncio.Event())
            raise KeyError("a bug")
        await works(context, item)

    backlog.work = work  # type: ignore[method-assign]
    async with working(backlog, at_once=4):
        await backlog.end(3)
        assert len(backlog.begun) > 4


async def test_who_is_stopped_ends_what_is_under_way() -> None:
    backlog = Backlog()
    async with working(backlog, at_once=4, grace_s=NEVER_S) as running:
        running.cancel()
        await settle()
        assert not running.done()
        await backlog.end(4)
        assert running.done()
    assert (backlog.leased, backlog.broken_off) == (4, 0)


@pytest.mark.parametrize("grace_s", [0.0, NEVER_S])
async def test_what_takes_too_long_is_broken_off(grace_s: float) -> None:
    """By the end of the grace, or by a second signal."""
    backlog = Backlog()
    async with working(backlog, at_once=4, grace_s=grace_s) as running:
        running.cancel()
        await settle()
        if grace_s:
            running.cancel()
        with suppress(asyncio.CancelledError):
            await running
    assert backlog.broken_off == 4
