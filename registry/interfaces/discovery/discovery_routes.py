"""The registry's own discovery documents at the addresses of their formats."""

from collections.abc import Callable
from functools import partial
from typing import Any

from litestar import get
from litestar.handlers import HTTPRouteHandler

from registry.interfaces.discovery.own_documents import (
    llms_txt,
    own_document,
    own_manifest,
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


def _at_both(name: str) -> list[str]:
    return [f"/{name}", f"/.well-known/{name}"]


OWN_DOCUMENTS = (
    _serve(_at_both("agent.json"), partial(own_document, "awp")),
    _serve(
        ["/.well-known/ai-actions.json", "/.well-known/awas.json"],
        partial(own_document, "awas"),
    ),
    _serve(["/abp-manifest.json"], partial(own_document, "abp")),
    _serve(_at_both("mcp-manifest.json"), partial(own_manifest, "mcp")),
    _serve(_at_both("a2a-manifest.json"), partial(own_manifest, "a2a")),
    _serve(["/server.json"], partial(own_manifest, "mcp-registry")),
    _serve(
        ["/.well-known/ard.json", "/.well-known/ai-catalog.json"],
        partial(own_manifest, "ard"),
    ),
    get_llms_txt,
)
