"""Fetching one document from a host that may be hostile, within hard bounds.

Every outbound HTTP request of the project is made here: the URL gate before any I/O,
vetted addresses, redirects by hand and each through the same gates, one deadline around
everything, and a body that can not outgrow its limits. Cookies, credentials and proxies
do not exist. See `guard` for the rules and `crawler.refusals` for the outcomes.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from crawler import refusals, trace
from crawler.http.body import Body, BodyLimits, parse_coding
from crawler.http.connection import (
    Dialling,
    Response,
    StaleConnection,
    exchange,
    make_tls_context,
)
from crawler.http.exchange import Fetched, NotModified, Wanted
from crawler.http.guard import Target, decide_redirect, parse_target
from crawler.http.head import (
    MAX_LINK_CHARACTERS,
    Headers,
    Validators,
    fitting,
    parse_validators,
    spell_accept,
    verify_type,
)
from crawler.http.resolve import Resolver
from crawler.refusals import UnexpectedStatus
from crawler.restraint.politeness import Politeness
from crawler.stopwatch import Stopwatch
from registry.errors import Refused

_REDIRECTS = frozenset({301, 302, 303, 307, 308})

Permit = Callable[[Target], Awaitable[None]]
"""Raises: Refused if the target may not be fetched, say by robots.txt."""

Sign = Callable[[Target], Mapping[str, str]]
"""The header fields that identify the crawler to the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResponse:
    """Response to a POST, whatever the status. content_type: as sent, or ""."""

    status: int
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class FetcherConfig:
    """deadline_s: of one fetch in all; step_timeout_s: of each connect, read, write."""

    user_agent: str
    resolver: Resolver
    politeness: Politeness = field(default_factory=Politeness)
    ca_file: Path | None = None
    sign: Sign | None = None
    deadline_s: float = 10.0
    step_timeout_s: float = 3.0


class _Order(NamedTuple):
    """Order of one fetch, whatever URL the redirects lead to."""

    wanted: Wanted
    permit: Permit | None
    watch: Stopwatch


