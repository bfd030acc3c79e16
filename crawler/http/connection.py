"""HTTP/1.1 requests, each over a connection to an address that was vetted just before.

Within `reusing_connections` the requests to one host follow each other on a connection:
a visit asks for robots.txt and for documents, and the handshake costs more than all of
them. Nothing outlives the visit, so there is no pool that a cancelled fetch could drain.
"""

import re
import ssl
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import certifi

from crawler import refusals
from crawler.http.byte_budget import ByteBudget
from crawler.http.guard import Target
from crawler.http.resolve import Resolver
from crawler.http.response_reader import Fields, ResponseReader
from crawler.http.wire import Unreached, Wire
from crawler.restraint.politeness import Turn
from registry.errors import Refused

_DIAL_AT_MOST = 3
_DRAINED_PIECES = 4  # more costs more than a handshake
_MAX_HANDSHAKE_BYTES = 128 * 1024
_MAX_OVERHEAD_BYTES = 128 * 1024  # of a response: its framing, and that of TLS

_LINE = re.compile(r"[\t\x20-\x7e]+")

Taken = TypeVar("Taken")
Origin = tuple[str, int]
"""Host and port."""


@cache
def make_tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Make the context of the whole process, which takes 25 ms.

    ca_file: PEM of one more authority to trust.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION  # a server's handshakes are one
    if ca_file:
        context.load_verify_locations(cafile=ca_file)
    return context


class StaleConnection(Refused):
    """A kept connection was closed before any answer came: another try is no second."""


@dataclass(frozen=True, slots=True)
class Response:
    """headers: names in lower case. read: gives the body as it comes, b"" at its end."""

    status: int
    headers: Fields
    read: Callable[[], Awaitable[bytes]]


class _Connection:
    """Connection for requests that follow each other."""

    def __init__(self, wire: Wire, address: str) -> None:
        self.address = address
        self._wire = wire
        self._reader = ResponseReader()
        self._is_used = False

    async def send_request(
        self,
        target: Target,
        headers: Mapping[str, str],
        content: bytes | None,
        budget: ByteBudget,
    ) -> Response:
        """Raises: Refused; StaleConnection where nothing came in answer."""
        reader = self._reader = ResponseReader()
        self._wire.budget = budget
        reader.feed(await self._send(_encode_request(target, headers, content)))
        while reader.head is None:
            reader.feed(await self._wire.read())
        return Response(reader.head.status, reader.head.fields, self._read_body)

    def finish(self) -> bool:
        """Return whether it may be used again: the whole response came, and no more."""
        with suppress(Refused):
            self._drain()
        self._reader.discard()
        self._is_used = True
        return self._reader.is_complete and self._reader.is_reusable

    @property
    def is_open(self) -> bool:
        """Open, and nothing came that nobody asked for: that would be lost here."""
        with suppress(Refused):
            return self._wire.read_arrived() is None
        return False

    def close(self) -> None:
        self._reader.discard()
        self._wire.abort()

    def _drain(self) -> None:
        """Read the rest of the response, as far as it is here and not long."""
        for _ in range(_DRAINED_PIECES):
            if self._reader.is_complete:
                return
            arrived = self._wire.read_arrived()
            if arrived is None:
                return
            self._reader.feed(arrived)

    async def _send(self, request: bytes) -> bytes:
        """Return the first bytes of the response."""
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
        while not (payload := self._reader.take_payload()):
            if self._reader.is_complete:
                break
            self._reader.feed(await self._wire.read())
        return payload


