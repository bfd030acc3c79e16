"""Fetching one document from a host that may be hostile, within hard bounds.

Every outbound HTTP request of the project is made here: the URL gate before any I/O,
vetted addresses, redirects by hand and each through the same gates, one deadline around
everything, and a body that can not outgrow its limits. Cookies, credentials and proxies
do not exist. See `crawler.guard` for the rules and `crawler.refusals` for the outcomes.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from crawler import refusals, trace
from crawler.body import Body, BodyLimits, parse_coding
from crawler.connection import Response, StaleConnection, ask, make_tls_context
from crawler.guard import RedirectRule, Target, decide_redirect, parse_target
from crawler.politeness import Politeness
from crawler.refusals import UnexpectedStatus, UnexpectedType
from crawler.resolve import Resolver
from crawler.stopwatch import Stopwatch
from registry.errors import Refused

MAX_HEADERS = 100
MAX_LINK_CHARACTERS = 8 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')  # RFC 9110, 8.8.3
_HTTP_DATE = re.compile(r"[A-Za-z0-9 ,:+-]{1,64}")

Permit = Callable[[Target], Awaitable[None]]
"""Raises: Refused if the target may not be fetched, say by robots.txt."""

Sign = Callable[[Target], Mapping[str, str]]
"""The header fields that prove who asks the target."""

ANY_TYPE = ("*/*",)
JSON_TYPES = ("application/json",)
HTML_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """What a conditional request sends back (RFC 9110, 13.1); None where not known."""

    etag: str | None = None
    last_modified: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A 200 and its whole body.

    url: where the redirects ended. content_type: as sent, parameters included, or "".
    elapsed_ms: of the whole fetch, redirects included, our own waiting not. truncated:
    only by such limits.
    links: its Link headers (RFC 8288), as many as fit MAX_LINK_CHARACTERS.
    """

    url: str
    body: bytes
    content_type: str
    validators: Validators
    elapsed_ms: int
    truncated: bool = False
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModified:
    """A 304 to a conditional request: what is stored still holds."""

    url: str
    elapsed_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a POST came to, whatever the status; content_type: as sent, or ""."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What is wanted of one fetch, whatever URL the redirects lead to."""

    accept: Sequence[str]
    headers: Mapping[str, str]
    conditional: Validators
    redirects: RedirectRule
    limits: BodyLimits
    permit: Permit | None
    watch: Stopwatch


class Fetcher:
    """One for the process; holds no connections, so it needs no closing."""

    def __init__(self, config: FetcherConfig) -> None:
        self.config = config
        self.resolver = config.resolver
        self._allow_test = config.resolver.config.allow_loopback
        self._tls = make_tls_context(str(config.ca_file) if config.ca_file else None)

    @property
    def product_token(self) -> str:
        """What robots.txt calls us (RFC 9309, 2.2.1)."""
        return self.config.user_agent.partition("/")[0]

    def target_of(self, url: str) -> Target:
        """Raises: Refused."""
        return parse_target(url, allow_test=self._allow_test)

    async def fetch(
        self,
        url: str,
        *,
        accept: Sequence[str],
        headers: Mapping[str, str] | None = None,
        conditional: Validators | None = None,
        redirects: RedirectRule | None = None,
        limits: BodyLimits | None = None,
        permit: Permit | None = None,
        watch: Stopwatch | None = None,
    ) -> Fetched | NotModified:
        """Fetch a document.

        accept: media types, the best first; JSON takes application/*+json with it.
        headers: more of them, of the protocol that is spoken.
        permit: asked of where redirects lead; the caller has asked of the URL itself.
        watch: tells how long a refused fetch took.

        Raises: UnexpectedStatus if the server answered neither 200 nor, to a
        conditional request, 304; Refused, by a kind of `crawler.refusals` or
        `registry.sites.refusals`, in every other case.
        """
        order = _Order(
            accept=accept,
            headers=headers or {},
            conditional=conditional or Validators(),
            redirects=redirects or RedirectRule(),
            limits=limits or BodyLimits(),
            permit=permit,
            watch=watch or Stopwatch(),
        )
        target = self.target_of(url)
        try:
            async with order.watch.running(self.config.deadline_s):
                return await self._follow(target, order)
        except TimeoutError as error:
            detail = f"{self.config.deadline_s:g} seconds were not enough"
            raise Refused(refusals.DEADLINE, detail) from error

    async def post(
        self, url: str, content: bytes, *, content_type: str, limits: BodyLimits
    ) -> Answer:
        """Post to an address that the operator configured; no redirect is followed.

        What is posted may arrive twice. Raises: Refused.
        """
        target = self.target_of(url)
        headers = {
            "User-Agent": self.config.user_agent,
            "Accept-Encoding": "identity",
            "Content-Type": content_type,
        }
        watch = Stopwatch()
        try:
            async with watch.running(self.config.deadline_s):
                while True:
                    with suppress(StaleConnection):  # of the kept ones, each once
                        return await self._post(target, content, headers, limits, watch)
        except TimeoutError as error:
            detail = f"{self.config.deadline_s:g} seconds were not enough"
            raise Refused(refusals.DEADLINE, detail) from error

    async def _post(
        self,
        target: Target,
        content: bytes,
        headers: Mapping[str, str],
        limits: BodyLimits,
        watch: Stopwatch,
    ) -> Answer:
        async with (
            self.config.politeness.turn(target.host, watch) as turn,
            ask(
                target,
                headers,
                content=content,
                resolver=self.resolver,
                turn=turn,
                tls=self._tls,
                timeout_s=self.config.step_timeout_s,
            ) as response,
        ):
            told = _Headers(response)
            body = await _read(response, told, limits)
        return Answer(
            status=response.status,
            content_type=told.get("content-type")[:256],
            body=body.finish(),
        )

    async def _follow(self, target: Target, order: _Order) -> Fetched | NotModified:
        seen = {target.url}
        while True:
            answer = await self._exchange(target, order)
            if not isinstance(answer, _Redirect):
                return answer
            trace.tell(trace.Redirected.by, target.url, answer.location)
            target = decide_redirect(
                target,
                answer.location,
                rule=order.redirects,
                seen=seen,
                allow_test=self._allow_test,
            )
            if order.permit:
                await order.permit(target)
            seen.add(target.url)

    async def _exchange(
        self, target: Target, order: _Order
    ) -> "Fetched | NotModified | _Redirect":
        while True:
            try:
                return await self._ask(target, order)
            except StaleConnection:  # of a visit's few, each is stale once
                continue

    async def _ask(
        self, target: Target, order: _Order
    ) -> "Fetched | NotModified | _Redirect":
        politeness = self.config.politeness
        async with (
            politeness.turn(target.host, order.watch) as turn,
            ask(
                target,
                self._request_headers(target, order),
                resolver=self.resolver,
                turn=turn,
                tls=self._tls,
                timeout_s=self.config.step_timeout_s,
            ) as response,
        ):
            headers = _Headers(response)
            if response.status in _REDIRECTS:
                return _Redirect(headers.get("location"))
            if response.status == 304 and order.conditional != Validators():
                return NotModified(url=target.url, elapsed_ms=order.watch.elapsed_ms)
            if response.status != 200:
                raise UnexpectedStatus(response.status, headers.get("retry-after")[:64])
            content_type = _verify_type(headers.all("content-type"), order.accept)
            body = await _read(response, headers, order.limits)
        return Fetched(
            url=target.url,
            body=body.finish(),
            truncated=body.truncated,
            content_type=content_type,
            validators=_parse_validators(headers),
            elapsed_ms=order.watch.elapsed_ms,
            links=_fitting(headers.all("link"), MAX_LINK_CHARACTERS),
        )

    def _request_headers(self, target: Target, order: _Order) -> dict[str, str]:
        headers = {
            "User-Agent": self.config.user_agent,
            "Accept": _preference(order.accept),
            "Accept-Encoding": "gzip",
            **order.headers,
        }
        # One of the two: servers that get both compare the stronger anyway.
        if order.conditional.etag:
            headers["If-None-Match"] = order.conditional.etag
        elif order.conditional.last_modified:
            headers["If-Modified-Since"] = order.conditional.last_modified
        if self.config.sign:
            headers |= self.config.sign(target)
        return headers


