"""What the shapes of /v1 share: camelCase, RFC 3339 instants in UTC; no row goes out."""

import msgspec

from registry.audit.promise import Promise, format_promise
from registry.usecases.promiser import Promised


class Wire(msgspec.Struct, rename="camel", kw_only=True):
    """What goes out."""


class Asked(
    msgspec.Struct,
    rename="camel",
    kw_only=True,
    forbid_unknown_fields=True,
):
    """What comes in; an unknown member is refused."""


class PromiseView(Wire):
    time: str
    key_id: str
    signature: str


class PromisedView(Wire):
    """id, leafHash: of a record that is handed to the log."""

    id: str
    leaf_hash: str
    promise: PromiseView


def view_promised(promised: Promised) -> PromisedView:
    return PromisedView(
        id=promised.record.id,
        leaf_hash=promised.record.leaf_hash.hex(),
        promise=view_promise(promised.promise),
    )


def view_promise(promise: Promise) -> PromiseView:
    told = format_promise(promise)
    return PromiseView(
        time=told["time"], key_id=told["keyId"], signature=told["signature"]
    )
