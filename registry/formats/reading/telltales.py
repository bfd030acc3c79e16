"""Shapes by which a document tells its format."""

from registry.strict_json import JsonObject, JsonValue


def has_text(members: JsonObject, *names: str) -> bool:
    return any(isinstance(members.get(name), str) for name in names)


def lists_objects_with(value: JsonValue, *names: str) -> bool:
    """Whether an object in the list has a text in one of the members."""
    return isinstance(value, list) and any(
        isinstance(each, dict) and has_text(each, *names) for each in value
    )