def _encode_request(
    target: Target, headers: Mapping[str, str], content: bytes | None
) -> bytes:
    authority = target.url.split("/", 3)[2]
    method = "GET" if content is None else "POST"
    lines = [f"{method} {target.path} HTTP/1.1", f"Host: {authority}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if content is not None:
        lines.append(f"Content-Length: {len(content)}")
    text = "".join(lines)
    is_plain = text.isascii() and text.isprintable()
    if not is_plain and not all(map(_LINE.fullmatch, lines)):
        raise Refused(refusals.PROTOCOL, "a header field of ours is none")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (content or b"")


class _VisitConnections:
    """Connections at rest, until the end of a visit. budget: of all its bytes."""

    def __init__(self, budget: ByteBudget | None) -> None:
        self.budget = budget
        self._idle: dict[Origin, list[_Connection]] = {}
        self._is_over = False

    def take(self, origin: Origin) -> _Connection | None:
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            if connection.is_open:
                return connection
            connection.close()
        return None

    def give_back(self, origin: Origin, connection: _Connection) -> None:
        if self._is_over:
            connection.close()
        else:
            self._idle.setdefault(origin, []).append(connection)

    def close(self) -> None:
        self._is_over = True
        for idle in self._idle.values():
            for connection in idle:
                connection.close()


_visit: ContextVar[_VisitConnections | None] = ContextVar("visit", default=None)


@contextmanager
def reusing_connections(max_bytes: int | None = None) -> Iterator[None]:
    """Reuse connections to a host until the end of the block.

    max_bytes: that may arrive over all of them.
    """
    visit = _VisitConnections(None if max_bytes is None else ByteBudget(max_bytes))
    before = _visit.set(visit)
    try:
        yield
    finally:
        _visit.reset(before)
        visit.close()


@dataclass(frozen=True, slots=True)
class Dialling:
    """Means of reaching hosts. timeout_s: of each step."""

    resolver: Resolver
    tls: ssl.SSLContext
    timeout_s: float


async def exchange(
    target: Target,
    headers: Mapping[str, str],
    take: Callable[[Response], Awaitable[Taken]],
    *,
    content: bytes | None = None,
    max_bytes: int,
    dialling: Dialling,
    turn: Turn,
) -> Taken:
    """Return what is taken of the response. take: is given it, its body still to be read.

    A function, as a generator in its place would be registered with the event loop.
    content: posted. max_bytes: of the body, as it is transferred.
    Raises: Refused; StaleConnection where the same request is to be made once more.
    """
    visit = _visit.get()
    visit_budget = visit.budget if visit else None
    budget = ByteBudget(max_bytes + _MAX_OVERHEAD_BYTES, within=visit_budget)
    origin = (target.host.name, target.port)
    connection = visit.take(origin) if visit else None
    try:
        if connection is None:
            connection = await _dial(target, dialling, turn, visit_budget)
        else:
            await turn.dial(connection.address)
        fields = headers if visit else {"Connection": "close", **headers}
        response = await connection.send_request(target, fields, content, budget)
        return await take(response)
    finally:
        if connection is not None:
            if visit and connection.finish():
                visit.give_back(origin, connection)
            else:
                connection.close()


async def _dial(
    target: Target, dialling: Dialling, turn: Turn, visit_budget: ByteBudget | None
) -> _Connection:
    """Dial the vetted addresses until one takes the connection. Raises: Refused."""
    name, resolver = target.host.name, dialling.resolver
    failure: Refused | None = None
    untried: Refused | None = None
    for endpoint in (await resolver.endpoints(name, target.port))[:_DIAL_AT_MOST]:
        try:
            await turn.dial(endpoint.address)
        except Refused as refused:
            untried = refused
            continue
        budget = ByteBudget(_MAX_HANDSHAKE_BYTES, refusals.TLS, within=visit_budget)
        wire = Wire(dialling.timeout_s, budget)
        try:
            # The peer's address is looked at again before a byte is sent.
            resolver.vet(await wire.connect(endpoint.address, endpoint.port))
            await wire.secure(dialling.tls, name)
        except Unreached as unreached:
            wire.abort()
            failure = unreached
        except BaseException:
            wire.abort()
            raise
        else:
            return _Connection(wire, endpoint.address)
    raise untried or failure or Refused(refusals.CONNECT, f"no address of {name}")
