"""HTTP/1.1 requests, each over a connection to an address that was vetted just before.

`answer` reads what comes; it knows nothing of sockets. Where `keeping_connections` is
around them, the requests to one host follow each other on a connection: a visit asks
for robots.txt and for documents, and the handshake costs more than all of them. Nothing
outlives the visit, so there is no pool that a cancelled fetch could drain.
"""

import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache

import certifi

from crawler import refusals
from crawler.http.answer import Answer, Fields, Incoming
from crawler.http.guard import Target
from crawler.http.resolve import Resolver
from crawler.http.wire import Unreached, Wire
from crawler.restraint.politeness import Turn
from registry.errors import Refused

_DIAL_AT_MOST = 3
_UNREAD_BYTES = 128 * 1024  # more costs more than a handshake

_LINE = re.compile(r"[\t\x20-\x7e]+")

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
    headers: Fields
    read: Callable[[], Awaitable[bytes]]


class _Line:
    """A connection for requests that follow each other."""

    def __init__(self, wire: Wire, address: str) -> None:
        self.address = address
        self._wire = wire
        self._incoming = Incoming()
        self._answer = Answer(self._incoming)
        self._is_used = False

    async def ask(
        self, target: Target, headers: Mapping[str, str], content: bytes | None
    ) -> Response:
        """Raises: Refused, of which StaleConnection says that nothing was answered."""
        self._answer = Answer(self._incoming)
        self._incoming.add(await self._send(_spell(target, headers, content)))
        while (head := self._answer.read_head()) is None:
            self._incoming.add(await self._wire.read())
        return Response(head.status, head.fields, self._read_body)

    def end_answer(self) -> bool:
        """Whether it may be asked again: the whole answer has come by now, and no more."""
        with suppress(Refused):
            self._take_arrived()
        self._is_used = True
        return self._answer.may_be_followed

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
        left = _UNREAD_BYTES
        while left > 0 and (part := self._answer.read_body()) != b"":
            if part is None:
                arrived = self._wire.read_arrived()
                if arrived is None:
                    return
                left -= len(arrived)
                self._incoming.add(arrived)

    async def _send(self, request: bytes) -> bytes:
        """The first bytes of the answer."""
        try:
            await self._wire.write(request)
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
        while (part := self._answer.read_body()) is None:
            self._incoming.add(await self._wire.read())
        return part


def _spell(target: Target, headers: Mapping[str, str], content: bytes | None) -> bytes:
    authority = target.url.split("/", 3)[2]
    method = "GET" if content is None else "POST"
    lines = [f"{method} {target.path} HTTP/1.1", f"Host: {authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if content is not None:
        lines.append(f"Content-Length: {len(content)}")
    said = "".join(lines)
    is_plain = said.isascii() and said.isprintable()
    if not is_plain and not all(map(_LINE.fullmatch, lines)):
        raise Refused(refusals.PROTOCOL, "a header field of ours is none")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (content or b"")


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


@dataclass(frozen=True, slots=True)
class Dialling:
    """How hosts are reached. timeout_s: of each step."""

    resolver: Resolver
    tls: ssl.SSLContext
    timeout_s: float


@asynccontextmanager
async def ask(
    target: Target,
    headers: Mapping[str, str],
    *,
    content: bytes | None = None,
    dialling: Dialling,
    turn: Turn,
) -> AsyncIterator[Response]:
    """The answer, its body still to be read. content: posted.

    Raises: Refused; StaleConnection where the same request is to be made once more.
    """
    kept = _kept.get()
    place = (target.host.name, target.port)
    line = kept.take(place) if kept else None
    try:
        if line is None:
            line = await _dial(target, dialling, turn)
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


async def _dial(target: Target, dialling: Dialling, turn: Turn) -> _Line:
    """To the first of the vetted addresses that takes it. Raises: Refused."""
    name, resolver = target.host.name, dialling.resolver
    failure: Refused = Refused(refusals.CONNECT, f"no address of {name}")
    untried: Refused | None = None
    for endpoint in (await resolver.endpoints(name, target.port))[:_DIAL_AT_MOST]:
        try:
            await turn.dial(endpoint.address)
        except Refused as refused:
            untried = refused
            continue
        wire = Wire(dialling.timeout_s)
        try:
            # Whom it reached is looked at again before a byte is sent.
            resolver.vet(await wire.connect(endpoint.address, endpoint.port))
            await wire.secure(dialling.tls, name)
        except Unreached as unreached:
            wire.abort()
            failure = unreached
        except BaseException:
            wire.abort()
            raise
        else:
            return _Line(wire, endpoint.address)
    raise untried or failure
