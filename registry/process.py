"""Running of a process's work until a signal stops it."""

import asyncio
import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from registry.garbage_collection import collect_less_often

HEARTBEATS = "HEARTBEATS"
"""Variable with the path of a named pipe, into which supervised processes write their ids."""
HEARTBEAT_S = 1.0
EXIT_DAMAGED = 65  # EX_DATAERR of sysexits.h: what is stored is not what was written

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h
_MAX_MMAP_THRESHOLD = 32 << 20  # the most that glibc accepts


def keep_freed_memory(max_bytes: int) -> None:
    """Set malloc to retain up to max_bytes of freed memory.

    Otherwise the system clears the pages of each new large array. Works with glibc only;
    other C libraries ignore it.
    """
    with suppress(AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _MAX_MMAP_THRESHOLD)
        mallopt(_M_TRIM_THRESHOLD, max_bytes)


def raise_file_limit(files: int) -> None:
    """Raise the limit of open files to this number, or to the system's maximum."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = files if hard == resource.RLIM_INFINITY else min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def ensure_standard_streams() -> None:
    """Open the null device where standard input, output or error are closed.

    Else the next file or socket gets their number, and the log is written into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def release_standard_streams() -> None:
    """Give up output that nobody takes: at its exit Python would end with code 120."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def is_supervised() -> bool:
    """Return whether `serve` runs this process and serves its metrics with those of all."""
    return HEARTBEATS in os.environ


def run_until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run the work; SIGTERM, SIGINT and SIGHUP cancel it, so that it cleans up and ends."""
    collect_less_often()
    asyncio.run(_cancel_on_signal(work))


def stop_requested() -> asyncio.Event:
    """Return an event that SIGTERM, SIGINT or SIGHUP sets."""
    stop = asyncio.Event()
    _on_signal(stop.set)
    return stop


async def _cancel_on_signal(work: Coroutine[Any, Any, None]) -> None:
    task = asyncio.ensure_future(work)
    _on_signal(task.cancel)
    beating = asyncio.create_task(beat())
    try:
        with suppress(asyncio.CancelledError):
            await task
    finally:
        beating.cancel()


async def beat() -> None:
    """Show the supervisor, if there is one, that the event loop goes round."""
    if not is_supervised():
        return
    with suppress(OSError):  # no supervisor any more
        pipe = os.open(os.environ[HEARTBEATS], os.O_WRONLY | os.O_NONBLOCK)
        while True:
            with suppress(BlockingIOError):  # a full pipe shows as much
                os.write(pipe, b"%d\n" % os.getpid())
            await asyncio.sleep(HEARTBEAT_S)


def _on_signal(react: Callable[[], object]) -> None:
    # nohup ignores the end of a terminal, and else that would leave children behind.
    hung_up = [signal.SIGHUP] * (signal.getsignal(signal.SIGHUP) != signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGINT, *hung_up):
        asyncio.get_running_loop().add_signal_handler(number, react)
