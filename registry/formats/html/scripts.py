"""WebMCP tools that a page's inline scripts register with literals.

`registerTool({…})` and `provideContext({tools: […]})` of `navigator.modelContext` or
`document.modelContext`, also under an alias, with literals or names of literals. Tools that
are composed while the page runs are reported and not listed: only the running page shows
them. External scripts are not read.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from registry.formats.document import MAX_ACTIONS
from registry.formats.html.literals import Script
from registry.formats.reading.action_list import gather, hinted_sensitivity
from registry.formats.reading.parameters import read_parameters
from registry.formats.reading.reader import DeviationLog, Reader, clean_text
from registry.sites.action import Action
from registry.strict_json import JsonObject, JsonValue

MAX_TOKENS = 30_000
_MAX_SCRIPTS = 100
_CONTEXT = "modelContext"
_METHODS = frozenset({"registerTool", "provideContext"})
_DOTS = frozenset({".", "?."})
_METHOD = re.compile("|".join(_METHODS))
_MAX_QUALIFIERS = 3
# What registerTool() accepts; it refuses other names.
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}\Z")


class Registered(NamedTuple):
    """Tools that scripts register. is_partial: there are more than could be read."""

    actions: tuple[Action, ...]
    is_partial: bool


def read_scripts(scripts: Iterable[str], log: DeviationLog) -> Registered:
    """Read MAX_TOKENS of all scripts together, and at most 500 tools of each."""
    registering = [
        text for text in scripts if _CONTEXT in text and _METHOD.search(text)
    ]
    tools: list[JsonObject] = []
    is_partial = len(registering) > _MAX_SCRIPTS
    left = MAX_TOKENS
    for text in registering[:_MAX_SCRIPTS]:
        script = Script(text, limit=left)
        left -= len(script.tokens)
        is_partial |= script.is_cut
        for tool in islice(_registered(script), MAX_ACTIONS):
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                tools.append(tool)
            else:
                is_partial = True
    if is_partial:
        log.deviate("script", "imperative_tools")
    return Registered(gather(_read_tools(tools[:MAX_ACTIONS], log)), is_partial)


# --- registrations --------------------------------------------------------------------


def _registered(script: Script) -> Iterator[JsonValue]:
    """Yield the argument of each registration; None for one that cannot be read."""
    if not any(token.strip("\"'`") == _CONTEXT for token in script.tokens):
        return
    contexts = {_CONTEXT, *_aliases(script)}
    for index, token in enumerate(script.tokens):
        if token not in _METHODS:
            continue
        opening = index + 1 + (script.token(index + 1) == "?.")
        if script.token(opening) != "(" or _is_definition(script, index, opening):
            continue
        is_called_on = script.token(index - 1) in _DOTS
        if is_called_on and script.token(index - 2) in contexts:
            yield from _handed_over(script, token, opening)
        else:
            yield None


def _aliases(script: Script) -> Iterator[str]:
    """Yield aliases of a model context: `const name = navigator.modelContext`."""
    for index, token in enumerate(script.tokens):
        if token != _CONTEXT or script.token(index + 1) in {*_DOTS, "="}:
            continue
        first = index
        for _ in range(_MAX_QUALIFIERS):
            first -= 2 if script.token(first - 1) in _DOTS else 0
        if script.token(first - 1) == "=":
            yield script.token(first - 2)


def _is_definition(script: Script, name: int, opening: int) -> bool:
    """Distinguish a definition, `function registerTool(tool) {…}`, from a call."""
    behind = script.token(script.behind(opening))
    return script.token(name - 1) == "function" or behind == "{"


def _handed_over(script: Script, method: str, opening: int) -> Iterator[JsonValue]:
    argument = next(script.parts(opening), None)
    if argument is None:
        return
    if method == "registerTool":
        yield from script.values(argument)
        return
    context = script.value(argument)
    tools = context.get("tools", []) if isinstance(context, dict) else None
    yield from tools if isinstance(tools, list) else (None,)


# --- tools ----------------------------------------------------------------------------


def _read_tools(
    tools: Iterable[JsonObject], log: DeviationLog
) -> Iterator[tuple[Reader, Action]]:
    for members in tools:
        name = clean_text(str(members["name"])[:80])
        tool = Reader(members, f"script[{name}]", log)
        if _is_complete(tool):
            yield tool, _read_tool(tool)


def _is_complete(tool: Reader) -> bool:
    """Check the description, which is required; a composed one cannot be read."""
    description = tool.members.get("description", "")
    if description == "":
        tool.deviate("tool_refused")
        return False
    for name in ("description", "inputSchema"):
        if name in tool.members and tool.members[name] is None:
            tool.child(name).deviate("composed_text", name=name)
    return True


def note_refused_name(name: str, tool: Reader) -> None:
    """Note a name that browsers refuse, of a form as of registerTool()."""
    if not _NAME.match(name):
        tool.deviate("tool_name_refused")


def _read_tool(tool: Reader) -> Action:
    name = tool.text("name")
    if name:
        note_refused_name(name, tool)
    return Action(
        name=name,
        description=tool.text("description"),
        parameters=read_parameters(tool, "inputSchema"),
        sensitivity=hinted_sensitivity(tool.child("annotations"), "readOnlyHint"),
        calls=(tool.call("webmcp", "page", operation=name),),
    )
