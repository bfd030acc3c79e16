"""The registry's own discovery documents at the addresses of their formats."""

from typing import Any

from litestar import get

from registry.interfaces.discovery import own_documents
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.services import Injected

HOUR = Conditional("public, max-age=3600")


@get(
    ["/agent.json", "/.well-known/agent.json"],
    include_in_schema=False,
    middleware=[HOUR],
)
async def get_awp(services: Injected) -> dict[str, Any]:
    return own_documents.own_document("awp", services.origin)


@get(
    [own_documents.CATALOGUE, "/.well-known/awas.json"],
    include_in_schema=False,
    middleware=[HOUR],
)
async def get_awas(services: Injected) -> dict[str, Any]:
    return own_documents.own_document("awas", services.origin)


@get(own_documents.MANIFEST, include_in_schema=False, middleware=[HOUR])
async def get_abp(services: Injected) -> dict[str, Any]:
    return own_documents.own_document("abp", services.origin)


@get(
    ["/mcp-manifest.json", "/.well-known/mcp-manifest.json"],
    include_in_schema=False,
    middleware=[HOUR],
)
async def get_mcp_manifest() -> dict[str, Any]:
    return own_documents.mcp_manifest()


@get(
    ["/a2a-manifest.json", "/.well-known/a2a-manifest.json"],
    include_in_schema=False,
    middleware=[HOUR],
)
async def get_a2a_manifest() -> dict[str, Any]:
    return own_documents.a2a_manifest()


@get(
    "/llms.txt", include_in_schema=False, media_type="text/markdown", middleware=[HOUR]
)
async def get_llms_txt(services: Injected) -> str:
    return own_documents.llms_txt(services.origin)


OWN_DOCUMENTS = (
    get_a2a_manifest,
    get_abp,
    get_awas,
    get_awp,
    get_llms_txt,
    get_mcp_manifest,
)
