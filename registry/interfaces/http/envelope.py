"""Request id, security headers and HEAD for every exchange.

It stands around the whole application, because Litestar's own middleware does not see a
request that has no route. Each line that is logged meanwhile carries the request's id,
and so does the answer: that is all that ties them, and it says nothing of the asker. Our
own mistakes are logged by their class and position, without the message, which may hold what
the caller sent: queries, tokens, receipts.
"""

import secrets
import traceback
from pathlib import PurePath

import structlog
from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bind_contextvars, clear_contextvars

FRAMES = 6


def traceback_summary(error: BaseException) -> dict[str, object]:
    """Return the class of the error, and the innermost frames as `file:line function`."""
    while isinstance(error, BaseExceptionGroup):  # the first says enough
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return {
        "kind": type(error).__name__,
        "at": [
            f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}"
            for frame in frames
        ],
    }


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
        answer = _Answer(send, given, is_head=scope["method"] == "HEAD")
        if answer.is_head:  # RFC 9110, section 9.3.2: GET without the content
            scope["method"] = "GET"
        try:
            await self._app(scope, receive, answer.send)
        except Exception as error:  # noqa: BLE001 — nobody else is left to log it
            cause = error.__cause__ or error  # Litestar's own exception says nothing
            logger.error("answer_broken_off", **traceback_summary(cause))  # noqa: TRY400 — as `faults` says


class _Answer:
    """The response, with the headers added."""

    def __init__(self, send: Send, given: dict[str, str], *, is_head: bool) -> None:
        self.is_head = is_head
        self._send = send
        self._given = given

    async def send(self, message: Message) -> None:
        if message["type"] != "http.response.start":
            if not self.is_head:
                await self._send(message)
            return
        self._dress(MutableScopeHeaders(message))
        await self._send(message)
        if self.is_head:
            await self._send(
                {"type": "http.response.body", "body": b"", "more_body": False}
            )

    def _dress(self, headers: MutableScopeHeaders) -> None:
        for name, value in {**SECURITY_HEADERS, **self._given}.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
