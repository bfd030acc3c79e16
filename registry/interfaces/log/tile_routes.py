"""The log as C2SP tlog-tiles serves it: /checkpoint and /tile/…, nothing else."""

from http import HTTPStatus
from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from registry.errors import NotFound, Refused, detail_of
from registry.interfaces.http.compression import choose_coding
from registry.interfaces.http.refusals import TILE_UNKNOWN
from registry.interfaces.http.services import Injected
from registry.tlog.tiles import Bundle, Tile, format_tile_path, parse_tile_path

IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable"}
FRESH = {"Cache-Control": "public, max-age=1"}
VARIES = {"Vary": "Accept-Encoding"}


@get("/checkpoint", media_type="text/plain")
async def get_checkpoint(services: Injected) -> Response[bytes]:
    """A C2SP signed note (c2sp.org/tlog-checkpoint)."""
    newest = await services.served.checkpoint()
    if newest is None:
        raise NotFound(TILE_UNKNOWN, "the log has no checkpoint yet")
    return Response(newest.note, headers=FRESH, media_type="text/plain")


@get("/tile/{path:path}", media_type="application/octet-stream")
async def get_tile(
    path: FromPath[str], request: Request[Any, Any, Any], services: Injected
) -> Response[bytes]:
    """Tiles as c2sp.org/tlog-tiles lays them out; full ones never change."""
    part = _parse("tile" + path, request)
    headers = dict(IMMUTABLE)
    zipped = False
    if isinstance(part, Bundle):  # hashes are noise; entries are text
        headers |= VARIES
        accepted = request.headers.get("Accept-Encoding", "")
        zipped = choose_coding(accepted, ["gzip"]) is not None
    content = await services.served.read_part(part, zipped=zipped)
    if content is None:
        raise NotFound(TILE_UNKNOWN)
    if zipped:
        headers["Content-Encoding"] = "gzip"
    return Response(
        content,
        status_code=HTTPStatus.OK,
        headers=headers,
        media_type="application/octet-stream",
    )


def _parse(path: str, request: Request[Any, Any, Any]) -> Tile | Bundle:
    """Raises: NotFound, also for another spelling of a path that there is.

    A cache would keep each spelling for a year.
    """
    with NotFound.on(Refused, TILE_UNKNOWN, detail_of):
        part = parse_tile_path(path)
    raw = request.scope.get("raw_path")
    if raw and bytes(raw).partition(b"?")[0] != b"/" + format_tile_path(part).encode():
        raise NotFound(TILE_UNKNOWN, "a tile's path has one spelling")
    return part
