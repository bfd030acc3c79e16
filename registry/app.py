"""The application of the web processes: its routes, and the services that they call."""

import os

# More threads of BLAS would spin beside each other: a request took 38 ms of CPU, not 5.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from granian.utils.proxies import wrap_asgi_with_proxy_headers
from litestar import Litestar
from litestar.config.cors import CORSConfig
from litestar.di import Provide
from litestar.types import ASGIApp, Receive, Scope, Send

from registry.garbage_collection import collect_less_often
from registry.interfaces.http.compression import Compression
from registry.interfaces.http.envelope import Envelope
from registry.interfaces.http.services import Services
from registry.interfaces.http.strict import (
    MAX_BODY_BYTES,
    StrictRequest,
    verify_head,
    verify_query,
)
from registry.interfaces.mcp.mcp_routes import McpTransport
from registry.interfaces.rest.search.search_shortcut import SearchShortcut
from registry.interfaces.routes import AT_THE_ROOT, EXPOSED_HEADERS, V1
from registry.interfaces.wab.command_log import CommandLog
from registry.interfaces.wab.dispatcher import Dispatcher
from registry.interfaces.wab.seen_commands import SeenCommands
from registry.interfaces.wab.socket_routes import SocketMemory
from registry.interfaces.web import openapi
from registry.interfaces.web.problem_page import PAGE_EXCEPTION_HANDLERS
from registry.observability import configure_logging, metrics_of_process, metrics_served
from registry.open_services import open_services
from registry.process import beat, is_supervised, raise_file_limit
from registry.settings import Settings
from registry.settings_reader import read_settings
from registry.usecases.background import unfailing
from registry.web.own_sockets import end_unread_connections, received_bytes

OPEN_FILES = 20_000  # connections, and what a process opens otherwise


def create_app_from_environment() -> ASGIApp:
    """Create the application that granian starts, behind the proxies that are trusted."""
    settings = read_settings(os.environ)
    collect_less_often()
    raise_file_limit(OPEN_FILES)
    app = create_app(settings)
    if not settings.trusted_proxies:
        return app
    behind: ASGIApp = wrap_asgi_with_proxy_headers(app, settings.trusted_proxies)

    async def app_behind(scope: Scope, receive: Receive, send: Send) -> None:
        scope["peer"] = scope.get("client")  # type: ignore[typeddict-unknown-key] # ours
        await behind(scope, receive, send)

    return app_behind


def create_app(settings: Settings) -> Litestar:
    """The web application. The database must be migrated and the keyring made."""
    configure_logging(settings.log_format, settings.log_level)

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        beside = [asyncio.create_task(beat())]
        at = None if is_supervised() else settings.metrics_at
        with metrics_served(at, metrics_of_process()):
            async with open_services(settings) as services, McpTransport() as mcp:
                app.state.services, app.state.mcp = services, mcp
                app.state.bridge = _bridge(settings, services)
                app.state.socket_memory = SocketMemory(received_bytes)
                beside.append(asyncio.create_task(unfailing(end_unread_connections)))
                yield
        for task in beside:
            task.cancel()

    async def services() -> Services:
        injected: Services = app.state.services
        return injected

    app = Litestar(
        route_handlers=[V1, *AT_THE_ROOT],
        cors_config=CORSConfig(allow_origins=["*"], expose_headers=EXPOSED_HEADERS),
        dependencies={"services": Provide(services)},
        exception_handlers=PAGE_EXCEPTION_HANDLERS,
        guards=[verify_head, verify_query],
        lifespan=[lifespan],
        logging_config=None,
        openapi_config=openapi.OPENAPI,
        request_class=StrictRequest,
        request_max_body_size=MAX_BODY_BYTES,
    )
    shortcut = SearchShortcut(app.asgi_handler, lambda: app.state.services)
    app.asgi_handler = Envelope(Compression(shortcut))
    return app


def _bridge(settings: Settings, services: Services) -> Dispatcher:
    key = services.web_key
    return Dispatcher(
        services,
        SeenCommands(settings.run_folder, key),
        CommandLog(settings.data / "commands", key),
    )
