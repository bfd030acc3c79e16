"""A document with every value in turn of every kind, to be read or refused."""

from collections.abc import Iterator
from typing import Any, Final

HOSTILE: Final = (
    *(None, 7, "{x:"),
    ["x", 7, None, {}, []],
    {"": {"type": ["x"]}, "x": "object[z", "type": {}, "__proto__": [[]]},
)


def broken(document: Any) -> Iterator[Any]:
    """The document with every value in turn of every kind."""
    for container, key in list(_places(document)):
        sound = container[key]
        for hostile in HOSTILE:
            container[key] = hostile
            yield document
        container[key] = sound


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])
