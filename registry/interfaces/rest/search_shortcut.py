"""GET /v1/search without the framework, which takes longer than the ranking.

Takes only what is asked plainly: known parameters, each once, of the right shape, by
nobody or with one API key, from no page of another origin. Anything else goes the long
way, where it is answered or refused; so what is refused here never differs from there.
The tests ask both.
"""

import re
from collections.abc import Callable
from urllib.parse import parse_qsl

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from registry.interfaces.http.credentials import parse_bearer
from registry.interfaces.http.problems import EXCEPTION_HANDLERS, ProblemResponse
from registry.interfaces.http.services import Services
from registry.interfaces.rest.search import SearchRequest, answer_search

PATH = "/v1/search"

_PLAIN = re.compile(rb"[A-Za-z0-9_=&+.,%~-]{1,4000}")
_LONG_WAY = frozenset({b"origin", b"signature-input"})
"""Headers that say more than the parameters do."""
_KEY = b"authorization"
_DEGREES = re.compile(r"-?[0-9]{1,3}(\.[0-9]{1,12})?", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,3}", re.ASCII)
_TEXTS = frozenset({"q", "city", "country", "category", "format", "nonce", "cursor"})
_PLACES = frozenset({"lat", "lon"})
_JSON = (b"content-type", b"application/json")
_encode = msgspec.json.Encoder().encode


class SearchShortcut:
    """An ASGI application around another. services: once they are there."""

    def __init__(self, app: ASGIApp, services: Callable[[], Services]) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = plain_request(scope)
        if request is None:
            await self._app(scope, receive, send)
            return
        try:
            services = self._services()
            operator = await _operator(services, scope)
            answer = await answer_search(services, request, operator)
        except Exception as error:  # noqa: BLE001 — as the framework does, by one table
            await _refuse(error, send)
        else:
            await _send(send, 200, _encode(answer), [_JSON])


def plain_request(scope: Scope) -> SearchRequest | None:
    """None for what has to go the long way."""
    if scope["type"] != ScopeType.HTTP:
        return None
    if scope["path"] != PATH or scope["method"] != "GET":
        return None
    names = [name for name, _ in scope["headers"]]
    if not _LONG_WAY.isdisjoint(names) or names.count(_KEY) > 1:
        return None
    told = scope["query_string"]
    if not _PLAIN.fullmatch(told):
        return None
    try:
        pairs = parse_qsl(
            told.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=True,
            errors="strict",
        )
        values = {name: _read(name, text) for name, text in pairs}
        if len(values) < len(pairs):
            return None
        return msgspec.convert(values, SearchRequest)
    except ValueError:  # of each of them
        return None


async def _operator(services: Services, scope: Scope) -> str | None:
    """As `asking_operator` tells it of such requests. Raises: Unauthorized."""
    for name, value in scope["headers"]:
        if name == _KEY:
            key = parse_bearer(value.decode("latin-1"))
            return await services.operators.of_api_key(key)
    return None


def _read(name: str, text: str) -> str | float:
    """Raises: ValueError."""
    if name in _TEXTS and text:
        return text
    if name in _PLACES and _DEGREES.fullmatch(text):
        return float(text)
    if name == "limit" and _COUNT.fullmatch(text):
        return int(text)
    raise ValueError(name)


async def _refuse(error: Exception, send: Send) -> None:
    kind = next(one for one in type(error).__mro__ if one in EXCEPTION_HANDLERS)
    response: ProblemResponse = EXCEPTION_HANDLERS[kind](None, error)
    headers = [
        (b"content-type", str(response.media_type).encode()),
        *((name.encode(), value.encode()) for name, value in response.headers.items()),
    ]
    await _send(send, response.status_code or 500, response.content, headers)


async def _send(
    send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, length],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})
