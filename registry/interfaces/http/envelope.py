"""Request id, security headers and HEAD for every exchange.

It stands around the whole application, because Litestar's own middleware does not see a
request that has no route. Each line that is logged meanwhile carries the request's id,
and so does the answer: that is all that ties them, and it says nothing of the asker. Our
own mistakes are logged by their class and position, without the message, which may hold what
the caller sent: queries, tokens, receipts.
"""

import secrets

import structlog
from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

from registry.errors import traceback_summary
from registry.interfaces.http.unread_body import UnreadBody

REQUEST_ID_BYTES = 8

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'; object-src 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

logger = structlog.get_logger()


def headers_of_answer(scope: Scope) -> dict[str, str]:
    """Headers that the answer is to carry even if it turns out to be a refusal."""
    headers: dict[str, str] = scope["state"].setdefault("headers_of_answer", {})
    return headers


class Envelope:
    """An ASGI application around another."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        request_id = secrets.token_hex(REQUEST_ID_BYTES)
        clear_contextvars()
        bind_contextvars(request_id=request_id)
        given = headers_of_answer(scope)
        given["X-Request-Id"] = request_id
        body = UnreadBody(scope, receive)
        answer = _Answer(send, given, body, is_head=scope["method"] == "HEAD")
        if answer.is_head:  # RFC 9110, section 9.3.2: GET without the content
            scope["method"] = "GET"
        try:
            await self._app(scope, body.receive, answer.send)
        except Exception as error:  # noqa: BLE001 — nobody else is left to log it
            cause = error.__cause__ or error  # Litestar's own exception says nothing
            logger.error("answer_broken_off", **traceback_summary(cause))  # noqa: TRY400 — as `faults` says
        if answer.is_last:
            await body.skip()


class _Answer:
    """The response, with the headers added. is_last: of its connection."""

    def __init__(
        self, send: Send, given: dict[str, str], body: UnreadBody, *, is_head: bool
    ) -> None:
        self.is_head = is_head
        self.is_last = False
        self._body = body
        self._send = send
        self._given = given

    async def send(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            if not self.is_head:
                await self._send(message)
            return
        headers = MutableScopeHeaders(message)
        self._dress(headers)
        if not await self._body.is_over():
            self.is_last = True
            headers["Connection"] = "close"
        await self._send(message)
        if self.is_head:
            await self._send(
                {"type": "http.response.body", "body": b"", "more_body": False}
            )

    def _dress(self, headers: MutableScopeHeaders) -> None:
        for name, value in {**SECURITY_HEADERS, **self._given}.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
