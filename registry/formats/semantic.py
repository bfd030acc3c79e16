"""What a site says, as one hash: equal as long as agents would see no difference.

Covered is the normalised site alone, so formatting, the order of members and entries,
timestamps, version numbers and members the registry does not know change nothing.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields
from functools import cache
from json.encoder import encode_basestring_ascii as _quoted
from operator import add
from typing import Any

from registry.sites.site import Site

_WORDS = {None: "null", True: "true", False: "false"}
_DOMAIN = b"fair-registry/site/v1\n"


def semantic_hash(site: Site) -> bytes:
    """32 bytes, SHA-256."""
    return hashlib.sha256(_DOMAIN + _canonical(site).encode("ascii")).digest()


def _canonical(value: Any) -> str:
    """Compact JSON, its members by name and every list in an order of its own.

    No list of a site means anything by its order.
    """
    if isinstance(value, str):
        return _quoted(value)
    if value is None or value is True or value is False:
        return _WORDS[value]
    if isinstance(value, list | tuple):
        return f"[{','.join(sorted(map(_canonical, value)))}]"
    if isinstance(value, dict):
        keys = sorted(value)
        return _members(map(_label, keys), map(value.__getitem__, keys))
    if hasattr(value, "__dataclass_fields__"):
        labels, names = _shape(value.__class__)
        return _members(labels, map(value.__getattribute__, names))
    return json.dumps(value)


def _members(labels: Iterable[str], values: Iterable[Any]) -> str:
    return f"{{{','.join(map(add, labels, map(_canonical, values)))}}}"


def _label(name: str) -> str:
    return f"{_quoted(name)}:"


@cache
def _shape(kind: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels and the names of its members, in their order."""
    names = tuple(sorted(field.name for field in fields(kind)))
    return tuple(map(_label, names)), names