def _preference(accept: Sequence[str]) -> str:
    return ", ".join([accept[0], *(f"{media_type};q=0.5" for media_type in accept[1:])])


@dataclass(frozen=True, slots=True)
class _Redirect:
    location: str


class _Headers:
    """Raises: Refused `headers_count`."""

    def __init__(self, response: Response) -> None:
        if len(response.headers) > MAX_HEADERS:
            raise Refused(refusals.HEADERS_COUNT, f"{len(response.headers)} headers")
        self._fields = [
            (name.lower(), value.decode("utf-8", "replace").strip())
            for name, value in response.headers
        ]

    def all(self, name: str) -> list[str]:
        return [value for key, value in self._fields if key == name.encode()]

    def get(self, name: str) -> str:
        """Its values, joined by commas (RFC 9110, 5.3); "" without any."""
        return ", ".join(self.all(name))


async def _read(response: Response, headers: _Headers, limits: BodyLimits) -> Body:
    declared = headers.get("content-length")
    if declared.isdigit() and int(declared) > limits.wire_bytes and not limits.truncate:
        raise Refused(refusals.BODY_WIRE, f"{declared[:20]} bytes are announced")
    body = Body(parse_coding(headers.get("content-encoding")), limits)
    while chunk := await response.read():
        if body.feed(chunk):
            break
    return body


def _verify_type(values: Sequence[str], accept: Sequence[str]) -> str:
    if len(values) > 1:
        raise Refused(refusals.CONTENT_TYPE, f"{len(values)} Content-Type headers")
    content_type = values[0][:256] if values else ""
    media_type = media_type_of(content_type)
    if "*/*" in accept or media_type in accept:
        return content_type
    if "application/json" in accept and re.fullmatch(
        r"application/[a-z0-9.-]+\+json", media_type
    ):
        return content_type
    raise UnexpectedType(media_type)


def _fitting(values: Sequence[str], limit: int) -> tuple[str, ...]:
    """The first of them, whole, together within the limit: half a link is another."""
    fitting = []
    for value in values:
        limit -= len(value)
        if limit < 0:
            break
        fitting.append(value)
    return tuple(fitting)


def media_type_of(content_type: str) -> str:
    """Without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def _parse_validators(headers: _Headers) -> Validators:
    """What does not have their form is dropped, for it is sent back one day."""
    etag, last_modified = headers.get("etag"), headers.get("last-modified")
    return Validators(
        etag=etag if _ETAG.fullmatch(etag) else None,
        last_modified=last_modified if _HTTP_DATE.fullmatch(last_modified) else None,
    )
