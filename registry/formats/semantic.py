"""Semantic hash of a site: equal as long as agents would see no difference.

Covered is the normalised site alone, so formatting, the order of members and entries,
timestamps, version numbers and members the registry does not know change nothing.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from json.encoder import encode_basestring_ascii as _quoted
from operator import attrgetter, call
from typing import Any, get_type_hints

from msgspec import Struct

from registry.sites.site import Site

_BESIDE = frozenset(("direct_benefit", "trust_signatures"))
"""Claims of a site that change nothing of what agents can do there."""
_DOMAIN = b"fair-registry/site/v1\n"


def semantic_hash(site: Site) -> bytes:
    """Return the SHA-256 of the site's canonical form, 32 bytes."""
    (encoded,) = _canonical((site,))
    return hashlib.sha256(_DOMAIN + encoded.encode("ascii")).digest()


def _canonical(values: Iterable[Any]) -> list[str]:
    """Encode each as compact JSON, with members sorted by name and lists by content.

    The order of a site's lists has no meaning.
    """
    return [_ENCODE[value.__class__](value) for value in values]


def _encode_list(value: Sequence[Any]) -> str:
    return f"[{','.join(sorted(_canonical(value)))}]" if value else "[]"


def _encode_object(value: dict[str, Any]) -> str:
    names = sorted(value)
    members = _canonical(map(value.__getitem__, names))
    pairs = zip(map(_quoted, names), members, strict=True)
    return f"{{{','.join(map(':'.join, pairs))}}}"


def _encode_fields(kind: Any) -> Callable[[Any], str]:
    """Make the encoder of a struct with two fields or more, as all of a site's have."""
    names = sorted(set(kind.__struct_fields__) - _BESIDE)
    form = f"{{{','.join(f'{_quoted(name)}:%s' for name in names)}}}"
    declared = get_type_hints(kind)
    encoders: list[Any] = [_DECLARED.get(declared[name], _encode) for name in names]
    members = attrgetter(*names)
    return lambda value: form % tuple(map(call, encoders, members(value)))


def _encode(value: Any) -> str:
    return _ENCODE[value.__class__](value)


class _Encoders(dict[Any, Callable[[Any], str]]):
    """Encoders by class; that of a new class is made once."""

    def __missing__(self, kind: Any) -> Callable[[Any], str]:
        self[kind] = _encode_fields(kind) if issubclass(kind, Struct) else json.dumps
        return self[kind]


_of_constant = {True: "true", False: "false", None: "null"}.__getitem__
_ENCODE = _Encoders(
    {
        str: _quoted,
        bool: _of_constant,
        type(None): _of_constant,
        list: _encode_list,
        tuple: _encode_list,
        dict: _encode_object,
    }
)
_DECLARED: dict[Any, Callable[[Any], str]] = {
    str: _quoted,
    **dict.fromkeys((bool, bool | None), _of_constant),
    tuple[str, ...]: lambda texts: f"[{','.join(sorted(map(_quoted, texts)))}]",
}
"""Encoders by a field's declared type, which spares a look at the class of its value."""
