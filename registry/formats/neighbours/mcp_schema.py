"""Schema of `server.json` as the MCP registry publishes it, version 2025-12-11."""

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
