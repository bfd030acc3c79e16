"""The sockets of this process, looked at and set; none is opened here."""

import asyncio
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

UNREAD_MS = 120_000
LISTEN_PAUSE_S = 0.2
_RECEIVED_AT, _TCP_INFO_BYTES = 128, 136  # tcpi_bytes_received of linux/tcp.h


def own_sockets() -> Iterator[socket.socket]:
    """Yield the open sockets of this process, each for the time that it is looked at."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        with suppress(OSError):  # no socket, or closed meanwhile
            held = socket.socket(fileno=int(entry.name))
            try:
                yield held
            finally:
                held.detach()


def received_bytes() -> dict[tuple[str, ...], int]:
    """Return how much came from each host and port that is connected to this process."""
    received: dict[tuple[str, ...], int] = {}
    for held in own_sockets():
        with suppress(OSError, ValueError):  # not connected, or not by TCP
            host, port, *_ = held.getpeername()
            info = held.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
            received[host, str(port)] = int.from_bytes(
                info[_RECEIVED_AT:], sys.byteorder
            )
    return received


async def end_unread_connections(after_ms: int = UNREAD_MS) -> None:
    """Set, once this process listens, that who reads nothing for so long is cut off.

    The web server waits without end. Connections inherit the setting of their listener;
    the system counts while the peer's window is closed (Linux 5.11 and later).
    """
    before = limit_unread(after_ms)
    while limit_unread(after_ms) == before:
        await asyncio.sleep(LISTEN_PAUSE_S)


def limit_unread(after_ms: int) -> int:
    """Return the number of listeners, which have this limit from now on."""
    listeners = 0
    for held in own_sockets():
        with suppress(OSError):  # closed meanwhile, by a thread of the web server
            if held.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                held.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, after_ms)
                listeners += 1
    return listeners
