"""Reports are made one at a time in a process: each takes a core and much memory.

A few may wait for their turn, in lanes: known auditors first, then operators, then
anybody, so that no crowd of strangers keeps an auditor from the report. Whoever finds his
lane full is told to come again, so that callers of reports stall neither each other for
long nor the searches.

Who asks without a key may get a report that was made within the last minute. A copy states
its own window: asked for "until now", it is one until the instant at which it was made.
Whoever signs gets a report of this very moment.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum

from registry.errors import Unavailable
from registry.reports.render.report_files import Form
from registry.usecases.ids import Clock
from registry.usecases.refusals import REPORTS_BUSY

WAITING_MAX = 4
RETRY_AFTER_S = 20


class Lane(IntEnum):
    """Lanes of the queue; the lowest goes first."""

    AUDITOR = 0
    OPERATOR = 1
    ANONYMOUS = 2


class ReportQueue:
    """Queue of reports. waiting_max: how many may wait in each lane."""

    def __init__(self, waiting_max: int = WAITING_MAX) -> None:
        self._waiting_max = waiting_max
        self._is_taken = False
        self._lanes = [deque[asyncio.Future[None]]() for _ in Lane]

    @asynccontextmanager
    async def turn(self, lane: Lane = Lane.ANONYMOUS) -> AsyncIterator[None]:
        """Hold the turn of one report. Raises: Unavailable."""
        if self._is_taken:
            await self._wait(self._lanes[lane])
        self._is_taken = True
        try:
            yield
        finally:
            self._hand_on()

    async def _wait(self, lane: deque[asyncio.Future[None]]) -> None:
        if len(lane) >= self._waiting_max:
            raise Unavailable(REPORTS_BUSY, retry_after_s=RETRY_AFTER_S)
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


LIFE = timedelta(minutes=1)
MAX_BYTES = 32_000_000


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """start, end: as they were asked for; None: open."""

    start: datetime | None
    end: datetime | None
    operator: str
    category: str
    form: Form


class RecentReports:
    """Bodies by what was asked for; the oldest go first. now: the clock, in UTC."""

    def __init__(self, now: Clock) -> None:
        self._now = now
        self._bodies: OrderedDict[ReportRequest, tuple[datetime, bytes]] = OrderedDict()

    def find(self, request: ReportRequest) -> bytes | None:
        ready_at, body = self._bodies.get(request, (None, b""))
        if ready_at is None or self._now() - ready_at > LIFE:
            return None
        return body

    def save(self, request: ReportRequest, body: bytes) -> None:
        """Keep the body, unless its window goes on: it would be stale in a moment."""
        now = self._now()
        if request.end is not None and request.end > now:
            return
        self._bodies.pop(request, None)
        self._bodies[request] = now, body
        while sum(len(body) for _, body in self._bodies.values()) > MAX_BYTES:
            self._bodies.popitem(last=False)
