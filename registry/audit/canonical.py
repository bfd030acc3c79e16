"""Canonical JSON (RFC 8785), narrowed to what has one spelling without arithmetic.

No fractions: two languages that print a number differently would hash it differently.
Without them the standard encoder writes what RFC 8785 asks for once names are sorted by
their UTF-16 units, at a tenth of the cost of the `rfc8785` library, which is the oracle
in the tests: a record is encoded in every ranked answer.
"""

import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from registry.audit.refusals import RECORD_NOT_CANONICAL
from registry.errors import Refused

JsonValue: TypeAlias = (
    bool | int | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"] | None
)

MAX_INTEGER = 2**53 - 1  # what every reader of JSON can hold exactly

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def canonical_json(value: JsonValue) -> bytes:
    """Raises: Refused on floats, integers beyond 2**53 and lone surrogates."""
    try:
        return _encode(_ordered(value)).encode()
    except (UnicodeEncodeError, RecursionError) as exc:
        detail = "a lone surrogate or too deep a nesting"
        raise Refused(RECORD_NOT_CANONICAL, detail) from exc


def parse_canonical(data: bytes) -> JsonValue:
    """The value whose canonical form is exactly these bytes. Raises: Refused."""
    try:
        value: JsonValue = json.loads(data.decode())
    except (ValueError, RecursionError) as exc:
        raise Refused(RECORD_NOT_CANONICAL, "not JSON in UTF-8") from exc
    if canonical_json(value) != data:
        raise Refused(RECORD_NOT_CANONICAL, "JSON in another than its canonical form")
    return value


def _ordered(value: JsonValue) -> JsonValue:
    """The same, known to be canonical when encoded in the order it now has."""
    if isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise Refused(RECORD_NOT_CANONICAL, "an integer beyond 2**53")
        return value
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {name: _ordered(value[name]) for name in sorted(value, key=_utf_16)}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    raise Refused(RECORD_NOT_CANONICAL, f"no {type(value).__name__} in a record")


def _utf_16(name: str) -> bytes:
    if not isinstance(name, str):
        raise Refused(RECORD_NOT_CANONICAL, "a name that is no string")
    return name.encode("utf-16-be")
