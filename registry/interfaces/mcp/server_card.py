"""The MCP server as it is published: a server card (SEP-1649)."""

from typing import Any

from litestar import get

from registry.interfaces.discovery.own_documents import own_manifest
from registry.interfaces.http.conditional import HOUR
from registry.interfaces.http.services import Injected
from registry.interfaces.mcp.tool_table import INSTRUCTIONS, TOOLS, Json


def server_card(origin: str) -> Json:
    return {
        **own_manifest("mcp-server-card", origin),
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


@get(
    ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json"],
    include_in_schema=False,
    middleware=[HOUR],
)
async def get_server_card(services: Injected) -> dict[str, Any]:
    return server_card(services.origin)
