"""Comparing a document with its specification, written as JSON Schema.

Every violation becomes a deviation with pointer, rule and a way to mend it. Read are the
few keywords the formats' schemas use, in one pass that ends at the last deviation kept:
the validators at hand take seconds for the 150,000 violations that fit into 512 KiB. That
the verdicts are theirs is tested against one of them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from registry.formats.names import match_key
from registry.formats.reader import MAX_DEVIATIONS, Reader, kind_of
from registry.strict_json import JsonValue, join_pointer

Schema: TypeAlias = dict[str, Any]
_Path: TypeAlias = tuple["_Path", str] | None
"""The innermost step last; spelled as a pointer only when something is amiss."""

_TYPE_NAMES = {
    "string": "a string",
    "boolean": "a boolean",
    "integer": "a whole number",
    "number": "a number",
    "array": "an array",
    "object": "an object",
}
_PYTHON_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "array": list,
    "object": dict,
}
_KEYWORDS = frozenset(
    {"type", "const", "enum", "pattern", "minLength", "minimum", "minItems"}
    | {"required", "properties", "additionalProperties", "items"}
)


_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_MAX_SHOWN = 80


class Specification:
    """A format's rules as far as JSON Schema can say them.

    Raises: ValueError if the schema holds a keyword that would not be checked.
    """

    def __init__(self, schema: Schema) -> None:
        for keyword in _keywords_in(schema):
            if keyword not in _KEYWORDS:
                raise ValueError(f"{keyword} is not checked")
        self.schema = schema

    def compare(self, document: Reader) -> None:
        """Note the departures of the document in its ledger, the first hundred."""
        comparison = _Comparison(document)
        comparison.check(document.value, self.schema, None)


def _keywords_in(schema: Schema) -> Iterator[str]:
    yield from schema
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield from _keywords_in(schema[name])
    for member in schema.get("properties", {}).values():
        yield from _keywords_in(member)


class _Comparison:
    """Goes no deeper than the schema does, so depth of a document exhausts no stack."""

    def __init__(self, document: Reader) -> None:
        self._document = document
        self._left = MAX_DEVIATIONS

    def check(self, value: JsonValue, schema: Schema, path: _Path) -> None:
        if self._left <= 0:
            return
        expected = schema.get("type")
        if expected is not None and not _is_of_type(value, expected):
            self._note_type(value, schema, path)
        elif isinstance(value, dict):
            self._check_object(value, schema, path)
        elif isinstance(value, list):
            self._check_array(value, schema, path)
        elif isinstance(value, str):
            self._check_text(value, schema, path)
        elif "minimum" in schema and isinstance(value, int | float):
            least = schema["minimum"]
            if value < least:
                self._note(path, "minimum", f"below {least}", f"Use at least {least}.")

    def _check_object(
        self, value: dict[str, JsonValue], schema: Schema, path: _Path
    ) -> None:
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                only = properties.get(name, {}).get("const")
                fix = f"Add {name}." if only is None else f'Add {name}: "{only}".'
                self._note((path, name), "required", f"{name} is missing", fix)
        for name, member in properties.items():
            if name in value:
                self.check(value[name], member, (path, name))
        others = schema.get("additionalProperties")
        if others is not None:
            for name, other in value.items():
                if name not in properties:
                    self.check(other, others, (path, name))

    def _check_array(self, value: list[JsonValue], schema: Schema, path: _Path) -> None:
        least = schema.get("minItems", 0)
        if len(value) < least:
            self._note(path, "minItems", "is empty", f"List at least {least}.")
        items = schema.get("items")
        if items is not None:
            for index, item in enumerate(value):
                if self._left <= 0:
                    return
                self.check(item, items, (path, str(index)))

    def _check_text(self, value: str, schema: Schema, path: _Path) -> None:
        choices = schema.get("enum") or _only(schema.get("const"))
        pattern = schema.get("pattern")
        if choices and value not in choices:
            fix = (
                _write(_choose(value, choices)) or f"Use one of: {', '.join(choices)}."
            )
            self._note(path, "value", "not one of the specified values", fix)
        elif pattern is not None and not re.search(pattern, value):
            fix = f"It must match {pattern}."
            self._note(path, "pattern", "not of the specified form", fix)
        elif len(value) < schema.get("minLength", 0):
            self._note(path, "minLength", "is empty", "Give it content.")

    def _note_type(self, value: JsonValue, schema: Schema, path: _Path) -> None:
        expected = schema["type"]
        name = _TYPE_NAMES[expected]
        detail = f"{kind_of(value)} where {name} is specified"
        repaired = schema.get("const", _convert(value, expected))
        self._note(path, "type", detail, _write(repaired) or f"Make it {name}.")

    def _note(self, path: _Path, rule: str, detail: str, fix: str) -> None:
        self._left -= 1
        pointer = _spell(self._document.pointer, path)
        self._document.ledger.note(pointer, rule, detail, fix)


def _only(value: str | None) -> list[str]:
    return [] if value is None else [value]


# --- repaired values, where there is but one ------------------------------------------


def _write(repaired: JsonValue) -> str:
    """The repair as an order; "" where the value is not to be guessed."""
    if repaired is None:
        return ""
    text = json.dumps(repaired, ensure_ascii=False)
    return f"Write {text}." if len(text) <= _MAX_SHOWN else ""


def _choose(value: str, choices: list[str]) -> str | None:
    """The only choice there is, or the one that is spelled otherwise."""
    meant = [each for each in choices if match_key(each) == match_key(value)]
    found = meant or (choices if len(choices) == 1 else [])
    return found[0] if found else None


def _convert(value: JsonValue, expected: str) -> JsonValue:
    """The value as the expected type, if its text leaves no choice."""
    match expected, value:
        case "string", bool() | int() | float():
            return json.dumps(value)
        case "boolean", str():
            return {"true": True, "false": False}.get(value.strip().lower())
        case "array", str() | bool() | int() | float():
            return [value]
        case "integer" | "number", str():
            return _number(value)
        case _:
            return None


def _number(text: str) -> JsonValue:
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    return float(found[0]) if "." in found[0] else int(found[0])


def _is_of_type(value: JsonValue, expected: str) -> bool:
    if isinstance(value, bool):
        return expected == "boolean"
    if expected == "integer":
        return isinstance(value, int | float) and value == int(value)
    return isinstance(value, _PYTHON_TYPES[expected])


def _spell(pointer: str, path: _Path) -> str:
    if path is None:
        return pointer
    parent, step = path
    return join_pointer(_spell(pointer, parent), step)
