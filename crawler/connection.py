"""HTTP/1.1 requests, each over a connection to an address that was vetted just before.

h11 reads what comes; it knows nothing of sockets. Where `keeping_connections` is around
them, the requests to one host follow each other on a connection: a visit asks for
robots.txt and for documents, and the handshake costs more than all of them. Nothing
outlives the visit, so there is no pool that a cancelled fetch could drain.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

import certifi
import h11

from crawler import refusals
from crawler.guard import Target
from crawler.politeness import Turn
from crawler.resolve import Resolver
from crawler.wire import Unreached, Wire
from registry.errors import Refused

MAX_HEAD_BYTES = 100 * 1024
_DIAL_AT_MOST = 3
_UNREAD_BYTES = 128 * 1024  # more costs more than a handshake

Place = tuple[str, int]


@cache
def make_tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """One for the whole process: it takes 25 ms.

    ca_file: PEM of one more authority to trust.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


class StaleConnection(Refused):
    """A kept connection was closed before any answer came: another try is no second."""


@dataclass(frozen=True, slots=True)
class Response:
    """headers: names in lower case. read: the body as it comes, b"" at its end."""

    status: int
    headers: list[tuple[bytes, bytes]]
    read: Callable[[], Awaitable[bytes]]


class _Line:
    """A connection for requests that follow each other."""

    def __init__(self, wire: Wire, address: str) -> None:
        self.address = address
        self._wire = wire
        self._http = h11.Connection(
            h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES
        )
        self._is_used = False

    async def ask(
        self, target: Target, headers: Mapping[str, str], content: bytes | None
    ) -> Response:
        """Raises: Refused, of which StaleConnection says that nothing was answered."""
        with _translated():
            self._http.receive_data(await self._send(target, headers, content))
            while not isinstance(event := await self._next_event(), h11.Response):
                pass  # informational, as many as the deadline has time for
        return Response(event.status_code, list(event.headers), self._read_body)

    def end_answer(self) -> bool:
        """Whether it may be asked again: the whole answer has come by now, and no more."""
        http = self._http
        with suppress(h11.ProtocolError, Refused):
            self._take_arrived()
        if not (http.our_state is http.their_state is h11.DONE):
            return False
        if http.trailing_data[0] or not self.is_open:
            return False
        http.start_next_cycle()
        self._is_used = True
        return True

    @property
    def is_open(self) -> bool:
        """And nothing came that nobody asked for: that would be lost here."""
        with suppress(Refused):
            return self._wire.read_arrived() is None
        return False

    def close(self) -> None:
        self._wire.abort()

    def _take_arrived(self) -> None:
        """The rest of the answer, as far as it is here and not long."""
        http, left = self._http, _UNREAD_BYTES
        while http.their_state is h11.SEND_BODY and left > 0:
            if http.next_event() is h11.NEED_DATA:
                arrived = self._wire.read_arrived()
                if arrived is None:
                    return
                left -= len(arrived)
                http.receive_data(arrived)

    async def _send(
        self, target: Target, headers: Mapping[str, str], content: bytes | None
    ) -> bytes:
        """The first bytes of the answer."""
        authority = target.url.split("/", 3)[2]
        fields = [("Host", authority), *headers.items()]
        method = "GET"
        if content is not None:
            method = "POST"
            fields.append(("Content-Length", str(len(content))))
        request = h11.Request(method=method, target=target.path, headers=fields)
        spelled = self._http.send(request) or b""
        if content:
            spelled += self._http.send(h11.Data(data=content)) or b""
        self._http.send(h11.EndOfMessage())
        try:
            await self._wire.write(spelled)
            data = await self._wire.read()
        except Refused as refused:
            if self._is_used and refused.code != refusals.TIMEOUT.code:
                raise StaleConnection(refusals.PROTOCOL) from refused
            raise
        if not data:
            kind = StaleConnection if self._is_used else Refused
            raise kind(refusals.PROTOCOL, "it was closed without an answer")
        return data

    async def _read_body(self) -> bytes:
        with _translated():
            while isinstance(event := await self._next_event(), h11.Data):
                if event.data:
                    return bytes(event.data)
        return b""

    async def _next_event(self) -> h11.Event:
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._wire.read())
            elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                raise Refused(refusals.PROTOCOL, "it does not answer in HTTP/1.1")
            elif isinstance(event, h11.Event):
                return event


class _Kept:
    """Connections at rest, until the end of a visit."""

    def __init__(self) -> None:
        self._lines: dict[Place, list[_Line]] = {}
        self._is_over = False

    def take(self, place: Place) -> _Line | None:
        lines = self._lines.get(place, [])
        while lines:
            line = lines.pop()
            if line.is_open:
                return line
            line.close()
        return None

    def keep(self, place: Place, line: _Line) -> None:
        if self._is_over:
            line.close()
        else:
            self._lines.setdefault(place, []).append(line)

    def close(self) -> None:
        self._is_over = True
        for lines in self._lines.values():
            for line in lines:
                line.close()


_kept: ContextVar[_Kept | None] = ContextVar("kept_connections", default=None)


@contextmanager
def keeping_connections() -> Iterator[None]:
    """Around a visit: who is asked again is asked on the same connection."""
    kept = _Kept()
    before = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(before)
        kept.close()


@asynccontextmanager
async def ask(
    target: Target,
    headers: Mapping[str, str],
    *,
    content: bytes | None = None,
    resolver: Resolver,
    turn: Turn,
    tls: ssl.SSLContext,
    timeout_s: float,
) -> AsyncIterator[Response]:
    """The answer, its body still to be read. content: posted. timeout_s: of each step.

    Raises: Refused; StaleConnection where the same request is to be made once more.
    """
    kept = _kept.get()
    place = (target.host.name, target.port)
    line = kept.take(place) if kept else None
    try:
        if line is None:
            line = await _dial(target, resolver, turn, tls, timeout_s)
        else:
            await turn.dial(line.address)
        closing = {} if kept else {"Connection": "close"}
        yield await line.ask(target, {**closing, **headers}, content)
    finally:
        if line is not None:
            if kept and line.end_answer():
                kept.keep(place, line)
            else:
                line.close()


async def _dial(
    target: Target,
    resolver: Resolver,
    turn: Turn,
    tls: ssl.SSLContext,
    timeout_s: float,
) -> _Line:
    """To the first of the vetted addresses that takes it. Raises: Refused."""
    name = target.host.name
    failure: Refused = Refused(refusals.CONNECT, f"no address of {name}")
    untried: Refused | None = None
    for endpoint in (await resolver.endpoints(name, target.port))[:_DIAL_AT_MOST]:
        try:
            await turn.dial(endpoint.address)
        except Refused as refused:
            untried = refused
            continue
        wire = Wire(timeout_s)
        try:
            # Whom it reached is looked at again before a byte is sent.
            resolver.vet(await wire.connect(endpoint.address, endpoint.port))
            await wire.secure(tls, name)
        except Unreached as unreached:
            wire.abort()
            failure = unreached
        except BaseException:
            wire.abort()
            raise
        else:
            return _Line(wire, endpoint.address)
    raise untried or failure


@contextmanager
def _translated() -> Iterator[None]:
    """Turn the errors of h11 into refusals."""
    try:
        yield
    except h11.ProtocolError as error:
        raise Refused(refusals.PROTOCOL, str(error)[:200]) from error
