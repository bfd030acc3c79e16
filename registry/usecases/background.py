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

logger = structlog.get_logger()


@contextmanager
def outlasting(interrupted: str) -> Iterator[None]:
    """Log what the database breaks off as the event, since it is tried again later."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        logger.warning(interrupted, kind=type(error).__name__)


async def follow(
    catch_up: Callable[[], Awaitable[None]], *, pause_s: float, lost: str
) -> None:
    """Run `catch_up` until cancelled. lost: the event that is logged while the database is away."""
    while True:
        try:
            await catch_up()
            await asyncio.sleep(pause_s)
        except (DatabaseError, OSError) as error:
            logger.warning(lost, kind=type(error).__name__)
            await asyncio.sleep(DATABASE_PAUSE_S)
