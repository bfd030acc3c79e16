"""Bytes to and from one address over TLS; each step within a time of its own.

TLS works in memory, and `_receive` alone puts bytes there: so every byte is counted,
also handshakes, tickets and records without content, and no call works through more
than `PIECE_BYTES` before the event loop turns. Whatever way a `Wire` ends, and whenever
it is cancelled, `abort` gives the socket back at once. asyncio's own transports take a
third of a millisecond more for each connection and hold a buffer for each.
"""

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from crawler import refusals
from crawler.http.byte_budget import ByteBudget
from registry.errors import Refused

PIECE_BYTES = 32 * 1024
"""The most that is taken from the socket before the event loop turns."""
_RECORD_BYTES = 16 * 1024
_UNDER_WAY = frozenset({0, errno.EINPROGRESS, errno.EWOULDBLOCK})


class Unreached(Refused):
    """Refusal of a connection that nobody took; another address may."""


class _Step(NamedTuple):
    """Step that waits for the socket."""

    carry_out: Callable[[], Any]
    outcome: asyncio.Future[Any]


class Wire:
    """Connection that one task at a time may wait for. budget: of bytes that may arrive."""

    def __init__(self, timeout_s: float, budget: ByteBudget) -> None:
        """timeout_s: of each step."""
        self.budget = budget
        self._timeout_s = timeout_s
        self._loop = asyncio.get_running_loop()
        self._socket: socket.socket | None = None
        self._tls: ssl.SSLObject | None = None
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._unsent = b""
        self._is_over = False  # the peer sends no more
        self._is_eager = False  # the last read did not suspend
        self._descriptor = -1
        self._watched_for: Literal["", "bytes", "room"] = ""
        self._step: _Step | None = None
        self._late_at_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def connect(self, address: str, port: int) -> str:
        """Return the peer's address. address: a literal, so that nothing is looked up.

        Raises: Unreached.
        """
        try:
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            self._socket = socket.socket(family, socket.SOCK_STREAM)
            self._descriptor = self._socket.fileno()
            return await self._connect(self._socket, address, port)
        except TimeoutError as error:
            raise Unreached(refusals.TIMEOUT, "ConnectTimeout") from error
        except OSError as error:
            raise Unreached(refusals.CONNECT, str(error)[:200]) from error

    async def secure(self, context: ssl.SSLContext, name: str) -> None:
        """Carry out the handshake. Raises: Refused."""
        self._tls = context.wrap_bio(
            self._incoming, self._outgoing, server_hostname=name
        )
        try:
            await self._carry_out(self._greet)
            await self._wait(self._shake_hands, "bytes")
        except OSError as error:
            with suppress(OSError):
                self._flush()  # the alert that names the reason
            raise _refusal(error, "ConnectTimeout") from error

    async def write(self, data: bytes) -> None:
        """Raises: Refused."""
        try:
            secured = self._secured()
            while data:
                data = data[secured.write(data) :]
            await self._carry_out(self._flush)
        except OSError as error:
            raise _refusal(error, "WriteTimeout") from error

    async def read(self) -> bytes:
        """Return what arrived, a piece at most, or b"" at the end. Raises: Refused."""
        if self._is_eager:
            # A peer that is always ready must not keep the others from their turn.
            await asyncio.sleep(0)
        self._is_eager = True
        try:
            arrived: bytes = await self._carry_out(self._decrypt)
        except OSError as error:
            raise _refusal(error, "ReadTimeout") from error
        return arrived

    def read_arrived(self) -> bytes | None:
        """Return the same without waiting; None: open, and nothing arrived.

        Raises: Refused.
        """
        try:
            return self._decrypt()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        except OSError as error:
            raise _refusal(error, "ReadTimeout") from error

    def abort(self) -> None:
        opened = self._socket
        self._socket = self._tls = None
        if opened is None:
            return
        self._unwatch()
        if self._timer is not None:
            self._timer.cancel()
        if self._step is not None:
            _fail(self._step.outcome, ConnectionAbortedError())
        opened.close()

    async def _connect(self, opened: socket.socket, address: str, port: int) -> str:
        opened.setblocking(False)
        # The request follows the last bytes of the handshake at once.
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begun = opened.connect_ex((address, port))
        if begun not in _UNDER_WAY:
            raise OSError(begun, f"{address} port {port}")
        if begun:
            await self._wait(lambda: None, "room")
            if failed := opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(failed, f"{address} port {port}")
        return str(opened.getpeername()[0])

    def _greet(self) -> None:
        with suppress(ssl.SSLWantReadError):
            self._secured().do_handshake()
        self._flush()

    def _shake_hands(self) -> None:
        """Leave its last bytes to the first request.

        Raises: ssl.SSLWantReadError, ssl.SSLWantWriteError, OSError.
        """
        self._flush()  # what there was no room for
        self._receive()
        try:
            self._secured().do_handshake()
        except ssl.SSLWantReadError:
            self._flush()  # TLS 1.2, or of 1.3 where another key share is wanted
            raise

    def _decrypt(self) -> bytes:
        """Return all that is here, b"" at the end.

        Raises: ssl.SSLWantReadError, ssl.SSLWantWriteError, OSError.
        """
        secured = self._secured()
        if self._is_over:
            return b""
        if not self._incoming.pending:
            self._receive()
        parts: list[bytes] = []
        try:
            while part := secured.read(_RECORD_BYTES):
                parts.append(part)
                if not self._incoming.pending:
                    return b"".join(parts)
            self._is_over = True
        except ssl.SSLEOFError:  # without a farewell, as from many servers
            self._is_over = True
        except ssl.SSLError:
            if not parts:
                self._flush()
                raise
        return b"".join(parts)

    def _receive(self) -> None:
        try:
            piece = self._opened().recv(PIECE_BYTES)
        except BlockingIOError:
            raise ssl.SSLWantReadError from None
        self.budget.spend(len(piece))
        if piece:
            self._incoming.write(piece)
        else:
            self._incoming.write_eof()

    def _flush(self) -> None:
        while self._unsent or self._outgoing.pending:
            self._unsent = self._unsent or self._outgoing.read()
            try:
                sent = self._opened().send(self._unsent)
            except BlockingIOError:
                raise ssl.SSLWantWriteError from None
            self._unsent = self._unsent[sent:]

    def _opened(self) -> socket.socket:
        if self._socket is None:
            raise ConnectionAbortedError("the connection was given up")
        return self._socket

    def _secured(self) -> ssl.SSLObject:
        if self._tls is None:
            raise ConnectionAbortedError("the connection was given up")
        return self._tls

    async def _carry_out(self, step: Callable[[], Any]) -> Any:
        """Carry it out at once, or when TLS may go on. Raises: TimeoutError, OSError."""
        try:
            return step()
        except ssl.SSLWantReadError:
            return await self._wait(step, "bytes")
        except ssl.SSLWantWriteError:
            return await self._wait(step, "room")

    async def _wait(
        self, step: Callable[[], Any], wanted: Literal["bytes", "room"]
    ) -> Any:
        self._is_eager = False
        outcome = self._loop.create_future()
        self._step = _Step(step, outcome)
        self._watch(wanted)
        self._late_at_s = self._loop.time() + self._timeout_s
        if self._timer is None:
            self._timer = self._loop.call_at(self._late_at_s, self._look_at_time)
        try:
            return await outcome
        except asyncio.CancelledError:
            self.abort()  # what was read since then is lost
            raise
        finally:
            self._step = None

    def _look_at_time(self) -> None:
        """Use one timer for all steps: hardly any of them takes as long."""
        self._timer = None
        if self._step is None:
            return
        if self._loop.time() < self._late_at_s:
            self._timer = self._loop.call_at(self._late_at_s, self._look_at_time)
        else:
            _fail(self._step.outcome, TimeoutError())

    def _go_on(self) -> None:
        """Go on with the step: its task is woken for the whole, not for each part."""
        if self._step is None or self._step.outcome.done():
            self._unwatch()  # what comes unasked stays there until it is asked for
            return
        step, outcome = self._step
        try:
            outcome.set_result(step())
        except ssl.SSLWantReadError:
            self._watch("bytes")
        except ssl.SSLWantWriteError:
            self._watch("room")
        except Exception as error:  # noqa: BLE001 - the waiting task raises it
            outcome.set_exception(error)

    def _watch(self, wanted: Literal["bytes", "room"]) -> None:
        """Watch until something else is wanted: one response follows the other."""
        if wanted == self._watched_for:
            return
        self._unwatch()
        if wanted == "bytes":
            self._loop.add_reader(self._descriptor, self._go_on)
        else:
            self._loop.add_writer(self._descriptor, self._go_on)
        self._watched_for = wanted

    def _unwatch(self) -> None:
        if self._watched_for == "bytes":
            self._loop.remove_reader(self._descriptor)
        elif self._watched_for == "room":
            self._loop.remove_writer(self._descriptor)
        self._watched_for = ""


def _fail(outcome: asyncio.Future[Any], error: OSError) -> None:
    if not outcome.done():
        outcome.set_exception(error)


def _refusal(error: OSError, late: str) -> Refused:
    """Return the refusal for an error of the socket or of TLS. late: of a timeout."""
    if isinstance(error, TimeoutError):
        return Refused(refusals.TIMEOUT, late)
    if isinstance(error, ssl.SSLCertVerificationError):
        detail = f"the certificate is refused: {error.verify_message}"[:200]
        fix = _FIX_OF_CERTIFICATE.get(error.verify_code, "")
        return Refused(refusals.TLS, detail, fix=fix)
    kind = refusals.TLS if isinstance(error, ssl.SSLError) else refusals.CONNECT
    return Refused(kind, str(error)[:200])


# By OpenSSL's X509_V_ERR codes; any other has the repair of the problem type.
_FIX_OF_CERTIFICATE = {
    10: "Renew the certificate, and let the server load the new one.",
    18: "Serve a certificate of a public authority, not one signed by itself.",
    20: "Serve the whole chain: the certificate and its intermediate certificates.",
    62: "Serve a certificate that names this host.",
}
