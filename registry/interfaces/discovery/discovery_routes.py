"""The registry's own discovery documents at the addresses of their formats."""

from collections.abc import Callable
from functools import partial
from typing import Any

from litestar import get
from litestar.handlers import HTTPRouteHandler

from registry.interfaces.discovery.own_documents import (
    CATALOGUE,
    MANIFEST,
    a2a_manifest,
    llms_txt,
    mcp_manifest,
    own_document,
)
from registry.interfaces.http.conditional import HOUR
from registry.interfaces.http.services import Injected


def _serve(
    paths: list[str], document: Callable[[str], dict[str, Any]]
) -> HTTPRouteHandler:
    """Return the route of a document, which is made of the registry's origin."""

    @get(paths, include_in_schema=False, middleware=[HOUR])
    async def read(services: Injected) -> dict[str, Any]:
        return document(services.origin)

    return read


@get(
    "/llms.txt", include_in_schema=False, media_type="text/markdown", middleware=[HOUR]
)
async def get_llms_txt(services: Injected) -> str:
    return llms_txt(services.origin)


OWN_DOCUMENTS = (
    _serve(["/agent.json", "/.well-known/agent.json"], partial(own_document, "awp")),
    _serve([CATALOGUE, "/.well-known/awas.json"], partial(own_document, "awas")),
    _serve([MANIFEST], partial(own_document, "abp")),
    _serve(
        ["/mcp-manifest.json", "/.well-known/mcp-manifest.json"],
        lambda _: mcp_manifest(),
    ),
    _serve(
        ["/a2a-manifest.json", "/.well-known/a2a-manifest.json"],
        lambda _: a2a_manifest(),
    ),
    get_llms_txt,
)
