"""/health: for the owner of the registry."""

from litestar import get

from registry.interfaces.http.services import Injected


@get("/health/live")
async def get_liveness() -> dict[str, str]:
    """Liveness is that of the process, whatever became of the rest."""
    return {"status": "live"}


@get("/health/ready")
async def get_readiness(services: Injected) -> dict[str, str]:
    """Answer 503 while searches can't be answered, or a part shows no work.

    That is code `part_silent`, with one member of `errors` for each such part, whose
    `pointer` is `crawler` or, for the index builder of this machine, `indexer`.
    FAIR_REGISTRY_CRAWLERS=0 says that there is to be no crawler. `anonymous` tells
    whether anonymous askers are answered, or turned away for want of disk or log.
    """
    await services.readiness.verify()
    room = services.room
    return {
        "status": "ready",
        "anonymous": f"turned away: {room.shortage}" if room.is_short else "answered",
    }
