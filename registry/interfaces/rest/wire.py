"""What the shapes of /v1 share: camelCase, RFC 3339 instants in UTC; no row goes out."""

import msgspec

from registry.audit.promise import Promise, format_promise


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


def view_promise(promise: Promise) -> PromiseView:
    told = format_promise(promise)
    return PromiseView(
        time=told["time"], key_id=told["keyId"], signature=told["signature"]
    )
