"""Structured fields (RFC 9651): the subset that message signatures need.

Dictionaries whose members are strings, byte sequences or lists of strings. Only the
canonical serialization (§4.1) is accepted, so that parsed text can be signed and
compared as it is.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Parameters = Mapping[str, str | int | Literal[True]]
"""Ordered parameters. True: a name without a value."""

_KEY = r"[a-z*][a-z0-9_.*-]*+"
_STRING = r'"(?>(?:[ !#-\[\]-~]|\\["\\])*)"'
_INTEGER = r"(?:0|-?[1-9][0-9]{0,14}+)"
_PARAMETERS = rf"(?>(?:;{_KEY}(?>(?:=(?:{_STRING}|{_INTEGER}))?))*)"
_ITEM = rf"{_STRING}{_PARAMETERS}"
_BYTES = r":[A-Za-z0-9+/]*+=*+:"
_LIST = rf"\((?>(?:{_ITEM}(?>(?: {_ITEM})*))?)\)"

_parameter = re.compile(rf";({_KEY})(?>(?:=(?:({_STRING})|({_INTEGER})))?)")
_item = re.compile(rf"({_STRING})({_PARAMETERS})")
_bytes = re.compile(_BYTES)
_list = re.compile(rf"({_LIST})({_PARAMETERS})")
_member = re.compile(rf"({_KEY})=((?:{_LIST}|{_STRING}|{_BYTES}){_PARAMETERS})")
_text = re.compile(r"[ -~]*+")


@dataclass(frozen=True, slots=True)
class Item:
    text: str
    parameters: Parameters


@dataclass(frozen=True, slots=True)
class InnerList:
    items: tuple[Item, ...]
    parameters: Parameters


def serialize_string(text: str) -> str:
    """Quote the text. Raises: ValueError unless it is printable ASCII."""
    if not _text.fullmatch(text):
        raise ValueError(f"{text[:80]!a} is not printable ASCII")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def serialize_bytes(raw: bytes) -> str:
    return f":{base64.b64encode(raw).decode('ascii')}:"


def serialize_item(item: Item) -> str:
    return serialize_string(item.text) + _serialize_parameters(item.parameters)


def serialize_list(inner: InnerList) -> str:
    items = " ".join(serialize_item(item) for item in inner.items)
    return f"({items}){_serialize_parameters(inner.parameters)}"


def parse_dictionary(text: str) -> dict[str, str]:
    """Split the members, each as it is written. Raises: ValueError."""
    members: dict[str, str] = {}
    offset = 0
    while match := _member.match(text, offset):
        key, member = match.groups()
        if key in members:
            raise ValueError(f"{key[:80]} is given twice")
        members[key] = member
        offset = match.end()
        if offset == len(text):
            return members
        if not text.startswith(", ", offset):
            break
        offset += 2
    raise ValueError(f"no member starts at {text[offset:][:80]!a}")


def parse_bytes(text: str) -> bytes:
    """Decode a byte sequence. Raises: ValueError."""
    if not _bytes.fullmatch(text):
        raise ValueError(f"{text[:80]!a} is no byte sequence")
    try:
        raw = base64.b64decode(text[1:-1], validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error
    if serialize_bytes(raw) != text:
        raise ValueError("the byte sequence has unused bits set")
    return raw


def parse_list(text: str) -> InnerList:
    """Parse an inner list of strings. Raises: ValueError."""
    match = _list.fullmatch(text)
    if not match:
        raise ValueError(f"{text[:80]!a} is no list of strings")
    items = tuple(
        Item(_unquote(quoted), _parse_parameters(parameters))
        for quoted, parameters in _item.findall(match[1])
    )
    return InnerList(items, _parse_parameters(match[2]))


def _parse_parameters(text: str) -> Parameters:
    parameters: dict[str, str | int | Literal[True]] = {}
    for name, quoted, digits in _parameter.findall(text):
        if name in parameters:
            raise ValueError(f"the parameter {name[:80]} is given twice")
        if digits:
            parameters[name] = int(digits)
        else:
            parameters[name] = _unquote(quoted) if quoted else True
    return parameters


def _serialize_parameters(parameters: Parameters) -> str:
    return "".join(
        f";{name}"
        if value is True
        else f";{name}={value if isinstance(value, int) else serialize_string(value)}"
        for name, value in parameters.items()
    )


def _unquote(quoted: str) -> str:
    return re.sub(r"\\(.)", r"\1", quoted[1:-1])
