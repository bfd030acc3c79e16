"""One piece of work at a time, a few who wait, and a word to all others."""

import asyncio

import pytest

from registry.errors import Unavailable
from registry.usecases.refusals import REPORTS_BUSY
from registry.usecases.work_queue import Lane, WorkQueue


def queue_of(waiting_max: int) -> WorkQueue:
    return WorkQueue(REPORTS_BUSY, waiting_max=waiting_max, retry_after_s=20)


class Maker:
    """Makes reports that end when they are told to."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self.begun: list[int] = []
        self.go_on = asyncio.Event()

    async def make(self, number: int, lane: Lane = Lane.ANONYMOUS) -> int:
        async with self.queue.turn(lane):
            self.begun.append(number)
            await self.go_on.wait()
            return number


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_reports_are_made_one_after_the_other() -> None:
    maker = Maker(queue_of(2))
    result = [asyncio.create_task(maker.make(number)) for number in range(3)]
    await settle()
    assert maker.begun == [0]
    maker.go_on.set()
    assert await asyncio.gather(*result) == [0, 1, 2]


async def test_who_comes_when_enough_wait_is_told_when_to_come_again() -> None:
    maker = Maker(queue_of(1))
    result = [asyncio.create_task(maker.make(number)) for number in range(2)]
    await settle()
    with pytest.raises(Unavailable, match="reports_busy") as refused:
        await maker.make(2)
    assert refused.value.retry_after_s == 20
    maker.go_on.set()
    assert await asyncio.gather(*result, maker.make(3)) == [0, 1, 3]


async def test_a_report_that_fails_or_is_given_up_leaves_the_turn_to_the_next() -> None:
    queue = queue_of(1)
    with pytest.raises(ZeroDivisionError):
        async with queue.turn():
            raise ZeroDivisionError
    maker = Maker(queue)
    first, second = (asyncio.create_task(maker.make(number)) for number in range(2))
    await settle()
    second.cancel()
    first.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    maker.go_on.set()
    assert await asyncio.gather(maker.make(2), maker.make(3)) == [2, 3]


async def test_auditors_go_before_operators_and_those_before_anybody() -> None:
    maker = Maker(queue_of(2))
    lanes = (Lane.ANONYMOUS, Lane.ANONYMOUS, Lane.OPERATOR, Lane.AUDITOR)
    built = []
    for number, lane in enumerate(lanes):
        built.append(asyncio.create_task(maker.make(number, lane)))
        await settle()
    maker.go_on.set()
    await asyncio.gather(*built)
    assert maker.begun == [0, 3, 2, 1]


async def test_a_crowd_of_strangers_keeps_no_auditor_out() -> None:
    maker = Maker(queue_of(1))
    crowd = [asyncio.create_task(maker.make(number)) for number in range(12)]
    await settle()
    auditor = asyncio.create_task(maker.make(99, Lane.AUDITOR))
    await settle()
    maker.go_on.set()
    assert await auditor == 99
    assert maker.begun[:2] == [0, 99]
    ended = await asyncio.gather(*crowd, return_exceptions=True)
    assert sum(isinstance(outcome, Unavailable) for outcome in ended) == 10


async def test_a_turn_that_is_given_up_as_it_comes_is_not_lost() -> None:
    queue = queue_of(4)
    maker = Maker(queue)
    async with queue.turn():
        waiting = asyncio.create_task(maker.make(1))
        await settle()
    waiting.cancel()  # its turn has come, and it does not know yet
    await asyncio.gather(waiting, return_exceptions=True)
    maker.go_on.set()
    assert await maker.make(2) == 2
