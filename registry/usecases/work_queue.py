"""Heavy work, such as reports and lints: one at a time in a process, for it takes a core.

A few may wait for their turn, in lanes: known auditors first, then operators, then
anybody, so that no crowd of strangers keeps an auditor from the report. A caller who finds his
lane full is asked to come again, so that callers stall neither each other for long nor the
searches.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import TypeVar

from registry.errors import ProblemType, Unavailable

Output = TypeVar("Output")


class Lane(IntEnum):
    """Lanes of the queue; the lowest goes first."""

    AUDITOR = 0
    OPERATOR = 1
    ANONYMOUS = 2


class WorkQueue:
    """Queue of one kind of work.

    busy: the refusal where a lane is full. waiting_max: how many may wait in each.
    """

    def __init__(
        self, busy: ProblemType, *, waiting_max: int, retry_after_s: int
    ) -> None:
        self._busy, self._retry_after_s = busy, retry_after_s
        self._waiting_max = waiting_max
        self._is_taken = False
        self._lanes = [deque[asyncio.Future[None]]() for _ in Lane]

    @asynccontextmanager
    async def turn(self, lane: Lane = Lane.ANONYMOUS) -> AsyncIterator[None]:
        """Hold the turn. Raises: Unavailable."""
        if self._is_taken:
            await self._wait(self._lanes[lane])
        self._is_taken = True
        try:
            yield
        finally:
            self._hand_on()

    async def run(self, work: Callable[[], Output]) -> Output:
        """Run a stranger's work on a thread, in its turn. Raises: Unavailable."""
        async with self.turn():
            return await asyncio.to_thread(work)

    async def _wait(self, lane: deque[asyncio.Future[None]]) -> None:
        if len(lane) >= self._waiting_max:
            raise Unavailable(self._busy, retry_after_s=self._retry_after_s)
        turn = asyncio.get_running_loop().create_future()
        lane.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn in lane:
                lane.remove(turn)
            elif not turn.cancelled():  # it was handed over just before
                self._hand_on()
            raise

    def _hand_on(self) -> None:
        """Give the turn to the next, and to nobody where nobody waits."""
        for lane in self._lanes:
            while lane:
                turn = lane.popleft()
                if not turn.done():
                    turn.set_result(None)
                    return
        self._is_taken = False
