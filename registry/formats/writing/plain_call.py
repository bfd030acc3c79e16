"""Actions in formats that can state some calls and facts, and leave others to the extension."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from registry.formats.extension import encode_calls, extended
from registry.sites.action import Action, Call
from registry.strict_json import JsonObject, JsonValue

METHODS = frozenset({"GET", "POST", "PUT", "DELETE", "PATCH"})
_FACTS = ("auth_required", "sensitivity", "confirmation")
_FLAGS = ("experimental", "deprecated")
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


def extended_action(
    members: JsonObject,
    action: Action,
    native: tuple[Call, ...],
    undeclared: Iterable[str] = (),
    *,
    own: Collection[str] = (),
    **more: JsonValue,
) -> JsonObject:
    """Add what the format can't say of an action.

    native: calls that a reader finds in the members. own: facts that the format has
    members for. more: further facts.
    """
    facts: JsonObject = {name: getattr(action, name) for name in _FACTS}
    facts |= {name: True for name in _FLAGS if getattr(action, name)}
    if action.calls != native:
        facts["calls"] = encode_calls(action.calls)
    others = {name: fact for name, fact in facts.items() if name not in own}
    return extended(members, undeclared, **more, **others)
