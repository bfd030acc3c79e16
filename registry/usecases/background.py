"""Work beside what must not wait for it: once in a thread, or again and again."""

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

import structlog

from registry.db.engine.engines import DatabaseError
from registry.errors import root_cause, traceback_summary

NICENESS = 15
Result = TypeVar("Result")


def in_background(
    work: Callable[[], Result], niceness: int = NICENESS
) -> "asyncio.Future[Result]":
    """Begin the work in a thread of its own, which yields the processor to all others.

    Nobody waits for it when the process ends. niceness: at least; where the machine is
    full, a thread that yields to all waits for its turn while it may hold the
    interpreter, and all other threads wait too.
    """
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            _yield_to_others(niceness)
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 — it is raised where it is awaited
            done.set_exception(error)

    threading.Thread(target=run, name="background", daemon=True).start()
    return asyncio.wrap_future(done)


def _yield_to_others(niceness: int) -> None:
    if sys.platform == "linux":  # where threads have priorities of their own
        thread = threading.get_native_id()
        # An ordinary user may not make a thread less nice than its process is.
        least = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, max(niceness, least))


DATABASE_PAUSE_S = 1.0
LONGEST_PAUSE_S, SLOWER = 0.4, 1.2

logger = structlog.get_logger()


@contextmanager
def outlasting(interrupted: str) -> Iterator[None]:
    """Log what the database breaks off as the event, since it is tried again later."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        logger.warning(interrupted, kind=root_cause(error))


async def unfailing(run: Callable[[], Awaitable[object]]) -> None:
    """Run to the end; again after each failure that nobody expected, which is logged.

    A task that ended in silence would leave its process at work without it.
    """
    while True:
        try:
            await run()
        except Exception as error:  # noqa: BLE001 — the one place where its bug ends
            logger.error("task_failed", **traceback_summary(error))  # noqa: TRY400 — messages may hold queries
        else:
            return
        await asyncio.sleep(DATABASE_PAUSE_S)


class Cadence:
    """Pauses between looks for work: the shortest after some, and longer after each in vain.

    The first work after a quiet time waits for longest_s at most; a pause that is longer
    than that stays as it is.
    """

    def __init__(self, shortest_s: float, longest_s: float = LONGEST_PAUSE_S) -> None:
        self._shortest_s = self._pause_s = shortest_s
        self._longest_s = max(shortest_s, longest_s)

    def after(self, work: object) -> float:
        """Return the seconds until the next look. work: what came of the last one."""
        longer_s = min(SLOWER * self._pause_s, self._longest_s)
        self._pause_s = self._shortest_s if work else longer_s
        return self._pause_s


async def follow(
    look: Callable[[], Awaitable[object]], *, pause_s: float, lost: str
) -> None:
    """Look until cancelled. pause_s: the shortest. lost: what is logged without the database.

    It is logged as the outage begins, and with the number of failures when it is over.
    """
    cadence, failures = Cadence(pause_s), 0
    while True:
        try:
            wait_s = cadence.after(await look())
        except (DatabaseError, OSError) as error:
            if not failures:
                logger.warning(lost, kind=root_cause(error))
            failures, wait_s = failures + 1, DATABASE_PAUSE_S
        else:
            if failures:
                logger.info("database_back", after=lost, failures=failures)
            failures = 0
        await asyncio.sleep(wait_s)
