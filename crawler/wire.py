"""Bytes to and from one address over TLS; each step within a time of its own.

A `Wire` holds one socket and reads it when it is asked to, so nothing is buffered on this
side. Whatever way it ends, and whenever it is cancelled, `abort` gives the socket back at
once. asyncio's own transports take a third of a millisecond more for each connection and
hold a buffer for each.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from crawler import refusals
from registry.errors import ProblemType, Refused

RECORD_BYTES = 16 * 1024
"""The most that one record of TLS holds, and one read returns."""

_UNDER_WAY = frozenset({0, errno.EINPROGRESS, errno.EWOULDBLOCK})
_Done = TypeVar("_Done")
_News = asyncio.Future[None]


class Unreached(Refused):
    """Nobody took the connection; another address may."""


class Wire:
    """One at a time may wait for it."""

    def __init__(self, timeout_s: float) -> None:
        """timeout_s: of each step."""
        self._timeout_s = timeout_s
        self._plain: socket.socket | None = None
        self._secured: ssl.SSLSocket | None = None
        self._news: _News | None = None

    async def connect(self, address: str, port: int) -> str:
        """address: a literal one, so that nothing is looked up. Returns: the peer's.

        Raises: Unreached.
        """
        try:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            self._plain = socket.socket(family, socket.SOCK_STREAM)
            return await self._connect(self._plain, address, port)
        except TimeoutError as error:
            raise Unreached(refusals.TIMEOUT, "ConnectTimeout") from error
        except OSError as error:
            raise Unreached(refusals.CONNECT, str(error)[:200]) from error

    async def secure(self, tls: ssl.SSLContext, name: str) -> None:
        """The handshake. Raises: Refused."""
        if self._plain is None:
            raise RuntimeError("it is not connected")
        with _translated("ConnectTimeout"):
            self._secured = tls.wrap_socket(
                self._plain, server_hostname=name, do_handshake_on_connect=False
            )
            await self._carry_out(self._secured.do_handshake)

    async def write(self, data: bytes) -> None:
        """Raises: Refused."""
        line = self._line()
        sent = 0
        with _translated("WriteTimeout"):
            while sent < len(data):
                sent += await self._carry_out(partial(line.send, data[sent:]))

    async def read(self) -> bytes:
        """What arrived, a record at most, or b"" at the end. Raises: Refused."""
        line = self._line()
        with _translated("ReadTimeout"):
            return await self._carry_out(partial(line.recv, RECORD_BYTES))

    def read_arrived(self) -> bytes | None:
        """The same without waiting; None: open, and nothing arrived. Raises: Refused."""
        with _translated("ReadTimeout"):
            try:
                return self._line().recv(RECORD_BYTES)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                return None

    def abort(self) -> None:
        held = self._secured or self._plain
        self._plain = self._secured = None
        if held is None:
            return
        if self._news is not None:
            _leave(held.fileno())
            _tell(self._news, ConnectionAbortedError())
        held.close()

    async def _connect(self, plain: socket.socket, address: str, port: int) -> str:
        plain.setblocking(False)
        # The request follows the last bytes of the handshake at once.
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begun = plain.connect_ex((address, port))
        if begun not in _UNDER_WAY:
            raise OSError(begun, f"{address} port {port}")
        if begun:
            until_s = asyncio.get_running_loop().time() + self._timeout_s
            await self._wait(plain, until_s, is_writing=True)
            if failed := plain.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(failed, f"{address} port {port}")
        return str(plain.getpeername()[0])

    def _line(self) -> ssl.SSLSocket:
        if self._secured is None:
            raise ConnectionAbortedError("the connection was given up")
        return self._secured

    async def _carry_out(self, step: Callable[[], _Done]) -> _Done:
        """Again whenever TLS may go on. Raises: TimeoutError, OSError."""
        until_s = asyncio.get_running_loop().time() + self._timeout_s
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                await self._wait(self._line(), until_s)
            except ssl.SSLWantWriteError:
                await self._wait(self._line(), until_s, is_writing=True)

    async def _wait(
        self, held: socket.socket, until_s: float, *, is_writing: bool = False
    ) -> None:
        loop = asyncio.get_running_loop()
        self._news = news = loop.create_future()
        if is_writing:
            loop.add_writer(held, _tell, news)
        else:
            loop.add_reader(held, _tell, news)
        timer = loop.call_at(until_s, _tell, news, TimeoutError())
        try:
            await news
        finally:
            timer.cancel()
            self._news = None
            if held.fileno() >= 0:
                _leave(held.fileno())


def _tell(news: _News, error: OSError | None = None) -> None:
    if news.done():
        return
    if error is None:
        news.set_result(None)
    else:
        news.set_exception(error)


def _leave(place: int) -> None:
    """Nobody waits for this socket any more. place: its descriptor."""
    loop = asyncio.get_running_loop()
    loop.remove_reader(place)
    loop.remove_writer(place)


@contextmanager
def _translated(late: str) -> Iterator[None]:
    """Turn the errors of a socket and of TLS into refusals."""
    try:
        yield
    except TimeoutError as error:
        raise Refused(refusals.TIMEOUT, late) from error
    except OSError as error:
        raise Refused(_kind_of(error), str(error)[:200]) from error


def _kind_of(error: OSError) -> ProblemType:
    return refusals.TLS if isinstance(error, ssl.SSLError) else refusals.CONNECT
