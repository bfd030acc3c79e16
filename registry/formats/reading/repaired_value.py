"""Repair of a value that breaks a rule, if there is only one answer."""

import json
import re
from collections.abc import Sequence

from registry.formats.reading.name_folding import match_key
from registry.strict_json import JsonValue

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_MAX_SHOWN = 80


def write(repaired: JsonValue) -> str:
    """Format the repair as an instruction; "" for None: it would be a guess."""
    if repaired is None:
        return ""
    text = json.dumps(repaired, ensure_ascii=False)
    return f"Write {text}." if len(text) <= _MAX_SHOWN else ""


def choose(value: str, choices: Sequence[str]) -> str | None:
    """Return the choice that differs in spelling alone, or the only one there is."""
    if len(choices) == 1:
        return choices[0]
    key = match_key(value)
    return next((choice for choice in choices if match_key(choice) == key), None)


def convert(value: JsonValue, expected: str) -> JsonValue:
    """Convert the value to the JSON Schema type `expected`, if it is unambiguous."""
    match expected, value:
        case "string", int() | float() if not isinstance(value, bool):
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
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    return float(match[0]) if "." in match[0] else int(match[0])
