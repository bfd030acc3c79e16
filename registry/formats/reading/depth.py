"""How deep a discovery document may be nested: schemas in it count on their own."""

from collections.abc import Iterator

from registry.errors import Refused
from registry.strict_json import JSON_TOO_DEEP, JsonValue, join_pointer

# Members whose value is a JSON Schema: their depth counts on its own.
SCHEMA_MEMBERS = frozenset(
    {
        "inputSchema",
        "input_schema",
        "outputSchema",
        "output_schema",
        "requestSchema",
        "request_schema",
        "responseSchema",
        "response_schema",
        "parameters",
        "schema",
    }
)


def check_depth(value: JsonValue, *, max_depth: int, max_schema_depth: int) -> None:
    """A manifest may be `max_depth` deep, each JSON Schema in it `max_schema_depth`.

    A member is taken for a schema by its name.
    Raises: Refused (json_too_deep).
    """
    pending = [(value, "", 1, False)]
    while pending:
        container, pointer, depth, in_schema = pending.pop()
        limit = max_schema_depth if in_schema else max_depth
        if depth > limit:
            raise Refused(JSON_TOO_DEEP, f"more than {limit} levels", pointer=pointer)
        for name, member in _containers_in(container):
            inside = join_pointer(pointer, name) if name else pointer
            if name in SCHEMA_MEMBERS and not in_schema:
                pending.append((member, inside, 1, True))
            else:
                pending.append((member, inside, depth + 1, in_schema))


def _containers_in(container: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """The arrays and objects directly within, with their names in an object."""
    if isinstance(container, list):
        for item in container:
            if isinstance(item, list | dict):
                yield "", item
    elif isinstance(container, dict):
        for name, member in container.items():
            if isinstance(member, list | dict):
                yield name, member
