"""Base classes of the shapes of /v1: camelCase, RFC 3339 instants in UTC."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Self, get_type_hints

import msgspec

from registry.records.promise import Promise, format_promise

if TYPE_CHECKING:  # the command `lint` shows answers without a server
    from registry.usecases.log.promiser import Promised

_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d+(?=[Z+-])")


class WireModel(msgspec.Struct, rename="camel", kw_only=True):
    """Base of answers. Instants are cut to the second: finer ones would identify callers."""

    @classmethod
    def of(cls, source: Any, /, **other: Any) -> Self:
        """Take the members of the same names from the source, and the others as given.

        Hashes become hex, and so do those in a tuple.
        """
        names = [name for name in cls.__struct_fields__ if name not in other]
        return cls(**{name: _plain(getattr(source, name)) for name in names}, **other)

    def __post_init__(self) -> None:
        for name in _instants_of(type(self)):
            at = getattr(self, name)
            if at is not None:
                setattr(self, name, to_second(at))


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return tuple(map(_plain, value)) if isinstance(value, tuple) else value


@cache
def _instants_of(model: type[WireModel]) -> tuple[str, ...]:
    """Return the names of the fields that are instants, or none of them."""
    kinds = get_type_hints(model)
    return tuple(
        name
        for name in model.__struct_fields__
        if kinds[name] in {datetime, datetime | None}
    )


def to_minute(at: datetime) -> datetime:
    """Return the minute in which a record was made, which is all that the log tells."""
    return at.replace(second=0, microsecond=0)


def to_second(at: datetime) -> datetime:
    return at.replace(microsecond=0)


def outcome_to_second(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Cut the instants of the last outcome of a task, some of which are texts."""
    return {
        name: to_second(value)
        if isinstance(value, datetime)
        else _FRACTION.sub("", value)
        if isinstance(value, str)
        else value
        for name, value in outcome.items()
    }


class RequestBody(
    msgspec.Struct,
    frozen=True,
    rename="camel",
    kw_only=True,
    forbid_unknown_fields=True,
):
    """Base of request bodies; an unknown member is refused."""


class PromiseView(WireModel):
    time: str
    key_id: str
    signature: str


class PromisedView(WireModel):
    """id, leafHash: of a record that is handed to the log."""

    id: str
    leaf_hash: str
    promise: PromiseView


def view_promised(promised: "Promised") -> PromisedView:
    promise = view_promise(promised.promise)
    return PromisedView.of(promised.record, promise=promise)


def view_promise(promise: Promise) -> PromiseView:
    return msgspec.convert(format_promise(promise), PromiseView)
