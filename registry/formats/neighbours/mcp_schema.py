"""Schemas of `server.json`, version 2025-12-11 of the MCP registry, and of SEP-1649's card."""

from collections.abc import Mapping
from typing import Any

from registry.formats.reading.conformance import Specification

PUBLISHED = "https://static.modelcontextprotocol.io/schemas/"
_STRING = {"type": "string"}
_FILLED = {"type": "string", "minLength": 1}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def _of_length(most: int, example: str) -> dict[str, Any]:
    pattern = rf"^[\s\S]{{1,{most}}}\Z"
    return {"type": "string", "pattern": pattern, "examples": [example]}


_REMOTE = _object(
    "type",
    "url",
    type={"type": "string", "enum": ["streamable-http", "sse"]},
    url=_FILLED,
)
_PACKAGE = _object(
    "registryType",
    "identifier",
    "transport",
    registryType=_FILLED,
    identifier=_FILLED,
    version=_FILLED,
    transport=_object("type", type=_FILLED),
)
SERVER_JSON = Specification(
    _object(
        "name",
        "description",
        "version",
        name={
            "type": "string",
            "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+\Z",
            "examples": ["com.example/weather"],
        },
        title=_of_length(100, "Weather"),
        description=_of_length(100, "The weather of tomorrow"),
        version=_of_length(255, "1.0.0"),
        websiteUrl=_FILLED,
        repository=_object("url", "source", url=_FILLED, source=_STRING),
        packages={"type": "array", "items": _PACKAGE},
        remotes={"type": "array", "items": _REMOTE},
    )
)
SERVER_CARD = Specification(
    _object(
        *("version", "protocolVersion", "serverInfo", "transport", "capabilities"),
        version=_FILLED,
        protocolVersion=_FILLED,
        serverInfo=_object("name", "version", name=_FILLED, version=_FILLED),
        transport=_object(
            *("type", "endpoint"),
            type={"type": "string", "enum": ["streamable-http", "sse", "stdio"]},
            endpoint=_FILLED,
        ),
        capabilities=_object(),
    )
)
SPECIFICATIONS: Mapping[str, Specification] = {
    "/server.schema.json": SERVER_JSON,
    "/mcp-server-card/v1.json": SERVER_CARD,
}
"""Specification of a document by the end of the `$schema` that it declares."""
