"""Running a process's one piece of work until it is told to stop."""

import asyncio
import gc
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


def calm_collector() -> None:
    """Look for cycles of garbage less often; what is there now is looked at no more.

    Answers and reports make millions of small objects that go without it: a report of
    300,000 rankings takes a quarter more time at Python's own thresholds.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """SIGTERM and SIGINT cancel the work, which cleans up and ends."""
    calm_collector()
    asyncio.run(_cancel_on_signal(work))


def stop_requested() -> asyncio.Event:
    """Set by SIGTERM or SIGINT."""
    stop = asyncio.Event()
    _on_signal(stop.set)
    return stop


async def _cancel_on_signal(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    _on_signal(task.cancel)
    with suppress(asyncio.CancelledError):
        await task


def _on_signal(react: Callable[[], object]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, react)
