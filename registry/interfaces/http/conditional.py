"""Conditional requests (RFC 9110, section 13.1.2): an unchanged answer is sent once.

The tag is the hash of the answer itself, so it can never stand for other bytes. It
spares the wire, not the work.
"""

import hashlib
from http import HTTPStatus

from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPResponseBodyEvent, HTTPResponseStartEvent
from typing_extensions import override

from registry.interfaces.http.compression import plain_tag

OK = HTTPStatus.OK
TAG_LENGTH = 32


class Conditional(ASGIMiddleware):
    """Middleware of handlers whose 200 is one piece.

    cache_control: sent beside the tag, unless the handler sends its own.
    """

    scopes = (ScopeType.HTTP,)

    def __init__(self, cache_control: str = "no-cache") -> None:
        self._cache_control = cache_control

    @override
    async def handle(
        self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp
    ) -> None:
        named = Headers.from_scope(scope).get("If-None-Match", "")
        started: list[HTTPResponseStartEvent] = []

        async def send_tagged(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == OK:
                started.append(message)
            elif message["type"] == "http.response.body" and started:
                self._tag(named, started[0], message)
                await send(started.pop())
                await send(message)
            else:
                await send(message)

        await next_app(scope, receive, send_tagged)

    def _tag(
        self, named: str, start: HTTPResponseStartEvent, body: HTTPResponseBodyEvent
    ) -> None:
        tag = f'"{hashlib.sha256(body["body"]).hexdigest()[:TAG_LENGTH]}"'
        headers = MutableScopeHeaders(start)
        headers["ETag"] = tag
        headers.setdefault("Cache-Control", self._cache_control)
        if matched := _matching(tag, named):
            headers["ETag"] = matched
            start["status"], body["body"] = HTTPStatus.NOT_MODIFIED, b""
            for name in ("Content-Length", "Content-Type"):
                headers.pop(name, None)


def _matching(tag: str, named: str) -> str | None:
    """Return the tag as the client has it: compared weakly, in whatever it was sent."""
    for named_tag in named.split(","):
        own = named_tag.strip().removeprefix("W/")
        if own == "*" or plain_tag(own) == tag:
            return tag if own == "*" else own
    return None
