"""Fetching the parts of a log some way ahead of their use, in a known order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

WIDTH = 6  # parts fetched ahead; one has 300 KB as a rule, and 16 MB at most

Fetch = Callable[[str], Awaitable[bytes | None]]


class Ahead:
    """paths: in the order in which they will be asked for; some may be left out."""

    def __init__(self, fetch: Fetch, paths: Iterator[str]) -> None:
        self._fetch = fetch
        self._paths = paths
        self._coming: deque[tuple[str, asyncio.Task[bytes | None]]] = deque()

    async def take(self, path: str) -> bytes | None:
        """Return the file at the path, fetched already if it was foreseen."""
        self._fill()
        if path not in [coming for coming, _ in self._coming]:
            return await self._fetch(path)
        while True:
            foreseen, task = self._coming.popleft()
            if foreseen == path:
                self._fill()
                return await task
            task.cancel()

    async def close(self) -> None:
        tasks = [task for _, task in self._coming]
        self._coming.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _fill(self) -> None:
        while len(self._coming) < WIDTH:
            path = next(self._paths, None)
            if path is None:
                return
            task = asyncio.ensure_future(self._fetch(path))
            self._coming.append((path, task))
