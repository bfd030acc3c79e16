"""Running a process's one piece of work until it is told to stop."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any


def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """SIGTERM and SIGINT cancel the work, which cleans up and ends."""
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
