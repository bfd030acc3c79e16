"""The call of an action that formats of plain HTTP can state."""

from typing import NamedTuple

from registry.sites.action import Action, Call

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH"})
_BY_HTTP = ("http", "form", "navigate")


class PlainCall(NamedTuple):
    """is_exact: method and target are as declared, and mean a request over HTTP."""

    method: str
    url: str
    is_exact: bool = True


def plain_call(action: Action) -> PlainCall | None:
    """Return the action's first request over HTTP; None if it is called otherwise."""
    calls = [_as_request(call) for call in action.calls]
    requests = [request for request in calls if request]
    return max(requests, key=lambda request: request.is_exact, default=None)


def _as_request(call: Call) -> PlainCall | None:
    if call.transport not in _BY_HTTP or "://" not in call.target:
        return None
    if call.transport == "http" and call.method in METHODS:
        return PlainCall(call.method, call.target)
    if call.transport == "http" and call.format in {"wab", "a2a"}:
        return None  # a bridge or an agent, which takes the action in the body
    method = "POST" if call.transport == "form" and call.method == "POST" else "GET"
    return PlainCall(method, call.target, is_exact=False)


def other_calls(action: Action, native: tuple[Call, ...]) -> tuple[Call, ...] | None:
    """Return the calls for the extension; None if the document's own say the same."""
    return None if action.calls == native else action.calls
