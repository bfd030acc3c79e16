"""GET /v1/search without the framework, whose routing costs a tenth of an answer's CPU.

It takes calls with known parameters, each once, of a page of no other origin, and hands
them to the same handler. Everything else goes the long way; tests ask both.
"""

import re
from collections.abc import Callable, Iterable

import msgspec
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from registry.interfaces.http.credentials import Call
from registry.interfaces.http.problems import respond_to
from registry.interfaces.http.query_string import required_parameters
from registry.interfaces.http.services import Services
from registry.interfaces.http.strict import StrictRequest
from registry.interfaces.rest.search.search import search_by_query
from registry.usecases.search.search_query import SearchQuery

PATH = "/v1/search"

_PLAIN_HOST = re.compile(rb"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")
_PARAMETERS = required_parameters(SearchQuery)
_REQUIRED = {name for name, is_required in _PARAMETERS.items() if is_required}
_encode = msgspec.json.Encoder().encode


class SearchShortcut:
    """An ASGI application around another. services: once they are there."""

    def __init__(self, app: ASGIApp, services: Callable[[], Services]) -> None:
        self._app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = plain_search(scope, receive, send)
        if request is None:
            await self._app(scope, receive, send)
            return
        scope["route_handler"] = search_by_query
        try:
            body = _encode(await search_by_query.fn(request, self._services()))
        except Exception as error:  # noqa: BLE001 — as the framework does, by one table
            refusal = respond_to(error, request)
            await refusal.to_asgi_response(None, request)(scope, receive, send)
        else:
            await _send(body, send)


def plain_search(scope: Scope, receive: Receive, send: Send) -> Call | None:
    """Return None for what has to go the long way."""
    if scope["type"] != ScopeType.HTTP or scope["path"] != PATH:
        return None
    if scope["method"] != "GET" or scope.get("root_path"):
        return None
    if not _are_plain(scope["headers"]):
        return None
    request = StrictRequest(scope, receive, send)
    return request if _are_known(request) else None


def _are_plain(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether there is one host, and no origin that awaits an answer of its own."""
    hosts = [value for name, value in headers if name == b"host"]
    return (
        len(hosts) == 1
        and _PLAIN_HOST.fullmatch(hosts[0]) is not None
        and all(name != b"origin" for name, _ in headers)
    )


def _are_known(request: Call) -> bool:
    """Return whether `verify_query` would let the parameters pass."""
    given = [name for name, _ in request.query_params.multi_items()]
    names = set(given)
    return len(names) == len(given) and _REQUIRED <= names <= _PARAMETERS.keys()


async def _send(body: bytes, send: Send) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
