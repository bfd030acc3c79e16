"""What a site says, as one hash: equal as long as agents would see no difference.

Covered is the normalised site alone, so formatting, the order of members and entries,
timestamps, version numbers and members the registry does not know change nothing.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, is_dataclass
from json.encoder import encode_basestring_ascii as _quoted
from operator import attrgetter, call
from typing import Any, get_type_hints

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
    return [_SPELL[one.__class__](one) for one in values]


def _spell_list(value: Sequence[Any]) -> str:
    return f"[{','.join(sorted(_canonical(value)))}]" if value else "[]"


def _spell_object(value: dict[str, Any]) -> str:
    names = sorted(value)
    members = _canonical(map(value.__getitem__, names))
    pairs = zip(map(_quoted, names), members, strict=True)
    return f"{{{','.join(map(':'.join, pairs))}}}"


def _spell_fields(kind: Any) -> Callable[[Any], str]:
    """kind: a dataclass of two fields or more, as all of a site's are."""
    names = sorted(field.name for field in fields(kind))
    form = f"{{{','.join(f'{_quoted(name)}:%s' for name in names)}}}"
    declared = get_type_hints(kind)
    spell: list[Any] = [_DECLARED.get(declared[name], _spell) for name in names]
    members = attrgetter(*names)
    return lambda value: form % tuple(map(call, spell, members(value)))


def _spell(value: Any) -> str:
    return _SPELL[value.__class__](value)


class _Spelling(dict[Any, Callable[[Any], str]]):
    """By class; how values of another are spelled is found out once."""

    def __missing__(self, kind: Any) -> Callable[[Any], str]:
        self[kind] = _spell_fields(kind) if is_dataclass(kind) else json.dumps
        return self[kind]


_of_constant = {True: "true", False: "false", None: "null"}.__getitem__
_SPELL = _Spelling(
    {
        str: _quoted,
        bool: _of_constant,
        type(None): _of_constant,
        list: _spell_list,
        tuple: _spell_list,
        dict: _spell_object,
    }
)
_DECLARED = {str: _quoted, bool: _of_constant, bool | None: _of_constant}
"""By what a field is declared to be, which spares a look at the class of its value."""
