"""Bytes to and from one address over TLS; each step within a time of its own.

A `Wire` holds one socket. Whatever way it ends, and whenever it is cancelled, `abort`
gives the socket back at once.
"""

import asyncio
import ssl
from asyncio import sslproto
from collections.abc import Iterator
from contextlib import contextmanager

from typing_extensions import override

from crawler import refusals
from registry.errors import ProblemType, Refused

HIGH_WATER_BYTES = 128 * 1024
"""No more is read from the socket before this was asked for."""


# For each TLS connection asyncio holds a buffer of this size from its first byte to its
# last. Its own 256 KiB are a hundred megabytes for the hundreds that wait for slow hosts;
# a record of TLS has 16 KiB at most.
sslproto.SSLProtocol.max_size = 32 * 1024


class Unreached(Refused):
    """Nobody took the connection; another address may."""


class Wire(asyncio.Protocol):
    """What arrives waits here until it is read; one reader at a time."""

    def __init__(self, timeout_s: float) -> None:
        """timeout_s: of each step."""
        self._timeout_s = timeout_s
        self._transport: asyncio.Transport | None = None
        self._arrived = bytearray()
        self._has_ended = False
        self._error: Exception | None = None
        self._news: asyncio.Future[None] | None = None

    async def connect(self, address: str, port: int) -> str:
        """address: a literal one, so that nothing is looked up. Returns: the peer's.

        Raises: Unreached.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout_s):
                self._transport, _ = await loop.create_connection(
                    asyncio.Protocol, address, port
                )
        except TimeoutError as error:
            raise Unreached(refusals.TIMEOUT, "ConnectTimeout") from error
        except OSError as error:
            raise Unreached(refusals.CONNECT, str(error)[:200]) from error
        return str(self._transport.get_extra_info("peername")[0])

    async def secure(self, tls: ssl.SSLContext, name: str) -> None:
        """The handshake. Bytes that came before it are lost. Raises: Refused."""
        plain = self._transport
        if plain is None:
            raise RuntimeError("it is not connected")
        loop = asyncio.get_running_loop()
        with _translated():
            async with asyncio.timeout(self._timeout_s):
                secured = await loop.start_tls(plain, self, tls, server_hostname=name)
        if secured is None:
            raise Refused(refusals.CONNECT, "the connection was closed")
        self._transport = secured

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    async def read(self) -> bytes:
        """What arrived, or b"" at the end. Raises: Refused."""
        if not self._arrived and not self._has_ended:
            await self._wait()
        if not self._arrived and self._error is not None:
            with _translated():
                raise self._error
        return self.read_arrived()

    def read_arrived(self) -> bytes:
        """Without waiting; b"" also where nothing arrived."""
        arrived = bytes(self._arrived)
        self._arrived.clear()
        if len(arrived) > HIGH_WATER_BYTES and self._transport:
            self._transport.resume_reading()
        return arrived

    @property
    def is_quiet(self) -> bool:
        """Open, and nothing came that nobody asked for."""
        return not (self._arrived or self._has_ended)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    async def _wait(self) -> None:
        self._news = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._news
        except TimeoutError as error:
            raise Refused(refusals.TIMEOUT, "ReadTimeout") from error
        finally:
            self._news = None

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    @override
    def data_received(self, data: bytes) -> None:
        self._arrived += data
        if len(self._arrived) > HIGH_WATER_BYTES and self._transport:
            self._transport.pause_reading()
        self._tell()

    @override
    def eof_received(self) -> None:
        self._has_ended = True
        self._tell()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._has_ended = True
        self._error = self._error or exc
        self._tell()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the errors of a socket and of TLS into refusals."""
    try:
        yield
    except TimeoutError as error:
        raise Refused(refusals.TIMEOUT, "ConnectTimeout") from error
    except OSError as error:
        raise Refused(_kind_of(error), str(error)[:200]) from error


def _kind_of(error: OSError) -> ProblemType:
    return refusals.TLS if isinstance(error, ssl.SSLError) else refusals.CONNECT
