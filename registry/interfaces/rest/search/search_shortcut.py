"""GET /v1/search without the framework, whose routing costs a tenth of an answer's CPU.

It takes what is asked plainly, by a page of no other origin. Everything else, and so
each parameter that is refused, goes the long way. Parameters, credentials, answer and
problems are read and made by the functions of the long way; tests ask both.
"""

import re
from collections.abc import Callable, Iterable

import msgspec
from litestar.enums import ScopeType
from litestar.exceptions import ValidationException
from litestar.types import ASGIApp, Receive, Scope, Send

from registry.errors import Refused
from registry.interfaces.http.credentials import Call, asking_operator
from registry.interfaces.http.problems import EXCEPTION_HANDLERS, ProblemResponse
from registry.interfaces.http.query_string import read_query, required_parameters
from registry.interfaces.http.services import Services
from registry.interfaces.http.strict import StrictRequest
from registry.interfaces.rest.search.search import answer_search
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
        query = plain_query(scope)
        if query is None:
            await self._app(scope, receive, send)
            return
        request = StrictRequest(scope, receive, send)
        try:
            services = self._services()
            operator = await asking_operator(request, services)
            body = _encode(await answer_search(services, query, operator))
        except Exception as error:  # noqa: BLE001 — as the framework does, by one table
            refusal = _respond_to(error, request)
            await refusal.to_asgi_response(None, request)(scope, receive, send)
        else:
            await _send(body, send)


def plain_query(scope: Scope) -> SearchQuery | None:
    """Return None for what has to go the long way."""
    if scope["type"] != ScopeType.HTTP or scope["path"] != PATH:
        return None
    if scope["method"] != "GET" or scope.get("root_path"):
        return None
    if not _is_plain(scope["headers"]):
        return None
    pairs = list(StrictRequest(scope).query_params.multi_items())
    values = dict(pairs)
    if len(values) < len(pairs) or not _REQUIRED <= values.keys() <= _PARAMETERS.keys():
        return None
    try:
        return read_query(values, SearchQuery)
    except (Refused, ValidationException):
        return None


def _is_plain(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Tell whether there is one host, and no origin that awaits an answer of its own."""
    hosts = [value for name, value in headers if name == b"host"]
    names = {name for name, _ in headers}
    return (
        b"origin" not in names
        and len(hosts) == 1
        and _PLAIN_HOST.fullmatch(hosts[0]) is not None
    )


def _respond_to(error: Exception, request: Call) -> ProblemResponse:
    kind = next(row for row in type(error).__mro__ if row in EXCEPTION_HANDLERS)
    response: ProblemResponse = EXCEPTION_HANDLERS[kind](request, error)
    return response


async def _send(body: bytes, send: Send) -> None:
    length = str(len(body)).encode()
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", length),
            ],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": False})
