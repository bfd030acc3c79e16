"""Parts of which the formats' specifications are put together as JSON Schema."""

from typing import Any

STRING = {"type": "string"}
FILLED = {"type": "string", "minLength": 1}
BOOLEAN = {"type": "boolean"}
TEXTS = {"type": "array", "items": STRING}


class _Required(dict[str, Any]):
    """Schema of a member that must be there."""


def required(schema: dict[str, Any]) -> dict[str, Any]:
    return _Required(schema)


def members(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with these members, others allowed."""
    names = [
        name for name, schema in properties.items() if isinstance(schema, _Required)
    ]
    return {"type": "object", "required": names, "properties": properties}
