"""JSON objects whose every reader must see the same members.

Owns the decoding of JOSE headers, payloads and key sets (RFC 7515 §5.2, RFC 8259 §4):
a second `alg` or `aud` that one parser keeps and another drops is an attack, as are
numbers and strings that do not survive a round trip.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NoReturn, TypeAlias, TypeVar

from registry.errors import ProblemType, Refused
from registry.identity.refusals import (
    JSON_DUPLICATE_MEMBER,
    JSON_MALFORMED,
    JSON_TOO_DEEP,
    JSON_TOO_LARGE,
    MEMBER_INVALID,
    MEMBER_MISSING,
)

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
T = TypeVar("T", bool, int, str, list[Json], dict[str, Json])

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
MAX_SAFE_INTEGER = 2**53 - 1
_MAX_DIGITS = 16

# An unclosed string runs to the end, so that the scan stays linear on any input.
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_JSON_NAMES = {
    bool: "true or false",
    int: "a whole number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def parse_object(body: bytes, what: str) -> dict[str, Json]:
    """what: names the body in messages, e.g. "protected header".

    Raises: Refused.
    """
    if len(body) > MAX_BYTES:
        raise Refused(JSON_TOO_LARGE, f"The {what} has {len(body)} bytes.")
    text = _decode_utf8(body, what)
    _refuse_deep_nesting(text, what)
    value = _load(text, what)
    if not isinstance(value, dict):
        raise Refused(JSON_MALFORMED, f"The {what} is not a JSON object.")
    _refuse_unstorable_text(value, what)
    return value


def _decode_utf8(body: bytes, what: str) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(JSON_MALFORMED, f"The {what} is not UTF-8.") from error


def _refuse_deep_nesting(text: str, what: str) -> None:
    depth = 0
    for token in _TOKENS.finditer(text):
        depth += _STEPS.get(token[0], 0)
        if depth > MAX_DEPTH:
            raise Refused(JSON_TOO_DEEP, f"The {what} nests deeper than {MAX_DEPTH}.")


def _load(text: str, what: str) -> Json:
    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        members: dict[str, Json] = {}
        for name, value in pairs:
            if name in members:
                detail = f"The {what} names {name[:80]!r} twice."
                raise Refused(JSON_DUPLICATE_MEMBER, detail)
            members[name] = value
        return members

    try:
        loaded: Json = json.loads(
            text,
            object_pairs_hook=unique,
            parse_int=_parse_int,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except ValueError as error:
        detail = f"The {what} is not valid JSON: {_reason(text, error)}."
        raise Refused(JSON_MALFORMED, detail) from error
    return loaded


def _parse_int(digits: str) -> int:
    if len(digits.lstrip("-")) > _MAX_DIGITS:
        raise ValueError("a number is beyond 2^53 - 1")
    return _within_safe_range(int(digits))


def _parse_float(digits: str) -> float:
    return _within_safe_range(float(digits))


N = TypeVar("N", int, float)


def _within_safe_range(number: N) -> N:
    if abs(number) > MAX_SAFE_INTEGER:
        raise ValueError("a number is beyond 2^53 - 1")
    return number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _reason(text: str, error: ValueError) -> str:
    if text.lstrip().startswith("<"):
        return "it is an HTML page"
    return str(error)


def _refuse_unstorable_text(value: Json, what: str) -> None:
    for text in _texts(value):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            detail = f"The {what} holds a NUL or half of a surrogate pair."
            raise Refused(JSON_MALFORMED, detail)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _texts(member)


def require(members: Mapping[str, Json], name: str, kind: type[T], at: str = "") -> T:
    """The member `name`, of exactly this type: true is not a number here.

    at: JSON pointer of the object. Raises: Refused.
    """
    if name not in members:
        detail = f"The member {name!r} is missing."
        raise Refused(MEMBER_MISSING, detail, pointer=f"{at}/{name}")
    value = members[name]
    if type(value) is not kind:
        raise invalid_member(f"must be {_JSON_NAMES[kind]}", f"{at}/{name}")
    return value


def optional(
    members: Mapping[str, Json], name: str, kind: type[T], at: str = ""
) -> T | None:
    """As `require`, or None where the member is absent."""
    return require(members, name, kind, at) if name in members else None


def invalid_member(what_must_be: str, pointer: str) -> Refused:
    detail = f"The member {pointer!r} {what_must_be}."
    return Refused(MEMBER_INVALID, detail, pointer=pointer)


@contextmanager
def pointing_at(pointer: str) -> Iterator[None]:
    """Tells the caller where in its JSON a refusal belongs that could not know it."""
    try:
        yield
    except Refused as refused:
        problem = refused.problem
        kind = ProblemType(problem.code, problem.title, problem.fix)
        raise Refused(kind, problem.detail, pointer=pointer) from refused
