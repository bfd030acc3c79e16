"""Who reads nothing keeps his connection no longer than the web process allows."""

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil

from registry.web.own_sockets import UNREAD_MS
from tests.api.running import RunningRegistry
from tests.waiting import awaited

PIDFD_GETFD = 438  # asm-generic/unistd.h


def sockets_of(pid: int) -> Iterator[socket.socket]:
    """Yield the sockets of another process, each for the time that it is looked at."""
    call = ctypes.CDLL(None).syscall
    of_process = os.pidfd_open(pid)
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        if (taken := call(PIDFD_GETFD, of_process, int(entry.name), 0)) >= 0:
            try:
                held = socket.socket(fileno=taken)
            except OSError:
                os.close(taken)
            else:
                with held:
                    yield held
    os.close(of_process)


def test_each_connection_has_a_time_in_which_something_must_be_read(
    registry: RunningRegistry,
) -> None:
    """`tests/unit/test_process.py` has what the system makes of it."""
    [worker] = psutil.Process(registry.web_pid).children()
    address = (registry.settings.host, registry.settings.port)

    def limits() -> list[int]:
        with socket.create_connection(address) as client:
            ours, limits = client.getsockname(), []
            for held in sockets_of(worker.pid):
                with contextlib.suppress(OSError):  # of the listener, of pipes
                    if held.getpeername() == ours:
                        option = (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
                        limits.append(held.getsockopt(*option))
            return limits

    awaited("it to have one", lambda: limits() == [UNREAD_MS])