class Fetcher:
    """Fetcher of the process; it holds no connections, so it needs no closing."""

    def __init__(self, config: FetcherConfig) -> None:
        self.config = config
        self.resolver = config.resolver
        self.allow_loopback = config.resolver.config.allow_loopback
        tls = make_tls_context(str(config.ca_file) if config.ca_file else None)
        self._dialling = Dialling(self.resolver, tls, config.step_timeout_s)

    @property
    def product_token(self) -> str:
        """Return our product token for robots.txt (RFC 9309, 2.2.1)."""
        return self.config.user_agent.partition("/")[0]

    def target_of(self, url: str) -> Target:
        """Raises: Refused."""
        return _parse_again(url, allow_test=self.allow_loopback)

    async def fetch(
        self,
        url: str,
        wanted: Wanted,
        *,
        permit: Permit | None = None,
        watch: Stopwatch | None = None,
    ) -> Fetched | NotModified:
        """Fetch a document.

        permit: asked of where redirects lead; the caller has asked of the URL itself.
        watch: tells how long a refused fetch took.

        Raises: UnexpectedStatus if the server answered neither 200 nor, to a
        conditional request, 304; Refused, by a kind of `crawler.refusals` or
        `registry.sites.refusals`, in every other case.
        """
        order = _Order(wanted, permit, watch or Stopwatch())
        target = self.target_of(url)
        async with self._within_deadline(order.watch):
            return await self._follow(target, order)

    async def post(
        self,
        url: str,
        content: bytes,
        *,
        content_type: str,
        limits: BodyLimits,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> PostResponse:
        """Post to an address that was configured or subscribed; no redirect is followed.

        What is posted may arrive twice. Raises: Refused.
        """
        target = self.target_of(url)
        headers = {
            "User-Agent": self.config.user_agent,
            "Accept-Encoding": "identity",
            "Content-Type": content_type,
            **headers,
        }
        watch = Stopwatch()
        async with self._within_deadline(watch):
            while True:
                with suppress(StaleConnection):  # of the kept ones, each once
                    return await self._post(target, content, headers, limits, watch)

    @asynccontextmanager
    async def _within_deadline(self, watch: Stopwatch) -> AsyncIterator[None]:
        deadline_s = self.config.deadline_s
        detail = f"{deadline_s:g} seconds were not enough"
        with Refused.on(TimeoutError, refusals.DEADLINE, detail):
            async with watch.running(deadline_s):
                yield

    async def _post(
        self,
        target: Target,
        content: bytes,
        headers: Mapping[str, str],
        limits: BodyLimits,
        watch: Stopwatch,
    ) -> PostResponse:
        async def take(response: Response) -> PostResponse:
            fields = Headers(response.headers)
            body = await _read(response, fields, limits)
            return PostResponse(
                status=response.status,
                content_type=fields.get("content-type")[:256],
                body=body.finish(),
            )

        async with self.config.politeness.turn(target.host, watch) as turn:
            return await exchange(
                *(target, headers, take),
                content=content,
                max_bytes=limits.wire_bytes,
                dialling=self._dialling,
                turn=turn,
            )

    async def _follow(self, target: Target, order: _Order) -> Fetched | NotModified:
        seen = {target.url}
        while True:
            answer = await self._exchange(target, order)
            if not isinstance(answer, _Redirect):
                return answer
            trace.emit(trace.Redirected.by, target.url, answer.location)
            target = decide_redirect(
                target,
                answer.location,
                rule=order.wanted.redirects,
                seen=seen,
                allow_test=self.allow_loopback,
            )
            if order.permit:
                await order.permit(target)
            seen.add(target.url)

    async def _exchange(
        self, target: Target, order: _Order
    ) -> "Fetched | NotModified | _Redirect":
        while True:
            try:
                return await self._send(target, order)
            except StaleConnection:  # of a visit's few, each is stale once
                continue

    async def _send(
        self, target: Target, order: _Order
    ) -> "Fetched | NotModified | _Redirect":
        async with self.config.politeness.turn(target.host, order.watch) as turn:
            return await exchange(
                target,
                self._request_headers(target, order),
                partial(_take, target, order),
                max_bytes=order.wanted.limits.wire_bytes,
                dialling=self._dialling,
                turn=turn,
            )

    def _request_headers(self, target: Target, order: _Order) -> dict[str, str]:
        headers = {
            "User-Agent": self.config.user_agent,
            "Accept": spell_accept(order.wanted.accept),
            "Accept-Encoding": "gzip",
            **order.wanted.headers,
        }
        # One of the two: servers that get both compare the stronger anyway.
        if order.wanted.conditional.etag:
            headers["If-None-Match"] = order.wanted.conditional.etag
        elif order.wanted.conditional.last_modified:
            headers["If-Modified-Since"] = order.wanted.conditional.last_modified
        if self.config.sign:
            headers |= self.config.sign(target)
        return headers


_parse_again = lru_cache(maxsize=1024)(parse_target)
"""A visit asks for the same few some times each."""


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


async def _take(
    target: Target, order: _Order, response: Response
) -> Fetched | NotModified | _Redirect:
    headers = Headers(response.headers)
    if response.status in _REDIRECTS:
        return _Redirect(headers.get("location"))
    if response.status == 304 and order.wanted.conditional != Validators():
        return NotModified(url=target.url, elapsed_ms=order.watch.elapsed_ms)
    if response.status != 200:
        raise UnexpectedStatus(response.status, headers.get("retry-after")[:64])
    content_type = verify_type(headers.all("content-type"), order.wanted.accept)
    body = await _read(response, headers, order.wanted.limits)
    return Fetched(
        url=target.url,
        body=body.finish(),
        truncated=body.truncated,
        wire_bytes=body.wire_bytes,
        content_type=content_type,
        validators=parse_validators(headers),
        elapsed_ms=order.watch.elapsed_ms,
        links=fitting(headers.all("link"), MAX_LINK_CHARACTERS),
    )


async def _read(response: Response, headers: Headers, limits: BodyLimits) -> Body:
    declared = headers.get("content-length")
    if declared.isdigit() and int(declared) > limits.wire_bytes and not limits.truncate:
        raise Refused(refusals.BODY_WIRE, f"{declared[:20]} bytes are announced")
    body = Body(parse_coding(headers.get("content-encoding")), limits)
    while chunk := await response.read():
        if body.feed(chunk):
            break
    return body
