"""Compression of answers (RFC 9110, section 12.5.3), for clients that ask for it.

Only answers with 200, in one piece, of text: what creates something (201, 202) may carry
a key or a token, and a length that depends on a secret and on a text of somebody else
would tell it letter by letter (BREACH). The secrets of a search, its receipt and cursor,
are new in every answer, so that nothing can be tried against one of them twice.
"""

import asyncio
import gzip
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from http import HTTPStatus

import brotli
from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPResponseBodyEvent, HTTPResponseStartEvent

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

LEAST_BYTES = 1_000
"""Less is one packet either way."""
MOST_HEADER = 1_000
LONG_BYTES = 100_000
"""Size from which compression takes milliseconds, so that it leaves the event loop."""

_OK, _UNCHANGED = HTTPStatus.OK.value, HTTPStatus.NOT_MODIFIED.value
_TEXT = re.compile(
    r"text/(?!event-stream)|application/([a-z.-]+\+)?(json|xml|yaml)|image/svg"
)
_QUALITY = re.compile(r"\s*q\s*=\s*(0(\.[0-9]{0,3})?|1(\.0{0,3})?)\s*", re.IGNORECASE)

CODINGS: Mapping[str, Callable[[bytes], bytes]] = {
    "zstd": lambda body: zstd.compress(body, level=3),
    "br": lambda body: brotli.compress(body, quality=4),
    "gzip": lambda body: gzip.compress(body, compresslevel=5, mtime=0),
}
"""Codings, the cheapest first."""


def choose_coding(accepted: str, codings: Iterable[str] = CODINGS) -> str | None:
    """Return the coding that the client likes best, of equals the first; None: none.

    accepted: the value of Accept-Encoding. What is malformed in it is not accepted.
    codings: the one that costs least first.
    """
    qualities: dict[str, float] = {}
    for item in accepted[:MOST_HEADER].split(","):
        name, semicolon, parameter = item.partition(";")
        quality = _QUALITY.fullmatch(parameter) if semicolon else None
        if quality or not semicolon:
            name = name.strip().lower().replace("x-gzip", "gzip")
            qualities[name] = float(quality[1]) if quality else 1.0
    any_other = qualities.get("*", 0.0)
    best = max(codings, key=lambda coding: qualities.get(coding, any_other))
    quality_of_best = qualities.get(best, any_other)
    identity = qualities.get("identity", 0.0)
    return best if quality_of_best > 0 and quality_of_best >= identity else None


class Compression:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        coding = choose_coding(_accepted(scope["headers"]))
        await self._app(scope, receive, _Answer(send, coding).send)


class _Answer:
    """The response; its start waits for the body, which decides on it."""

    def __init__(self, send: Send, coding: str | None) -> None:
        self._send = send
        self._coding = coding
        self._start: HTTPResponseStartEvent | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            is_text = _is_text(message)
            if is_text or message["status"] == _UNCHANGED:  # RFC 9110, section 15.4.5
                headers = MutableScopeHeaders(message)
                headers.extend_header_value("Vary", "Accept-Encoding")
            if is_text and self._coding is not None:
                self._start = message
                return
        elif message["type"] == "http.response.body" and self._start is not None:
            start, self._start = self._start, None
            await self._encode(start, message)
            await self._send(start)
        await self._send(message)

    async def _encode(
        self, start: HTTPResponseStartEvent, body: HTTPResponseBodyEvent
    ) -> None:
        whole = body.get("body", b"")  # both may be left out, and MCP's SDK does
        goes_on = body.get("more_body", False)
        if self._coding is None or goes_on or len(whole) < LEAST_BYTES:
            return
        encode = CODINGS[self._coding]
        is_long = len(whole) >= LONG_BYTES
        encoded = await asyncio.to_thread(encode, whole) if is_long else encode(whole)
        headers = MutableScopeHeaders(start)
        headers["Content-Encoding"] = self._coding
        headers["Content-Length"] = str(len(encoded))
        if tag := headers.get("ETag"):  # other bytes, so another strong tag
            headers["ETag"] = f'{tag.removesuffix(chr(34))}-{self._coding}"'
        body["body"] = encoded


def plain_tag(tag: str) -> str:
    """Return an entity tag as the handler gave it, whatever it was sent in."""
    for coding in CODINGS:
        tag = tag.replace(f'-{coding}"', '"')
    return tag


def _accepted(headers: Iterable[tuple[bytes, bytes]]) -> str:
    values = [value for name, value in headers if name == b"accept-encoding"]
    return b",".join(values).decode("latin-1")


def _is_text(start: HTTPResponseStartEvent) -> bool:
    headers = MutableScopeHeaders(start)
    return (
        start["status"] == _OK
        and "content-encoding" not in headers
        and "no-transform" not in headers.get("cache-control", "")
        and _TEXT.match(headers.get("content-type", "").lower()) is not None
    )
