"""Reports are made one at a time in a process: each takes a core and much memory.

A few may wait for their turn; whoever comes then is told to come again, so that callers
of reports stall neither each other for long nor the searches.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from registry.errors import Unavailable
from registry.usecases.refusals import REPORTS_BUSY

WAITING_MAX = 4
RETRY_AFTER_S = 20


class ReportQueue:
    """Queue of reports. waiting_max: how many may wait for the one being made."""

    def __init__(self, waiting_max: int = WAITING_MAX) -> None:
        self._waiting_max = waiting_max
        self._inside = 0
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the turn of one report. Raises: Unavailable."""
        if self._inside > self._waiting_max:
            raise Unavailable(REPORTS_BUSY, retry_after_s=RETRY_AFTER_S)
        self._inside += 1
        try:
            async with self._turn:
                yield
        finally:
            self._inside -= 1
