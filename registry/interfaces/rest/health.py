"""/health and /metrics: for whoever runs the registry."""

from litestar import Response, get
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from registry.errors import Unavailable
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.usecases.refusals import NOT_READY


@get(
    "/health/live",
    operation_id="getLiveness",
    summary="The process runs",
    tags=["operation"],
    responses=problems(),
)
async def get_liveness() -> dict[str, str]:
    return {"status": "live"}


@get(
    "/health/ready",
    operation_id="getReadiness",
    summary="Searches can be answered",
    tags=["operation"],
    responses=problems(),
)
async def get_readiness(services: Injected) -> dict[str, str]:
    if not await services.searcher.is_ready():
        raise Unavailable(NOT_READY, retry_after_s=1)
    room = services.room
    return {
        "status": "ready",
        "anonymous": f"turned away: {room.shortage}" if room.is_short else "answered",
    }


@get("/metrics", include_in_schema=False)
async def get_metrics() -> Response[bytes]:
    media_type = CONTENT_TYPE_LATEST.removesuffix("; charset=utf-8")  # Litestar adds it
    return Response(generate_latest(), media_type=media_type)
