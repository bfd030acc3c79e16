"""The time that a fetch takes, without what we made it wait."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stopwatch:
    """Stopwatch of one fetch; may be read after it."""

    def __init__(self) -> None:
        self._started_s: float | None = None
        self._ended_s: float | None = None
        self._waited_s = 0.0
        self._deadline: asyncio.Timeout | None = None

    @property
    def elapsed_ms(self) -> int:
        """Return the time so far, or in all once ended; 0 if nothing was fetched."""
        if self._started_s is None:
            return 0
        until_s = time.monotonic() if self._ended_s is None else self._ended_s
        return round((until_s - self._started_s - self._waited_s) * 1000)

    @property
    def has_expired(self) -> bool:
        """Return whether it was the deadline that cancelled what is timed."""
        return self._deadline is not None and self._deadline.expired()

    def running(self, deadline_s: float) -> "_Running":
        """Time the block. Raises: TimeoutError."""
        return _Running(self, deadline_s)

    async def begin(self, deadline_s: float) -> None:
        self._started_s = time.monotonic()
        self._deadline = await asyncio.timeout(deadline_s).__aenter__()

    async def end(self, *raised: Any) -> None:
        """raised: as of `__aexit__`."""
        self._ended_s = time.monotonic()
        if self._deadline is not None:
            await self._deadline.__aexit__(*raised)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the time and the deadline while we wait on our own account."""
        if self._deadline is None:
            raise RuntimeError("the watch is not running")
        if self._deadline.expired():  # and the cancellation was lost on its way
            raise asyncio.CancelledError
        loop = asyncio.get_running_loop()
        left_s = (self._deadline.when() or loop.time()) - loop.time()
        began_s = time.monotonic()
        self._deadline.reschedule(None)
        try:
            yield
        finally:
            self._waited_s += time.monotonic() - began_s
            self._deadline.reschedule(loop.time() + left_s)


class _Running:
    """A class, for a generator in its place takes twice as long for each fetch."""

    __slots__ = ("_deadline_s", "_watch")

    def __init__(self, watch: Stopwatch, deadline_s: float) -> None:
        self._watch = watch
        self._deadline_s = deadline_s

    async def __aenter__(self) -> None:
        await self._watch.begin(self._deadline_s)

    async def __aexit__(self, *raised: object) -> None:
        await self._watch.end(*raised)
