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
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

from crawler import refusals
from registry.errors import Refused

RECORD_BYTES = 16 * 1024
"""The most that one record of TLS holds, and one read returns."""

_UNDER_WAY = frozenset({0, errno.EINPROGRESS, errno.EWOULDBLOCK})


class Unreached(Refused):
    """Nobody took the connection; another address may."""


class _Step(NamedTuple):
    """What waits for the socket, and what came of it."""

    carry_out: Callable[[], Any]
    outcome: asyncio.Future[Any]


class Wire:
    """One at a time may wait for it."""

    def __init__(self, timeout_s: float) -> None:
        """timeout_s: of each step."""
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._plain: socket.socket | None = None
        self._secured: ssl.SSLSocket | None = None
        self._place = -1  # its descriptor, while it is watched
        self._watched_for: Literal["", "bytes", "room"] = ""
        self._step: _Step | None = None
        self._late_at_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def connect(self, address: str, port: int) -> str:
        """address: a literal one, so that nothing is looked up. Returns: the peer's.

        Raises: Unreached.
        """
        try:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            self._plain = socket.socket(family, socket.SOCK_STREAM)
            self._place = self._plain.fileno()
            return await self._connect(self._plain, address, port)
        except TimeoutError as error:
            raise Unreached(refusals.TIMEOUT, "ConnectTimeout") from error
        except OSError as error:
            raise Unreached(refusals.CONNECT, str(error)[:200]) from error

    async def secure(self, tls: ssl.SSLContext, name: str) -> None:
        """The handshake. Raises: Refused."""
        if self._plain is None:
            raise RuntimeError("it is not connected")
        try:
            self._secured = tls.wrap_socket(
                self._plain, server_hostname=name, do_handshake_on_connect=False
            )
            await self._carry_out(self._secured.do_handshake)
        except OSError as error:
            raise _refusal(error, "ConnectTimeout") from error

    async def write(self, data: bytes) -> None:
        """Raises: Refused."""
        try:
            line = self._line()
            while data:
                data = data[await self._carry_out(partial(line.send, data)) :]
        except OSError as error:
            raise _refusal(error, "WriteTimeout") from error

    async def read(self) -> bytes:
        """What arrived, a record at most, or b"" at the end. Raises: Refused."""
        try:
            recv = partial(self._line().recv, RECORD_BYTES)
            arrived: bytes = await self._carry_out(recv)
        except OSError as error:
            raise _refusal(error, "ReadTimeout") from error
        return arrived

    def read_arrived(self) -> bytes | None:
        """The same without waiting; None: open, and nothing arrived. Raises: Refused."""
        try:
            return self._line().recv(RECORD_BYTES)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except OSError as error:
            raise _refusal(error, "ReadTimeout") from error

    def abort(self) -> None:
        held = self._secured or self._plain
        self._plain = self._secured = None
        if held is None:
            return
        self._leave()
        if self._timer is not None:
            self._timer.cancel()
        if self._step is not None:
            _fail(self._step.outcome, ConnectionAbortedError())
        held.close()

    async def _connect(self, plain: socket.socket, address: str, port: int) -> str:
        plain.setblocking(False)
        # The request follows the last bytes of the handshake at once.
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begun = plain.connect_ex((address, port))
        if begun not in _UNDER_WAY:
            raise OSError(begun, f"{address} port {port}")
        if begun:
            await self._wait(lambda: None, "room")
            if failed := plain.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(failed, f"{address} port {port}")
        return str(plain.getpeername()[0])

    def _line(self) -> ssl.SSLSocket:
        if self._secured is None:
            raise ConnectionAbortedError("the connection was given up")
        return self._secured

    async def _carry_out(self, step: Callable[[], Any]) -> Any:
        """At once, or when TLS may go on. Raises: TimeoutError, OSError."""
        try:
            return step()
        except ssl.SSLWantReadError:
            return await self._wait(step, "bytes")
        except ssl.SSLWantWriteError:
            return await self._wait(step, "room")

    async def _wait(
        self, step: Callable[[], Any], wanted: Literal["bytes", "room"]
    ) -> Any:
        outcome = self._loop.create_future()
        self._step = _Step(step, outcome)
        self._watch(wanted)
        self._late_at_s = self._loop.time() + self._timeout_s
        if self._timer is None:
            self._timer = self._loop.call_at(self._late_at_s, self._look_at_time)
        try:
            return await outcome
        except asyncio.CancelledError:
            self.abort()  # what was read since then nobody has
            raise
        finally:
            self._step = None

    def _look_at_time(self) -> None:
        """One timer for all steps: hardly any of them takes as long."""
        self._timer = None
        if self._step is None:
            return
        if self._loop.time() < self._late_at_s:
            self._timer = self._loop.call_at(self._late_at_s, self._look_at_time)
        else:
            _fail(self._step.outcome, TimeoutError())

    def _go_on(self) -> None:
        """The socket is ready. Who waits is woken for the whole, not for each part."""
        if self._step is None or self._step.outcome.done():
            self._leave()  # what comes unasked stays there until it is asked for
            return
        step, outcome = self._step
        try:
            outcome.set_result(step())
        except ssl.SSLWantReadError:
            self._watch("bytes")
        except ssl.SSLWantWriteError:
            self._watch("room")
        except Exception as error:  # noqa: BLE001 - it is told to who waits
            outcome.set_exception(error)

    def _watch(self, wanted: Literal["bytes", "room"]) -> None:
        """Until something else is wanted: one answer follows the other."""
        if wanted == self._watched_for:
            return
        self._leave()
        if wanted == "bytes":
            self._loop.add_reader(self._place, self._go_on)
        else:
            self._loop.add_writer(self._place, self._go_on)
        self._watched_for = wanted

    def _leave(self) -> None:
        if self._watched_for == "bytes":
            self._loop.remove_reader(self._place)
        elif self._watched_for == "room":
            self._loop.remove_writer(self._place)
        self._watched_for = ""


def _fail(outcome: asyncio.Future[Any], error: OSError) -> None:
    if not outcome.done():
        outcome.set_exception(error)


def _refusal(error: OSError, late: str) -> Refused:
    """Of an error of the socket or of TLS. late: what to say of a timeout."""
    if isinstance(error, TimeoutError):
        return Refused(refusals.TIMEOUT, late)
    kind = refusals.TLS if isinstance(error, ssl.SSLError) else refusals.CONNECT
    return Refused(kind, str(error)[:200])
