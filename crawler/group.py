"""Grouping of work that several jobs do alike at about the same time.

A visit reads a few rows and writes a few more; statement by statement and transaction by
transaction these cost more than the rows. Who comes first waits a little for others, but
for no more of them than are expected. What fails together is done again one by one, so
that one job's fault stays its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class JobsUnderWay:
    """Number of jobs under way, each of which enters it: work of theirs is expected."""

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *_: object) -> None:
        self.count -= 1


@dataclass(eq=False)
class Group(Generic[Item, Result]):
    """together: a result for each, in their order. most: done in one go.

    linger_s: how long the first waits for those expected.
    """

    together: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]]
    most: int
    jobs: JobsUnderWay
    linger_s: float = 0.0
    _waiting: list[tuple[Item, asyncio.Future[Result]]] = field(default_factory=list)
    _timer: asyncio.Handle | None = None
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    async def do(self, item: Item) -> Result:
        """Raises: what doing it alone raises."""
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Result] = loop.create_future()
        self._waiting.append((item, result))
        if len(self._waiting) >= self.most:
            self._start()
        elif len(self._waiting) >= self.jobs.count:
            loop.call_soon(self._start)  # who is about to run still comes along
        elif self._timer is None:
            self._timer = loop.call_later(self.linger_s, self._start)
        return await result

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch = [item for item in self._waiting if not item[1].done()]
        self._waiting = []
        if batch:
            running = asyncio.create_task(self._carry_out(batch))
            self._running.add(running)
            running.add_done_callback(self._running.discard)

    async def _carry_out(
        self, batch: list[tuple[Item, asyncio.Future[Result]]]
    ) -> None:
        try:
            outcomes = await self.together([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 — it is told to whose it is
            if len(batch) > 1:
                await asyncio.gather(*(self._carry_out([entry]) for entry in batch))
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
        else:
            for (_, result), outcome in zip(batch, outcomes, strict=True):
                if not result.done():
                    result.set_result(outcome)
        finally:
            for _, result in batch:
                result.cancel()  # where this was cancelled; without effect else
