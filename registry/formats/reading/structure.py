"""Tests of a document's structure that detectors share."""

from registry.strict_json import JsonObject, JsonValue


def has_text(members: JsonObject, *names: str) -> bool:
    return any(isinstance(members.get(name), str) for name in names)


def lists_objects_with(value: JsonValue, *names: str) -> bool:
    """Return whether an object in the list has a text in one of the members."""
    return isinstance(value, list) and any(
        isinstance(item, dict) and has_text(item, *names) for item in value
    )
