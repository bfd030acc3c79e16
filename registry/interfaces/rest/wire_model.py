"""Base classes of the shapes of /v1: camelCase, RFC 3339 instants in UTC."""

from typing import TYPE_CHECKING

import msgspec

from registry.records.promise import Promise, format_promise

if TYPE_CHECKING:  # the command `lint` shows answers without a server
    from registry.usecases.log.promiser import Promised


class WireModel(msgspec.Struct, rename="camel", kw_only=True):
    """Base of answers."""


class RequestBody(
    msgspec.Struct,
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
    return PromisedView(
        id=promised.record.id,
        leaf_hash=promised.record.leaf_hash.hex(),
        promise=view_promise(promised.promise),
    )


def view_promise(promise: Promise) -> PromiseView:
    formatted = format_promise(promise)
    return PromiseView(
        time=formatted["time"],
        key_id=formatted["keyId"],
        signature=formatted["signature"],
    )
