"""What should stand where a document breaks a rule, if there is but one answer."""

import json
import re
from collections.abc import Sequence

from registry.formats.reading.names import match_key
from registry.strict_json import JsonValue

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")
_MAX_SHOWN = 80


def write(repaired: JsonValue) -> str:
    """The repair as an order; "" for None: the value would have to be guessed."""
    if repaired is None:
        return ""
    text = json.dumps(repaired, ensure_ascii=False)
    return f"Write {text}." if len(text) <= _MAX_SHOWN else ""


def choose(value: str, choices: Sequence[str]) -> str | None:
    """The choice that is spelled otherwise, or the only one there is."""
    if len(choices) == 1:
        return choices[0]
    key = match_key(value)
    return next((each for each in choices if match_key(each) == key), None)


def convert(value: JsonValue, expected: str) -> JsonValue:
    """The value as the JSON Schema type `expected`, if its text leaves no choice."""
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
