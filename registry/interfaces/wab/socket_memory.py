"""A bound on the memory that unfinished WebSocket messages hold.

The server collects a message of up to 64 MiB before we see a byte of it, and has no
setting for that: sixteen connections of one network could hold a gigabyte, a thousand
sixty-four. So the process watches what memory it has of its own, without mapped files,
and ends all conversations when that has grown too much; with a connection goes what it
held. Honest agents are told to come back.
"""

import asyncio
import resource
import time
from collections.abc import Callable
from pathlib import Path

MOST_GROWTH = 1 << 30
POLL_S = 1.0

_STATM = Path("/proc/self/statm")


def own_bytes() -> int:
    """Return the resident memory of this process that is shared with no other."""
    _, resident, shared, *_ = map(int, _STATM.read_text().split())
    return (resident - shared) * resource.getpagesize()


class SocketMemory:
    """Watch of one process, from its start on. used: bytes, now."""

    def __init__(
        self, most_growth: int = MOST_GROWTH, used: Callable[[], int] = own_bytes
    ) -> None:
        self._used = used
        self._most = used() + most_growth
        self._looked_at = 0.0
        self._is_short = False

    async def becomes_short(self, poll_s: float = POLL_S) -> None:
        """Wait until it does. However many wait, it is looked at once in a while."""
        while not self._look(poll_s):
            await asyncio.sleep(poll_s)

    def _look(self, poll_s: float) -> bool:
        now = time.monotonic()
        if now - self._looked_at >= poll_s:
            self._looked_at = now
            self._is_short = self._used() > self._most
        return self._is_short
