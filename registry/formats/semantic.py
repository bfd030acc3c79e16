"""What a site says, as one hash: equal as long as agents would see no difference.

Covered is the normalised site alone, so formatting, the order of members and entries,
timestamps, version numbers and members the registry does not know change nothing.
"""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from json.encoder import encode_basestring_ascii as _quoted
from operator import attrgetter
from typing import Any

from registry.sites.site import Site

_DOMAIN = b"fair-registry/site/v1\n"


def semantic_hash(site: Site) -> bytes:
    """32 bytes, SHA-256."""
    (spelled,) = _canonical((site,))
    return hashlib.sha256(_DOMAIN + spelled.encode("ascii")).digest()


def _canonical(values: Iterable[Any]) -> list[str]:
    """Each as compact JSON, its members by name and every list in an order of its own.

    No list of a site means anything by its order.
    """
    return [
        (_SPELL.get(one.__class__) or _spell_as(one.__class__))(one) for one in values
    ]


def _spell_list(value: Iterable[Any]) -> str:
    return f"[{','.join(sorted(_canonical(value)))}]"


def _spell_object(value: dict[str, Any]) -> str:
    names = sorted(value)
    members = _canonical(map(value.__getitem__, names))
    pairs = zip(map(_quoted, names), members, strict=True)
    return f"{{{','.join(map(':'.join, pairs))}}}"


def _spell_as(kind: Any) -> Callable[[Any], str]:
    """How values of another class are spelled; found out once for each."""
    _SPELL[kind] = _spell_fields(kind) if is_dataclass(kind) else json.dumps
    return _SPELL[kind]


def _spell_fields(kind: Any) -> Callable[[Any], str]:
    """kind: a dataclass of two fields or more, as all of a site's are."""
    names = sorted(field.name for field in fields(kind))
    form = f"{{{','.join(f'{_quoted(name)}:%s' for name in names)}}}"
    members = attrgetter(*names)
    return lambda value: form % tuple(_canonical(members(value)))


_SPELL: dict[Any, Callable[[Any], str]] = {
    str: _quoted,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): {None: "null"}.__getitem__,
    list: _spell_list,
    tuple: _spell_list,
    dict: _spell_object,
}
"""By class."""
