"""Schema of an agent card by A2A 1.0, section 4.4.1, as far as JSON Schema can express it."""

from typing import Any

from registry.formats.reading.conformance import Specification

_STRING = {"type": "string"}
_FILLED = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": _STRING}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


_INTERFACE = _object(
    "url",
    "protocolBinding",
    "protocolVersion",
    url=_FILLED,
    protocolBinding=_FILLED,
    protocolVersion=_FILLED,
)
_SKILL = _object(
    "id",
    "name",
    "description",
    "tags",
    id=_FILLED,
    name=_FILLED,
    description=_FILLED,
    tags=_TEXTS,
    examples=_TEXTS,
    inputModes=_TEXTS,
    outputModes=_TEXTS,
)
AGENT_CARD_1_0 = Specification(
    _object(
        "name",
        "description",
        "version",
        "supportedInterfaces",
        "capabilities",
        "defaultInputModes",
        "defaultOutputModes",
        "skills",
        name=_FILLED,
        description=_FILLED,
        version=_FILLED,
        supportedInterfaces={"type": "array", "minItems": 1, "items": _INTERFACE},
        provider=_object("organization", "url", organization=_FILLED, url=_FILLED),
        capabilities={"type": "object"},
        defaultInputModes=_TEXTS,
        defaultOutputModes=_TEXTS,
        skills={"type": "array", "items": _SKILL},
    )
)
