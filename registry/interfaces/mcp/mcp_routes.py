"""POST /mcp: one message of the Model Context Protocol, and one answer in JSON.

There is no stream for what the server would say by itself: it says nothing, so GET and
DELETE are refused, as the protocol allows.
"""

import asyncio
import re
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

import msgspec
import structlog
from litestar import post
from litestar.types import ASGIApp, Receive, Scope, Send

from registry.errors import Forbidden, traceback_summary
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import (
    EXCEPTION_HANDLERS,
    ProblemResponse,
    respond_to,
)
from registry.interfaces.http.refusals import ORIGIN_MISMATCH
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import MAX_BODY_BYTES, MAX_BODY_DEPTH
from registry.interfaces.http.wab_codes import wab_code_of
from registry.interfaces.mcp.tool_calls import Caller
from registry.interfaces.mcp.tool_table import TOOL
from registry.strict_json import parse_json

logger = structlog.get_logger()

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PARSE_ERROR, INVALID_REQUEST, SERVER_ERROR = -32_700, -32_600, -32_000
_LOOPBACK = re.compile(r"(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?")


class McpTransport:
    """The SDK's transport, which is imported when the first message comes.

    A context manager: it runs until the block ends.
    """

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._running is not None:
            self._running.cancel()
            with suppress(asyncio.CancelledError):
                await self._running

    async def manager(self) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._manager is None or not self._running or self._running.done():
                manager = await asyncio.to_thread(_load)
                started = asyncio.Event()
                self._running = asyncio.create_task(_run(manager, started))
                await started.wait()
                self._manager = manager
        return self._manager


def _load() -> "StreamableHTTPSessionManager":
    from registry.interfaces.mcp.mcp_server import (  # noqa: PLC0415 — see the package
        make_manager,
    )

    return make_manager(version("fair-registry"))


async def _run(manager: "StreamableHTTPSessionManager", started: asyncio.Event) -> None:
    """A manager runs only once: after a failure the next message gets another one."""
    try:
        async with manager.run():
            started.set()
            await asyncio.Event().wait()
    except Exception as error:  # noqa: BLE001 — nobody awaits it
        logger.error("mcp_transport_failed", **traceback_summary(error))  # noqa: TRY400 — messages may hold queries
    finally:
        started.set()


def respond_with_message(request: Call, error: Exception) -> ProblemResponse:
    """Say it as an error of JSON-RPC, whose data is of WAB 1.0, Appendix B."""
    response = respond_to(error, request)
    problem = msgspec.json.decode(response.content)
    status = problem["status"]
    number = INVALID_REQUEST if status < 500 and status != 429 else SERVER_ERROR
    if problem["code"].startswith("json_"):
        number = PARSE_ERROR
    data = {"code": wab_code_of(problem["code"], status), "problem": problem["code"]}
    if retry_after := response.headers.get("Retry-After"):
        data["retryAfter"] = int(retry_after)
    message = {"code": number, "message": problem["detail"], "data": data}
    response.content = msgspec.json.encode(
        {"jsonrpc": "2.0", "id": None, "error": message}
    )
    response.media_type = "application/json"
    return response


@post(
    "/mcp",
    include_in_schema=False,
    status_code=200,
    exception_handlers=dict.fromkeys(EXCEPTION_HANDLERS, respond_with_message),
)
async def answer_message(request: Call, services: Injected) -> ASGIApp:
    _verify_origin(request, services)
    body = await request.body()
    message = parse_json(body, max_depth=MAX_BODY_DEPTH, max_bytes=MAX_BODY_BYTES)
    if not _is_counted(message):
        await services.limits.admit(request.scope, Kind.MESSAGE)
    transport: McpTransport = request.app.state.mcp
    manager = await transport.manager()
    request.scope["state"]["mcp_caller"] = Caller(request, services)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await manager.handle_request(scope, _replay(body, receive), send)  # type: ignore[arg-type] # the same, spelt otherwise

    return answer


def _verify_origin(request: Call, services: Services) -> None:
    """Turn away pages of plain http, but our own: DNS rebinding comes from such.

    Raises: Forbidden.
    """
    origin = request.headers.get("origin")
    if origin is None or origin == services.origin:
        return
    parts = urlsplit(origin)
    is_near = parts.scheme == "http" and _LOOPBACK.fullmatch(parts.netloc)
    if parts.scheme != "https" and not is_near:
        raise Forbidden(ORIGIN_MISMATCH, pointer="Origin")


def _is_counted(message: object) -> bool:
    """Return whether a tool counts the message itself."""
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return False
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    row = TOOL.get(name) if isinstance(name, str) else None
    return row is not None and row.kind is not None


def _replay(body: bytes, receive: Receive) -> Receive:
    """Hand out the body that was read, and then what follows it."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Any:
        return pending.pop() if pending else await receive()

    return replayed
