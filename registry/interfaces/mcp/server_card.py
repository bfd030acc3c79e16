"""The MCP server as it is published: a server card, and server.json of the MCP registry."""

from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from litestar import get

from registry.interfaces.http.conditional import HOUR
from registry.interfaces.http.services import Injected
from registry.interfaces.mcp.tool_table import INSTRUCTIONS, TOOLS, Json

SCHEMAS = "https://static.modelcontextprotocol.io/schemas"
PROTOCOL = "2025-11-25"
TITLE = "Fair Registry"
ABOUT = (
    "Finds sites that agents can use, ranked by fit alone; every answer is on record."
)


def server_card(origin: str) -> Json:
    """Return the card of /.well-known/mcp/server-card.json (SEP-1649)."""
    return {
        "$schema": f"{SCHEMAS}/mcp-server-card/v1.json",
        "version": "1.0",
        "protocolVersion": PROTOCOL,
        "serverInfo": {"name": "fair-registry", "title": TITLE, "version": _version()},
        "description": ABOUT,
        "documentationUrl": f"{origin}/openapi",
        "transport": {
            "type": "streamable-http",
            "endpoint": f"{origin}/mcp",
            "url": f"{origin}/mcp",
        },
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "authentication": {"required": False, "schemes": ["bearer"]},
        "instructions": INSTRUCTIONS,
        "tools": [
            {
                "name": row.name,
                "title": row.title,
                "description": row.description,
                "inputSchema": row.takes,
                "annotations": {"readOnlyHint": row.is_read_only},
            }
            for row in TOOLS
        ],
    }


def server_json(origin: str) -> Json:
    """Return what an owner hands to the MCP registry. Its name is the host, reversed."""
    host = urlsplit(origin).hostname or ""
    return {
        "$schema": f"{SCHEMAS}/2025-12-11/server.schema.json",
        "name": f"{'.'.join(reversed(host.split('.')))}/fair-registry",
        "title": TITLE,
        "description": ABOUT,
        "version": _version(),
        "websiteUrl": origin,
        "remotes": [{"type": "streamable-http", "url": f"{origin}/mcp"}],
    }


def _version() -> str:
    return version("fair-registry")


@get(
    ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json"],
    include_in_schema=False,
    middleware=[HOUR],
)
async def get_server_card(services: Injected) -> dict[str, Any]:
    return server_card(services.origin)


@get("/server.json", include_in_schema=False, middleware=[HOUR])
async def get_server_json(services: Injected) -> dict[str, Any]:
    return server_json(services.origin)
