"""Running a process's one piece of work until it is told to stop."""

import asyncio
import ctypes
import gc
import signal
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_LARGEST_KEPT = 32 << 20  # the most that glibc takes for the latter


def keep_freed_memory(most: int) -> None:
    """What is given back stays at hand for what is asked for next; most: so many bytes.

    Else the system clears the pages of one large array after the other. Only glibc can
    be told; with another library nothing changes.
    """
    with suppress(AttributeError):
        tell = ctypes.CDLL(None).mallopt
        tell(_M_MMAP_THRESHOLD, _LARGEST_KEPT)
        tell(_M_TRIM_THRESHOLD, most)


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
