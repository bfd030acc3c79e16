"""The faces of the log over a database of the test's own, without processes."""

from types import SimpleNamespace
from typing import Any

import httpx
from litestar import Litestar, Router
from litestar.di import Provide

from registry.interfaces.http.envelope import Envelope
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.strict import StrictRequest, verify_query
from registry.interfaces.log import tile_routes as tiles
from registry.interfaces.rest.log import proofs
from registry.interfaces.rest.log import proofs as log
from registry.interfaces.rest.search import rankings


def open_client(**services: Any) -> httpx.AsyncClient:
    """services: those that the handlers ask for."""
    simple_namespace = SimpleNamespace(**services)

    async def give() -> Any:
        return simple_namespace

    versioned = Router(
        "/v1",
        route_handlers=[
            log.prove_consistency,
            log.prove_inclusion,
            rankings.erase,
            rankings.get_ranking,
            rankings.prove_ranking,
            proofs.get_record,
            proofs.get_record_proof,
        ],
    )
    app = Litestar(
        route_handlers=[versioned, tiles.get_checkpoint, tiles.get_tile],
        dependencies={"services": Provide(give)},
        exception_handlers=EXCEPTION_HANDLERS,
        guards=[verify_query],
        logging_config=None,
        request_class=StrictRequest,
    )
    app.asgi_handler = Envelope(app.asgi_handler)
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="https://registry.example"
    )
