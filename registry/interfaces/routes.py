"""Routes of all faces: which modules have handlers, and below which path."""

from collections.abc import Iterator
from types import ModuleType

from litestar import Router
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler, WebsocketRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import ControllerRouterHandler

from registry.interfaces.ard import ard_routes
from registry.interfaces.discovery import discovery_routes
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.log import tile_routes
from registry.interfaces.mcp import mcp_routes, server_card
from registry.interfaces.rest import health, operators, webhook_routes
from registry.interfaces.rest.idempotency import AnsweredBefore
from registry.interfaces.rest.labels import labels
from registry.interfaces.rest.log import about, attestations, proofs
from registry.interfaces.rest.registration import registrations
from registry.interfaces.rest.reports import (
    exposure_routes,
    invariance,
    kept_reports,
    reports,
)
from registry.interfaces.rest.search import (
    counterfactuals,
    policy,
    rankings,
    search,
    selections,
)
from registry.interfaces.rest.sites import (
    changes,
    lint,
    notices,
    profile_proofs,
    refresh,
    sites,
)
from registry.interfaces.wab import (
    bridge_document,
    bridge_routes,
    domain_trust,
    socket_routes,
)
from registry.interfaces.web import openapi, pages, static_files


def _handlers_in(*modules: ModuleType) -> Iterator[ControllerRouterHandler]:
    """Yield the handlers that the modules themselves define."""
    for module in modules:
        for value in vars(module).values():
            if (
                isinstance(value, HTTPRouteHandler | WebsocketRouteHandler)
                and value.fn.__module__ == module.__name__
            ):
                yield value


def _without_options(router: Router) -> Router:
    """Return the router without its answers to OPTIONS: the application adds its own.

    Litestar makes them when the first handler of a path is registered, and their `Allow`
    would lack the methods of the later ones.
    """
    for route in router.routes:
        if isinstance(route, HTTPRoute):
            route.route_handlers = [
                handler
                for handler in route.route_handlers
                if HttpMethod.OPTIONS not in handler.http_methods
            ]
    return router


V1 = _without_options(
    Router(
        "/v1",
        middleware=[Conditional()],
        exception_handlers={AnsweredBefore: lambda _, before: before.answer},
        route_handlers=[
            *_handlers_in(about, attestations, changes, counterfactuals),
            *_handlers_in(exposure_routes, invariance, kept_reports, labels, lint),
            *_handlers_in(notices, operators, policy, profile_proofs, rankings),
            *_handlers_in(proofs, refresh, registrations, reports, search),
            *_handlers_in(selections, sites, webhook_routes),
        ],
    )
)
AT_THE_ROOT: list[ControllerRouterHandler] = [
    *_handlers_in(health, tile_routes, mcp_routes, server_card, bridge_document),
    *_handlers_in(openapi, pages, socket_routes, static_files),
    *discovery_routes.OWN_DOCUMENTS,
    ard_routes.ARD,
    bridge_routes.WAB,
    bridge_routes.PROXY,
    domain_trust.TRUST,
]
EXPOSED_HEADERS = [
    *("ETag", "Location", "Retry-After"),
    *("RateLimit", "RateLimit-Policy", "X-Request-Id"),
    *("X-JWS-Signature", kept_reports.LEAF_HEADER),
    *bridge_routes.EXPOSED,
]
