"""JSON from strangers, parsed strictly: text that parsers may read differently is refused.

Stricter than RFC 8259 and close to I-JSON (RFC 7493): unique names, finite numbers within +-(2^53-1), UTF-8 without unpaired
surrogates. NUL is refused too, since PostgreSQL cannot hold it. A leading byte order mark
is tolerated.

Nesting is measured on the bytes before anything is parsed, without recursion, so that no
depth exhausts the stack.
"""

import json
import math
import re
from collections import Counter
from functools import reduce
from typing import NoReturn, TypeAlias

from registry.errors import ProblemType, Refused, TooLarge
from registry.refusals import (
    JSON_CHARACTER,
    JSON_DUPLICATE_KEY,
    JSON_ENCODING,
    JSON_NUMBER,
    JSON_SYNTAX,
    JSON_TOO_DEEP,
    JSON_TOO_LARGE,
)

JsonValue: TypeAlias = (
    bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"] | None
)
JsonObject: TypeAlias = dict[str, JsonValue]

MAX_SAFE_NUMBER = 2**53 - 1
_MAX_DIGITS = len(str(MAX_SAFE_NUMBER))
_MAX_POINTER = 300
_BOM = b"\xef\xbb\xbf"
# A string runs to its quote or to the end: an unclosed one is consumed once, not from
# each of its escaped quotes again.
_STRING = re.compile(rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"?', re.DOTALL)
_TOKEN = re.compile(_STRING.pattern + rb"|[\[\]{},]", re.DOTALL)
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_MARKS = b'[]{}"'
_NO_MARKS = bytes(byte for byte in range(256) if byte not in _MARKS)
_SQUARE = bytes.maketrans(b"{}", b"[]")


def parse_json(body: bytes, *, max_depth: int, max_bytes: int) -> JsonValue:
    """Parse the value in the body.

    max_depth: containers within each other, at most a few hundred.
    Raises: TooLarge (json_too_large); Refused (json_too_deep, json_encoding, json_syntax,
    json_duplicate_key, json_number, json_character).
    """
    if len(body) > max_bytes:
        raise TooLarge(JSON_TOO_LARGE, f"{len(body)} bytes; {max_bytes} are allowed")
    body = body.removeprefix(_BOM)
    _check_nesting(body, max_depth)
    text = _decode(body)
    try:
        value: JsonValue = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise _syntax_refusal(error) from None
    if "\\u" in text:  # only an escape can bring in NUL or half a surrogate pair
        _check_characters(value)
    return value


def join_pointer(pointer: str, name: str) -> str:
    """Return the JSON pointer (RFC 6901) of a member, cut to _MAX_POINTER characters.

    Uncut, one long name above many members would be copied into each of their pointers.
    """
    escaped = name[:_MAX_POINTER].replace("~", "~0").replace("/", "~1")
    cut = f"{pointer}/{escaped}"[:_MAX_POINTER]
    return cut.removesuffix("~")  # half an escape


def _check_nesting(body: bytes, max_depth: int) -> None:
    """Check the depth, in time linear in the length whatever the body holds."""
    rest = brackets = _brackets(body)
    for _ in range(max_depth):
        rest = rest.replace(b"[]", b"")  # the innermost of each branch
    if not rest:
        return
    depth = 0  # it is too deep, or not JSON
    for bracket in brackets:
        depth += 1 if bracket == ord("[") else -1
        if depth > max_depth:
            pointer = _pointer_below(body, max_depth)
            _refuse(JSON_TOO_DEEP, f"more than {max_depth} levels", pointer)


def _pointer_below(body: bytes, depth: int) -> str:
    """Return the pointer of the first container within so many others."""
    steps: list[int | str] = []  # an index in an array, a name in an object
    name = b""
    for match in _TOKEN.finditer(body):
        token = match[0]
        if token in (b"[", b"{"):
            if steps and isinstance(steps[-1], str):
                steps[-1] = _name_of(name)
            if len(steps) == depth:
                break
            steps.append(0 if token == b"[" else "")
            name = b""
        elif token in (b"]", b"}"):
            del steps[-1:]
        elif token != b",":
            name = token
        elif steps and isinstance(steps[-1], int):
            steps[-1] += 1
    return reduce(join_pointer, map(str, steps), "")


def _name_of(token: bytes) -> str:
    """Return the name that a string gives, or as it is written where that is none."""
    written = token[: 6 * _MAX_POINTER].decode("utf-8", "replace")
    try:
        name = str(json.loads(written))
    except ValueError:
        name = written.strip('"')
    return _NOT_TEXT.sub("\ufffd", name)


def _brackets(body: bytes) -> bytes:
    """Return the brackets outside of strings, all of them as square ones."""
    if b"\\" in body:
        body = _STRING.sub(b"", body)
    marks = body.translate(_SQUARE, _NO_MARKS)
    marks = marks.replace(b'""', b"")  # strings without a bracket
    return b"".join(marks.split(b'"')[::2]) if b'"' in marks else marks


def _decode(body: bytes) -> str:
    if not body.strip():
        raise Refused(JSON_SYNTAX, "the body is empty")
    if b"\0" in body:
        raise Refused(JSON_ENCODING, "it holds NUL bytes, as UTF-16 does")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refused(JSON_ENCODING, f"byte {error.start} is not UTF-8") from None


def _syntax_refusal(error: json.JSONDecodeError) -> Refused:
    rest = error.doc[error.pos : error.pos + 2]
    where = f"line {error.lineno}, column {error.colno}"
    if error.doc.lstrip().startswith("<"):
        return Refused(JSON_SYNTAX, "it is an HTML page")
    if rest in ("//", "/*"):
        return Refused(JSON_SYNTAX, f"a comment at {where}; JSON has none")
    return Refused(JSON_SYNTAX, f"{error.msg} at {where}")


def _check_characters(value: JsonValue) -> None:
    pending = [(value, "")]
    while pending:
        item, pointer = pending.pop()
        if isinstance(item, str):
            _check_text(item, pointer)
        elif isinstance(item, list):
            pending += [
                (child, join_pointer(pointer, str(index)))
                for index, child in enumerate(item)
            ]
        elif isinstance(item, dict):
            for name, member in item.items():
                _check_text(name, pointer)
                pending.append((member, join_pointer(pointer, name)))


def _check_text(text: str, pointer: str) -> None:
    if "\0" in text:
        _refuse(JSON_CHARACTER, "a NUL character", pointer)
    if any("\ud800" <= character <= "\udfff" for character in text):
        _refuse(JSON_CHARACTER, "an unpaired surrogate", pointer)


def _refuse(kind: ProblemType, detail: str, pointer: str | None = None) -> NoReturn:
    raise Refused(kind, detail, pointer=pointer)


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    members = dict(pairs)
    if len(members) < len(pairs):
        (twice, _count), *_ = Counter(name for name, _ in pairs).most_common(1)
        _refuse(JSON_DUPLICATE_KEY, f"{twice[:80]!a} is given twice")
    return members


def _whole(digits: str) -> int:
    # The length comes first: int() refuses thousands of digits in its own way.
    if len(digits) > _MAX_DIGITS + 1 or abs(int(digits)) > MAX_SAFE_NUMBER:
        _refuse(JSON_NUMBER, f"{digits[:20]}… is beyond 2^53-1")
    return int(digits)


def _fractional(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number) or abs(number) > MAX_SAFE_NUMBER:
        _refuse(JSON_NUMBER, f"{digits[:20]}… is beyond 2^53-1")
    return number


def _not_a_number(name: str) -> NoReturn:
    _refuse(JSON_NUMBER, f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=_whole,
    parse_float=_fractional,
    parse_constant=_not_a_number,
)
