"""Limits of nesting in a discovery document, apart for the JSON Schemas in it."""

import re
from collections.abc import Iterator

from registry.errors import Refused
from registry.strict_json import JSON_TOO_DEEP, JsonValue, join_pointer

# Members whose value is a JSON Schema, or data that nobody reads: `inputSchema`,
# `return_schema`, `example`. What another member holds is told by its content.
_SCHEMA_NAME = re.compile(r"(?i:.*schema|parameters|examples?)")
_TYPES = frozenset(
    {"object", "array", "string", "number", "integer", "boolean", "null"}
)
_DESCRIBING = frozenset(
    {"properties", "items", "prefixItems", "additionalProperties", "patternProperties"}
)
_REFERRING = frozenset({"$ref", "$schema", "$defs", "allOf", "anyOf", "oneOf"})


def check_depth(value: JsonValue, *, max_depth: int, max_schema_depth: int) -> None:
    """Check `max_depth` of a manifest, and `max_schema_depth` of each JSON Schema in it.

    Raises: Refused (json_too_deep).
    """
    pending = [(value, "", 1, False)]
    while pending:
        container, pointer, depth, in_schema = pending.pop()
        limit = max_schema_depth if in_schema else max_depth
        if depth > limit:
            raise Refused(JSON_TOO_DEEP, f"more than {limit} levels", pointer=pointer)
        for name, member in _containers_in(container):
            inside = join_pointer(pointer, name)
            is_named = isinstance(container, dict) and _SCHEMA_NAME.fullmatch(name)
            if not in_schema and (is_named or _is_schema(member)):
                pending.append((member, inside, 1, True))
            else:
                pending.append((member, inside, depth + 1, in_schema))


def _is_schema(value: JsonValue) -> bool:
    """Tell a JSON Schema with parts by its content, whatever the member is called."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    is_typed = isinstance(kind, str) and kind in _TYPES
    names = value.keys()
    return not _REFERRING.isdisjoint(names) or (
        is_typed and not _DESCRIBING.isdisjoint(names)
    )


def _containers_in(container: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yield the arrays and objects directly within, by name or index."""
    if isinstance(container, list):
        for index, item in enumerate(container):
            if isinstance(item, list | dict):
                yield str(index), item
    elif isinstance(container, dict):
        for name, member in container.items():
            if isinstance(member, list | dict):
                yield name, member
