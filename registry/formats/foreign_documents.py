"""Documents of other kinds at the addresses of discovery documents.

The refusal names the kind and what its owner can do: see foreign_documents.toml. Used only
for documents that no format has claimed.
"""

from collections.abc import Callable, Mapping

import msgspec

from registry.errors import Refused
from registry.formats.reading.structure import has_text
from registry.formats.refusals import FORMAT_LOOKALIKE, FORMAT_UNKNOWN
from registry.strict_json import JsonObject, JsonValue
from registry.toml_table import read_table

_FAILURE = frozenset(
    {"error", "errors", "message", "detail", "status", "statusCode", "code", "success"}
    | {"path", "timestamp", "title", "ok", "error_description"}
)


class _Lookalike(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of document, as the table describes it."""

    detail: str
    fix: str
    has: tuple[dict[str, str], ...] = ()
    test: str = "has_members"
    pointer: str | None = None

    def matches(self, raw: JsonObject) -> bool:
        return _TESTS[self.test](raw) and all(
            any(_is_member(raw, path, kind) for path, kind in group.items())
            for group in self.has
        )

    def refusal(self) -> Refused:
        kind = FORMAT_UNKNOWN if self.pointer is None else FORMAT_LOOKALIKE
        return Refused(kind, self.detail, pointer=self.pointer, fix=self.fix)


_KINDS = read_table(
    __package__, "foreign_documents.toml", dict[str, tuple[_Lookalike, ...]]
)["kinds"]


def explain(raw: JsonObject) -> Refused:
    """Return the reason of rejection: format_unknown or format_lookalike."""
    refusals = (kind.refusal() for kind in _KINDS if kind.matches(raw))
    return next(refusals, None) or Refused(
        FORMAT_UNKNOWN,
        "no member tells its format: neither wab_version, awp_version, abp, actions, "
        "tools, skills nor entries",
    )


_IS_OF_KIND: Mapping[str, Callable[[JsonValue], bool]] = {
    "any": lambda _: True,
    "empty": lambda value: value in ([], {}),
    "text": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "object or text": lambda value: isinstance(value, dict | str),
    "list": lambda value: isinstance(value, list),
    "list of objects": lambda value: _begins_with(value, dict),
    "list of texts": lambda value: _begins_with(value, str),
}


def _is_member(raw: JsonObject, path: str, kind: str) -> bool:
    *parents, name = path.split(".")
    holder: JsonValue = raw
    for parent in parents:
        holder = holder.get(parent) if isinstance(holder, dict) else None
    return (
        isinstance(holder, dict) and name in holder and _IS_OF_KIND[kind](holder[name])
    )


def _begins_with(value: JsonValue, kind: type) -> bool:
    return isinstance(value, list) and isinstance(next(iter(value), None), kind)


# --- what members alone do not tell ---------------------------------------------------


def _is_message(raw: JsonObject) -> bool:
    return "jsonrpc" in raw or (raw.get("type") == "response" and "result" in raw)


def _is_failure(raw: JsonObject) -> bool:
    return raw.keys() <= _FAILURE or any(
        isinstance(raw.get(name), int) and raw[name] in range(400, 600)
        for name in ("status", "statusCode", "code")
    )


def _is_schema(raw: JsonObject) -> bool:
    return isinstance(raw.get("properties"), dict) and (
        raw.get("type") == "object" or "$schema" in raw
    )


def _is_chain_registration(raw: JsonObject) -> bool:
    kind = raw.get("type")
    return "supportedTrust" in raw or (isinstance(kind, str) and "8004" in kind)


def _configures_client(raw: JsonObject) -> bool:
    servers = raw.get("servers")
    return "mcpServers" in raw or (
        isinstance(servers, dict) and any(map(_is_client_entry, servers.values()))
    )


def _is_client_entry(value: JsonValue) -> bool:
    return isinstance(value, dict) and ("command" in value or "url" in value)


def _names_actions_otherwise(raw: JsonObject) -> bool:
    return any(
        name.endswith(("_actions", "-actions", "Actions"))
        and isinstance(members, dict | list)
        for name, members in raw.items()
    )


def _lists_calls_otherwise(raw: JsonObject) -> bool:
    return any(
        isinstance(members, list) and any(map(_can_be_called, members))
        for members in raw.values()
    )


def _can_be_called(value: JsonValue) -> bool:
    """Return whether it has an address and a method."""
    return (
        isinstance(value, dict)
        and has_text(value, "endpoint", "path", "url", "href")
        and has_text(value, "method", "httpMethod", "http_method")
    )


def _mentions_webmcp(raw: JsonObject) -> bool:
    texts = (value for value in raw.values() if isinstance(value, str))
    return any("webmcp" in text.lower() for text in (*raw, *texts))


_TESTS: Mapping[str, Callable[[JsonObject], bool]] = {
    "has_members": bool,
    "is_bare": lambda raw: not raw,
    "is_message": _is_message,
    "is_failure": _is_failure,
    "is_schema": _is_schema,
    "is_chain_registration": _is_chain_registration,
    "configures_client": _configures_client,
    "names_actions_otherwise": _names_actions_otherwise,
    "lists_calls_otherwise": _lists_calls_otherwise,
    "mentions_webmcp": _mentions_webmcp,
}
