"""Canonical JSON (RFC 8785), narrowed to what has one spelling without arithmetic.

No fractions: two languages that print a number differently would hash it differently.
Without them msgspec's encoder writes what RFC 8785 asks for once names are sorted by
their UTF-16 units, at a fraction of the cost of the `rfc8785` library, which is the
oracle in the tests: a record is encoded in every ranked answer.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TypeAlias

import msgspec

from registry.errors import Refused
from registry.records.refusals import RECORD_NOT_CANONICAL

JsonValue: TypeAlias = (
    bool
    | int
    | str
    | Sequence["JsonValue"]
    | Mapping[str, "JsonValue"]
    | msgspec.Raw
    | None
)
"""Raw: bytes that their writer knows to be canonical. None is ever read."""

MAX_INTEGER = 2**53 - 1  # what every reader of JSON can hold exactly

_encode = msgspec.json.Encoder().encode


def canonical_json(value: JsonValue) -> bytes:
    """Raises: Refused on floats, integers beyond 2**53 and lone surrogates."""
    try:
        return _encode(_ordered(value))
    except (UnicodeEncodeError, RecursionError) as exc:
        detail = "a lone surrogate or too deep a nesting"
        raise Refused(RECORD_NOT_CANONICAL, detail) from exc


def digest_of(data: bytes) -> str:
    """`sha256:` and 64 hex digits, as records name policies, code and signed texts."""
    return f"sha256:{sha256(data).hexdigest()}"


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
    kind = type(value)
    if kind is str or kind is bool or value is None or kind is msgspec.Raw:
        return value
    if isinstance(value, int):
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise Refused(RECORD_NOT_CANONICAL, "an integer beyond 2**53")
        return value
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    if isinstance(value, dict | Mapping):  # dict first: to ask a Mapping takes longer
        return {name: _ordered(value[name]) for name in _in_order(value)}
    if isinstance(value, str):
        return value
    raise Refused(RECORD_NOT_CANONICAL, f"no {kind.__name__} in a record")


def _in_order(names: Iterable[str]) -> list[str]:
    """Sort names by their UTF-16 units, as RFC 8785 does: by characters if all are ASCII."""
    listed = list(names)
    if not all(type(name) is str for name in listed):
        raise Refused(RECORD_NOT_CANONICAL, "a name that is no string")
    if "".join(listed).isascii():
        return sorted(listed)
    return sorted(listed, key=lambda name: name.encode("utf-16-be"))
