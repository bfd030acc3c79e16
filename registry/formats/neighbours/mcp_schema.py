"""Schemas of `server.json`, version 2025-12-11 of the MCP registry, and of SEP-1649's card."""

from collections.abc import Mapping
from typing import Any

from registry.formats.reading.conformance import Specification
from registry.formats.reading.schema import FILLED, STRING, members, required

PUBLISHED = "https://static.modelcontextprotocol.io/schemas/"


def _of_length(most: int, example: str) -> dict[str, Any]:
    pattern = rf"^[\s\S]{{1,{most}}}\Z"
    return {"type": "string", "pattern": pattern, "examples": [example]}


_REMOTE = members(
    type=required({"type": "string", "enum": ["streamable-http", "sse"]}),
    url=required(FILLED),
)
_PACKAGE = members(
    registryType=required(FILLED),
    identifier=required(FILLED),
    version=FILLED,
    transport=required(members(type=required(FILLED))),
)
SERVER_JSON = Specification(
    members(
        name=required(
            {
                "type": "string",
                "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+\Z",
                "examples": ["com.example/weather"],
            }
        ),
        title=_of_length(100, "Weather"),
        description=required(_of_length(100, "The weather of tomorrow")),
        version=required(_of_length(255, "1.0.0")),
        websiteUrl=FILLED,
        repository=members(url=required(FILLED), source=required(STRING)),
        packages={"type": "array", "items": _PACKAGE},
        remotes={"type": "array", "items": _REMOTE},
    )
)
SERVER_CARD = Specification(
    members(
        version=required(FILLED),
        protocolVersion=required(FILLED),
        serverInfo=required(members(name=required(FILLED), version=required(FILLED))),
        transport=required(
            members(
                type=required(
                    {"type": "string", "enum": ["streamable-http", "sse", "stdio"]}
                ),
                endpoint=required(FILLED),
            )
        ),
        capabilities=required(members()),
    )
)
SPECIFICATIONS: Mapping[str, Specification] = {
    "/server.schema.json": SERVER_JSON,
    "/mcp-server-card/v1.json": SERVER_CARD,
}
"""Specification of a document by the end of the `$schema` that it declares."""
