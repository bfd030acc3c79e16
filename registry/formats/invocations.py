"""Invocations: how an agent calls each action of a site, in as few words as it needs."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, TypeAlias, get_args

import msgspec

from registry.formats.as_mcp_tools import input_schema
from registry.formats.reading.methods import HTTP_METHODS
from registry.sites.action import Action, Call

MOST_LETTERS = 120
"""Letters of a description; more is cut between two words."""
MOST_PARAMETERS = 6
MOST_CHOICES = 8

Means: TypeAlias = Literal[
    "http", "mcp", "wab", "a2a", "websocket", "form", "page", "script"
]
_PREFERENCE: tuple[Means, ...] = get_args(Means)


class Invocation(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename="camel",
    omit_defaults=True,
    gc=False,
):
    """An action and one way to call it; the words are the site's own, and untrusted.

    parameters: JSON Schema of the required ones, or of the first where none is declared
    to be, without the type of texts; omitted: how many more the action takes. by: http
    (method and url), mcp and a2a (endpoint), wab and websocket (the bridge), form and page
    (the page's address), script (an object of the page); absent where no document tells a
    way. url: what begins with / is at https://SITE. operation: what the action is called
    there, where that is not its name. needsLogin: absent where no document declares it.
    """

    action: str
    about: str = ""
    parameters: Annotated[dict[str, Any], msgspec.Meta(description="JSON Schema")] = (
        msgspec.field(default_factory=dict)
    )
    omitted: int = 0
    by: Means | None = None
    method: str = ""
    url: str = ""
    operation: str = ""
    needs_login: bool = False


def invocations_of(actions: Iterable[Action]) -> tuple[Invocation, ...]:
    """Return an invocation of each action, by the way that asks least of an agent."""
    return tuple(map(_invocation, actions))


def _invocation(action: Action) -> Invocation:
    required = [row for row in action.parameters if row.required]
    parameters = tuple(required or action.parameters)[:MOST_PARAMETERS]
    by, call = _first_way(action.calls)
    return Invocation(
        action=action.name,
        about=shorten(action.description),
        parameters=input_schema(parameters, choices=MOST_CHOICES) if parameters else {},
        omitted=len(action.parameters) - len(parameters),
        by=by,
        method=call.method.upper() if by == "http" else "",
        url=call.target,
        operation=_operation(action, by, call),
        needs_login=bool(action.auth_required),
    )


def _first_way(calls: Iterable[Call]) -> tuple[Means | None, Call]:
    ways = [(means, call) for call in calls if (means := _means(call)) is not None]
    if not ways:
        return None, Call(format="", transport="")
    return min(ways, key=lambda way: _PREFERENCE.index(way[0]))


def _means(call: Call) -> Means | None:
    match call.transport:
        case "http" if call.format == "a2a":
            return "a2a"
        case "http" if call.format == "wab" and call.method.upper() not in HTTP_METHODS:
            return "wab"
        case "http" | "mcp" | "websocket" | "form" | "page":
            return call.transport
        case "navigate":
            return "page"
        case "js_global" | "window.abp":
            return "script"
        case _:
            return "a2a" if call.format == "a2a" else None


def _operation(action: Action, by: Means | None, call: Call) -> str:
    is_named = by not in {"http", "form"} and call.operation != action.name
    return call.operation if is_named else ""


def shorten(text: str, most: int = MOST_LETTERS) -> str:
    """Cut between two words, on one line."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    head = line[: most - 1]
    return f"{head.rpartition(' ')[0] or head}…"
