"""Conditional requests (RFC 9110, section 13): what is unchanged is sent once, what has changed is not overwritten.

The tag is the hash of the answer itself, so it can never stand for other bytes. It
spares the wire, not the work.
"""

import hashlib
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Request
from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from litestar.types.asgi_types import HTTPResponseBodyEvent, HTTPResponseStartEvent
from typing_extensions import override

from registry.errors import PreconditionFailed
from registry.interfaces.http.compression import plain_tag
from registry.interfaces.http.refusals import CHANGED_MEANWHILE, NOTHING_TO_MATCH

OK = HTTPStatus.OK
TAG_LENGTH = 32
UNTAGGED = "untagged"
"""Option of handlers whose answers are never the same again, or in pieces."""
TAKES_IF_MATCH = "takes_if_match"
"""Option of handlers that change what a GET of their own path, or of its parent, shows."""


class Conditional(ASGIMiddleware):
    """Middleware that tags each GET's 200, and lets nobody believe that If-Match held.

    cache_control: sent beside the tag, unless the handler sends its own. What depends on
    who asks has a tag too, and no cache stores it.
    """

    scopes = (ScopeType.HTTP,)
    exclude_opt_key = UNTAGGED

    def __init__(self, cache_control: str = "no-cache") -> None:
        self._cache_control = cache_control

    @override
    async def handle(
        self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp
    ) -> None:
        headers, handler = Headers.from_scope(scope), scope["route_handler"]
        if scope.get("method") != "GET":
            if "If-Match" in headers and not handler.opt.get(TAKES_IF_MATCH):
                raise PreconditionFailed(NOTHING_TO_MATCH, pointer="If-Match")
            await next_app(scope, receive, send)
            return
        named = ",".join(headers.getall("If-None-Match", []))
        is_private = bool(getattr(handler, "security", None))
        started: list[HTTPResponseStartEvent] = []

        async def send_tagged(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == OK:
                started.append(message)
            elif message["type"] == "http.response.body" and started:
                self._tag(named, started[0], message, is_private=is_private)
                await send(started.pop())
                await send(message)
            else:
                await send(message)

        await next_app(scope, receive, send_tagged)

    def _tag(
        self,
        named: str,
        start: HTTPResponseStartEvent,
        body: HTTPResponseBodyEvent,
        *,
        is_private: bool,
    ) -> None:
        headers = MutableScopeHeaders(start)
        tag = headers.get("ETag") or tag_of(body["body"])
        headers["ETag"] = tag
        if not is_private:
            headers.setdefault("Cache-Control", self._cache_control)
        if matched := _matching(tag, named):
            headers["ETag"] = matched
            start["status"], body["body"] = HTTPStatus.NOT_MODIFIED, b""
            for name in ("Content-Length", "Content-Type"):
                headers.pop(name, None)


HOUR = Conditional("public, max-age=3600")


def tag_of(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:TAG_LENGTH]}"'


def verify_if_match(request: Request[Any, Any, Any], view: object) -> None:
    """view: what a GET would show now. Raises: PreconditionFailed if that is not named."""
    values = request.headers.getall("If-Match", [])
    strong = [tag for tag in ",".join(values).split(",") if "W/" not in tag]
    if values and not _matching(tag_of(msgspec.json.encode(view)), ",".join(strong)):
        raise PreconditionFailed(CHANGED_MEANWHILE, pointer="If-Match")


def _matching(tag: str, named: str) -> str | None:
    """Return the tag as the client has it: compared weakly, in whatever it was sent."""
    for named_tag in named.split(","):
        own = named_tag.strip().removeprefix("W/")
        if own == "*" or plain_tag(own) == tag:
            return tag if own == "*" else own
    return None
