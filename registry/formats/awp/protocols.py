"""Protocols of a site and calls of its actions (AWP section 5.5).

An action runs over plain HTTP at its own endpoint, or via a protocol declared once for
the whole document.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.formats.document import MAX_ACTIONS
from registry.formats.reading.methods import read_method
from registry.formats.reading.reader import Reader
from registry.sites.action import Call

# The registered identifiers by layer; whatever else is declared is no deviation.
_TRANSPORTS = frozenset({"a2a", "acp", "mcp"})
_PAYMENTS = frozenset({"ap2", "payment", "skyfire", "x402"})
_ENDPOINT_IS_DOCUMENT = frozenset({"a2a", "mcp", "openapi"})
_CARDS = ("agent_card", "server_card")
_IDENTIFIER = re.compile(r"[a-z0-9]++(?>(?:-[a-z0-9]++)*)\Z")


@dataclass(frozen=True, slots=True)
class Protocols:
    """Declared protocols.

    endpoints: the absolute URL of each, "" if it has none, None if agents must not
    follow it.
    references: further documents about the protocols. root: the base of paths.
    """

    endpoints: Mapping[str, str | None]
    references: tuple[str, ...]
    root: str


def read_protocols(document: Reader, *, root: str) -> Protocols:
    declared = document.child("protocols").entries(MAX_ACTIONS)
    routed = _routed(document) if declared else frozenset()
    endpoints: dict[str, str | None] = {}
    references: dict[str, None] = {}
    for name, protocol in declared:
        endpoints[name] = _read_endpoint(name, protocol, root, is_used=name in routed)
        references |= dict.fromkeys(_find_references(protocol, root))
        url = endpoints[name]
        if name in _ENDPOINT_IS_DOCUMENT and url:
            references[url] = None
    return Protocols(endpoints, tuple(references), root)


def _routed(document: Reader) -> frozenset[str]:
    """Return the protocols that actions use."""
    actions = (item.members.get("via") for item in document.items("actions"))
    return frozenset(via for via in actions if isinstance(via, str))


def _read_endpoint(
    name: str, protocol: Reader, root: str, *, is_used: bool
) -> str | None:
    if not _IDENTIFIER.match(name):
        protocol.deviate("protocol_name")
    if isinstance(protocol.value, str):  # the address alone
        text = protocol.as_text()
        return protocol.resolve(text, names=("endpoint",), base=root)
    endpoint = protocol.child("endpoint")
    is_required = name in _TRANSPORTS or (is_used and name not in _PAYMENTS)
    if is_required and not endpoint.is_present:
        endpoint.deviate("protocol_without_endpoint", name=name[:80])
    url = protocol.target("endpoint", "url", base=root)
    return "" if url is None and not protocol.text("endpoint", "url") else url


def _find_references(protocol: Reader, root: str) -> Iterator[str]:
    for name in _CARDS:
        card = protocol.target(name, base=root)
        if card:
            yield card


def read_calls(action: Reader, protocols: Protocols) -> tuple[Call, ...]:
    via, operation = action.text("via"), action.text("operation")
    if via in protocols.endpoints:
        url = protocols.endpoints[via]
        if url is None:
            return ()
        return (_read_routed_call(action, via, url, operation, protocols),)
    if via:
        action.child("via").deviate("unknown_protocol", via=via[:80])
    elif "via" not in action.members:
        _check_plain_call(action)
    return _read_plain_call(action, protocols)


def _read_routed_call(
    action: Reader, via: str, url: str, operation: str, protocols: Protocols
) -> Call:
    """Read a call; a payment protocol without endpoint pays for the action's own."""
    if url:
        return action.call("awp", via, url, operation=operation)
    url = action.target("endpoint", base=protocols.root) or ""
    return action.call(
        "awp", via, url, read_method(action, "method") if url else "", operation
    )


def _check_plain_call(action: Reader) -> None:
    for name in ("endpoint", "method"):
        if name not in action.members:
            action.child(name).deviate("action_without_address", name=name)
    if "operation" in action.members:
        action.child("operation").deviate("operation_without_protocol")


def _read_plain_call(action: Reader, protocols: Protocols) -> tuple[Call, ...]:
    url = action.target("endpoint", base=protocols.root)
    if url is None:
        return ()
    return (action.call("awp", "http", url, read_method(action, "method")),)
