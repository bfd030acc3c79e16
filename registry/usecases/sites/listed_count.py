"""Number of listed sites, which the front page shows to everybody."""

import asyncio
import time
from collections.abc import Callable

from registry.db.engine.engines import Engine
from registry.db.sites.listed_sites import count_listed

LIFE_S = 60.0


class ListedCount:
    """A number that is counted once a minute, however many ask for it."""

    def __init__(
        self, engine: Engine, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """clock: seconds, monotonic."""
        self._engine = engine
        self._clock = clock
        self._counting = asyncio.Lock()
        self._count = 0
        self._ends_at = float("-inf")

    async def current(self) -> int:
        """Return the number of sites; it may be a minute old."""
        async with self._counting:
            if self._clock() >= self._ends_at:
                async with self._engine.connect() as connection:
                    self._count = await count_listed(connection)
                self._ends_at = self._clock() + LIFE_S
            return self._count
