"""The log as C2SP tlog-tiles serves it: /checkpoint and /tile/…, nothing else."""

from http import HTTPStatus

from litestar import Response, get
from litestar.params import FromPath

from registry.db import log
from registry.db.engine import Connection
from registry.errors import NotFound, Refused
from registry.interfaces.http.problems import problems
from registry.interfaces.http.refusals import TILE_UNKNOWN
from registry.interfaces.http.services import Injected
from registry.tlog.tiles import (
    Bundle,
    Tile,
    encode_bundle,
    is_in_tree,
    parse_tile_path,
)

IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable"}
FRESH = {"Cache-Control": "public, max-age=1"}


@get(
    "/checkpoint",
    operation_id="getCheckpoint",
    summary="The newest signed checkpoint",
    tags=["log"],
    media_type="text/plain",
    responses=problems(404),
)
async def get_checkpoint(services: Injected) -> Response[bytes]:
    async with services.api.connect() as connection:
        newest = await log.latest_checkpoint(connection)
    if newest is None:
        raise NotFound(TILE_UNKNOWN, "the log has no checkpoint yet")
    return Response(newest.note.encode(), headers=FRESH, media_type="text/plain")


@get(
    "/tile/{path:path}",
    operation_id="getTile",
    summary="A tile of hashes, or a bundle of entries",
    tags=["log"],
    media_type="application/octet-stream",
    responses=problems(404),
)
async def get_tile(path: FromPath[str], services: Injected) -> Response[bytes]:
    try:
        part = parse_tile_path("tile/" + path.lstrip("/"))
    except Refused as error:
        raise NotFound(TILE_UNKNOWN, error.problem.detail) from error
    async with services.api.connect() as connection:
        newest = await log.latest_checkpoint(connection)
        if newest is None or not is_in_tree(part, newest.size):
            raise NotFound(TILE_UNKNOWN)
        content = await _read(connection, part)
    return Response(
        content,
        status_code=HTTPStatus.OK,
        headers=IMMUTABLE,
        media_type="application/octet-stream",
    )


async def _read(connection: Connection, part: Tile | Bundle) -> bytes:
    if isinstance(part, Bundle):
        bodies = await log.read_bodies(connection, part.first, part.width)
        return encode_bundle(bodies)
    run = part.run
    return b"".join(await log.read_hashes(connection, run.level, run.first, run.count))
