"""Typed members of JOSE headers, payloads and key sets (RFC 7515 §5.2).

A second `alg` or `aud` that one parser keeps and another drops is an attack, so the JSON
beneath is `registry.strict_json`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from registry.errors import Refused, RegistryError
from registry.identity.refusals import MEMBER_INVALID, MEMBER_MISSING
from registry.refusals import JSON_SYNTAX
from registry.strict_json import JsonObject, JsonValue, parse_json

Parsed = TypeVar("Parsed")
Choice = TypeVar("Choice", bound=str)
T = TypeVar("T", bool, int, str, list[JsonValue], dict[str, JsonValue])

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
_JSON_NAMES = {
    bool: "true or false",
    int: "a whole number",
    str: "a string",
    list: "an array",
    dict: "an object",
}


def parse_object(body: bytes, what: str) -> JsonObject:
    """Parse a JSON object. what: names the body in messages, e.g. "protected header".

    Raises: Refused.
    """
    try:
        value = parse_json(body, max_depth=MAX_DEPTH, max_bytes=MAX_BYTES)
    except RegistryError as refused:
        problem = refused.problem
        detail = f"The {what}: {problem.detail}"
        raise Refused(problem.kind, detail, pointer=problem.pointer) from refused
    if not isinstance(value, dict):
        raise Refused(JSON_SYNTAX, f"The {what} is not a JSON object.")
    return value


def require(
    members: Mapping[str, JsonValue], name: str, kind: type[T], at: str = ""
) -> T:
    """Return the member `name`, of exactly this type: true is not a number here.

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
    members: Mapping[str, JsonValue], name: str, kind: type[T], at: str = ""
) -> T | None:
    """Return the member as `require` does, or None if it is absent."""
    return require(members, name, kind, at) if name in members else None


def require_parsed(
    members: Mapping[str, JsonValue],
    name: str,
    parse: Callable[[str], Parsed],
    at: str = "",
) -> Parsed:
    """Return the text `name` as `parse` reads it, whose ValueError says what it must be.

    Raises: Refused.
    """
    text = require(members, name, str, at)
    try:
        return parse(text)
    except ValueError as error:
        raise invalid_member(str(error), f"{at}/{name}") from error


def optional_parsed(
    members: Mapping[str, JsonValue],
    name: str,
    parse: Callable[[str], Parsed],
    at: str = "",
) -> Parsed | None:
    """Return the member as `require_parsed` does, or None if it is absent."""
    return require_parsed(members, name, parse, at) if name in members else None


def parse_line(text: str, most: int) -> str:
    """Return one line of at most `most` characters. Raises: ValueError."""
    line = text.strip()
    if not line or len(line) > most or not line.isprintable():
        raise ValueError(f"must be one line of 1 to {most} printable characters")
    return line


def parse_choice(text: str, choices: Sequence[Choice]) -> Choice:
    """Return the choice that the text is. Raises: ValueError."""
    for choice in choices:
        if choice == text:
            return choice
    raise ValueError(f"must be one of {', '.join(choices)}")


def invalid_member(what_must_be: str, pointer: str) -> Refused:
    detail = f"The member {pointer!r} {what_must_be}."
    return Refused(MEMBER_INVALID, detail, pointer=pointer)


@contextmanager
def pointing_at(pointer: str) -> Iterator[None]:
    """Add the JSON pointer to a refusal from code that does not know it."""
    try:
        yield
    except Refused as refused:
        problem = refused.problem
        raise Refused(problem.kind, problem.detail, pointer=pointer) from refused
