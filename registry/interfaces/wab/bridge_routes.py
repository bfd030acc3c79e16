"""The HTTP transport of the bridge (WAB 1.0, §7.3), and what WAB's own clients call."""

import re
import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import msgspec
from litestar import Response, Router, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, JSONBody

from registry.errors import Forbidden
from registry.interfaces.discovery.own_site import BRIDGE
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.query_string import read_query, required_parameters
from registry.interfaces.wab.agent_exchange import Agent
from registry.interfaces.wab.bridge_command import (
    Command,
    CommandReply,
    Json,
    parse_command,
    verify_id,
)
from registry.interfaces.wab.bridge_document import VERSION
from registry.interfaces.wab.bridge_methods import METHODS
from registry.interfaces.wab.dispatcher import EXECUTE, Dispatcher, refusal
from registry.interfaces.wab.refusals import OTHERS_ACTION
from registry.usecases.search.search_query import SearchQuery

EXPOSED = (
    *("X-WAB-Version", "X-WAB-Request-Id"),
    *("X-WAB-Rate-Remaining", "X-WAB-Rate-Reset"),
)
_REQUEST_ID = re.compile(r"[!-~]{1,128}")
_QUERY = {"wab.getActions": {"category": False}, "wab.getPageInfo": {"siteId": False}}


async def _answer(
    request: Call, method: str, params: Json, **more: Any
) -> Response[bytes]:
    """Answer a command. more: its further members."""
    dispatcher: Dispatcher = request.app.state.bridge
    command = Command(**{"id": None, **more}, method=method, params=params)
    reply = await dispatcher.answer(Agent.of(request), command)
    return _response(request, reply)


def _response(request: Call, reply: CommandReply) -> Response[bytes]:
    """Encode a reply; its id is the command's, else the request's, else one of ours."""
    request_id = _request_id(request)
    if reply.id is None:
        reply = replace(reply, id=request_id or f"http_{secrets.token_hex(8)}")
    headers = {"X-WAB-Version": VERSION, **reply.headers}
    if request_id:
        headers["X-WAB-Request-Id"] = request_id
    return Response(
        msgspec.json.encode(reply.message),
        status_code=reply.status,
        media_type="application/json",
        headers=headers,
    )


def _request_id(request: Call) -> str:
    given = request.headers.get("x-wab-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else ""


def _frame(request: Call, body: Json) -> Json:
    """Return the members of a command that a body may have beside its params.

    Raises: Refused.
    """
    framed = {"method": "", "params": {}, "id": body.get("id", _request_id(request))}
    for name in ("context", "signature"):
        if name in body:
            framed[name] = body[name]
    verify_id(framed["id"])
    command = parse_command({**framed, "id": 0})
    return {
        "id": None if framed["id"] == "" else framed["id"],
        "token": command.token,
        "signature": command.signature,
    }


def _params(body: Json) -> Json:
    frame = {"id", "context", "signature"}
    return {name: value for name, value in body.items() if name not in frame}


def _reading(method: str, path: str) -> HTTPRouteHandler:
    @get(path, include_in_schema=False, query=_QUERY.get(method, {}))
    async def read(request: Call) -> Response[bytes]:
        return await _answer(request, method, dict(request.query_params))

    return read


def _acting(method: str, path: str) -> HTTPRouteHandler:
    @post(path, include_in_schema=False, status_code=200)
    async def act(data: JSONBody[dict[str, Any]], request: Call) -> Response[bytes]:
        frame = _frame(request, data)
        return await _answer(request, method, _params(data), **frame)

    return act


def _methods() -> Iterable[HTTPRouteHandler]:
    for name, method in METHODS.items():
        verb, path = method.http
        yield (_reading if verb == "GET" else _acting)(name, path)


@post("/actions/{name:str}", include_in_schema=False, status_code=200)
async def execute_named(
    name: FromPath[str], data: JSONBody[dict[str, Any]], request: Call
) -> Response[bytes]:
    """Execute the action of the path: what WAB's MCP adapter calls."""
    frame, params = _frame(request, data), _params(data)
    params = {"name": name, "data": params.get("params", params.get("data", {}))}
    return await _answer(request, EXECUTE, params, **frame)


@get("/search", include_in_schema=False, query=required_parameters(SearchQuery))
async def search_by_alias(request: Call) -> Response[bytes]:
    """Search as WAB's MCP adapter does."""
    given = request.query_params
    query = msgspec.to_builtins(read_query(given, SearchQuery))
    data = {name: value for name, value in query.items() if name in given}
    return await _answer(request, EXECUTE, {"name": "searchSites", "data": data})


@post("/api/execute", include_in_schema=False, status_code=200)
async def execute_at_domain(
    data: JSONBody[dict[str, Any]], request: Call
) -> Response[bytes]:
    """Execute an action of our own; of no other site, as a proxy would.

    Raises: Forbidden.
    """
    services = request.app.state.services
    own = urlsplit(services.origin)
    if data.pop("domain", own.hostname) not in (own.hostname, own.netloc):
        raise Forbidden(OTHERS_ACTION, pointer="/domain")
    frame = _frame(request, data)
    return await _answer(request, EXECUTE, _params(data), **frame)


def respond_to_fault(request: Call, error: Exception) -> Response[bytes]:
    return _response(request, refusal(error, None, request=request))


FAULTS: dict[int | type[Exception], Any] = dict.fromkeys(
    EXCEPTION_HANDLERS, respond_to_fault
)
WAB = Router(
    BRIDGE,
    route_handlers=[*_methods(), execute_named, search_by_alias],
    exception_handlers=FAULTS,
)
PROXY = Router("/", route_handlers=[execute_at_domain], exception_handlers=FAULTS)
