"""Turns in which requests are ranked: those of anonymous askers in a lane of their own.

Ranking takes milliseconds of a core. In one line an operator waited for every stranger
who came before.
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import TypeVar

from registry.errors import Unavailable
from registry.usecases.refusals import SEARCHES_WAITING

T = TypeVar("T")

WAITING_MOST = 1_000
"""Number of anonymous requests that may wait in a process: some seconds of its work."""
OPERATORS_AT_ONCE = 8
YIELD_MAX_S = 0.25
"""Time for which an anonymous request waits for operators', once it is its turn."""


class RankingThreads:
    """cores: of which anonymous askers have all but one at once; None: the process's."""

    def __init__(self, cores: int | None = None) -> None:
        cores = cores or len(os.sched_getaffinity(0))
        self._threads = ThreadPoolExecutor(OPERATORS_AT_ONCE + cores, "ranking")
        self._turn = asyncio.Semaphore(max(1, cores - 1))
        self._waiting = self._operators = 0
        self._is_free = asyncio.Event()
        self._is_free.set()

    @contextmanager
    def serving(self, operator: str | None) -> Iterator[None]:
        """Keep anonymous requests from beginning while an operator is served.

        One whose turn is long due begins all the same.
        """
        if operator is None:
            yield
            return
        self._operators += 1
        self._is_free.clear()
        try:
            yield
        finally:
            self._operators -= 1
            if not self._operators:
                self._is_free.set()

    async def run(
        self, rank: Callable[[], T], operator: str | None, *, is_short: bool = False
    ) -> T:
        """Rank when it is the request's turn; on the event loop if that is short.

        Raises: Unavailable if too many anonymous requests wait already.
        """
        if operator is not None:
            return await self._run(rank, is_short=is_short)
        if self._waiting >= WAITING_MOST:
            raise Unavailable(SEARCHES_WAITING, retry_after_s=1)
        self._waiting += 1
        try:
            async with self._turn:
                await asyncio.sleep(0)  # who has come meanwhile may be an operator
                if not self._is_free.is_set():
                    with suppress(TimeoutError):
                        async with asyncio.timeout(YIELD_MAX_S):
                            await self._is_free.wait()
                return await self._run(rank, is_short=is_short)
        finally:
            self._waiting -= 1

    async def _run(self, rank: Callable[[], T], *, is_short: bool) -> T:
        if is_short:
            return rank()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, rank)
