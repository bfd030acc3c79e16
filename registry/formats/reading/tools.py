"""Tools: a name, a JSON Schema and hints, as MCP and WebMCP both declare them.

Real documents list them as objects or bare names, or map names to objects or prose; they
borrow OpenAI's `{"type": "function", "function": {…}}`; they have many synonyms of
`inputSchema`.
"""

from collections.abc import Iterator

from registry.formats.document import MAX_ACTIONS
from registry.formats.reading.action_list import (
    hinted_sensitivity,
    read_only_sensitivity,
    severest,
)
from registry.formats.reading.gating import read_auth, read_confirmation
from registry.formats.reading.parameters import read_parameters
from registry.formats.reading.reader import Reader, clean_text
from registry.formats.reading.synonyms import note_synonym
from registry.sites.action import Action, Call, Sensitivity
from registry.strict_json import JsonValue

TOOL_NAMES = ("name", "id", "toolname")
SCHEMAS = (
    "inputSchema",
    "input_schema",
    "parameters",
    "params",
    "inputs",
    "schema",
    "arguments",
    "args",
    "fields",
)
_EFFECTS = frozenset({"annotations", "readOnly", "readOnlyHint", "mode"})
_MODES: dict[str, Sensitivity] = {
    "read": "read",
    "readonly": "read",
    "write": "write",
    "destructive": "destructive",
}


def lists_tools(value: JsonValue, names: tuple[str, ...] = TOOL_NAMES) -> bool:
    """Return whether the value has at least one named tool."""
    if isinstance(value, list):
        return any(_is_named(item, names) for item in value)
    if isinstance(value, dict):
        members = value.values()
        return any(isinstance(member, dict | list) for member in members) and all(
            isinstance(member, dict | list | str) for member in members
        )
    return False


def names_mcp_tools(value: JsonValue) -> bool:
    """Return whether a member `mcp` lists tools, or maps them to descriptions."""
    tools = value.get("tools") if isinstance(value, dict) else None
    if not isinstance(tools, dict):
        return lists_tools(tools)
    return bool(tools) and all(isinstance(x, str | dict | list) for x in tools.values())


def _is_named(value: JsonValue, names: tuple[str, ...]) -> bool:
    if isinstance(value, dict):
        function = value.get("function")
        tool = function if isinstance(function, dict) else value
        return any(isinstance(tool.get(name), str) for name in names)
    return isinstance(value, str) and bool(value)


def declared_tools(
    declared: Reader, names: tuple[str, ...] = TOOL_NAMES
) -> Iterator[tuple[str, Reader]]:
    """Yield the tools of a list or map with their names, at most MAX_ACTIONS.

    names: the members that may hold a name.
    """
    for count, tool in enumerate(_all_tools(declared, names)):
        if count == MAX_ACTIONS:
            declared.deviate("too_many_tools", limit=MAX_ACTIONS)
            return
        yield tool


def _all_tools(
    declared: Reader, names: tuple[str, ...]
) -> Iterator[tuple[str, Reader]]:
    if isinstance(declared.value, dict):
        declared.deviate("object_for_list")
        yield from _mapped_tools(declared, names)
        return
    for item in declared.elements():
        if isinstance(item.value, dict):
            tool = item.child("function")
            tool = tool if isinstance(tool.value, dict) else item
            yield _name_of(tool, names), tool
        elif isinstance(item.value, str):
            declared.deviate("tool_names_alone")
            yield item.as_text(), item
        else:
            item.expect("an object")


def _mapped_tools(
    declared: Reader, names: tuple[str, ...]
) -> Iterator[tuple[str, Reader]]:
    """Yield tools by name, or in groups; entries beside groups are remarks."""
    entries = declared.entries()
    groups = [group for _, group in entries if _is_group(group.value)]
    for group in groups:
        if isinstance(group.value, list):
            yield from declared_tools(group, names)
        else:
            for name, tool in group.entries():
                yield _name_of(tool, names) or clean_text(name), tool
    for name, tool in [] if groups else entries:
        if isinstance(tool.value, dict | str):
            yield _name_of(tool, names) or clean_text(name), tool


def _is_group(value: JsonValue) -> bool:
    """Return whether the value is a list of tools, or a map of named objects."""
    if isinstance(value, dict):
        members = list(value.values())
        return bool(members) and all(
            isinstance(member, dict) and isinstance(member.get("name"), str)
            for member in members
        )
    return isinstance(value, list) and lists_tools(value)


def _name_of(tool: Reader, names: tuple[str, ...]) -> str:
    """Return the name, or the identifier if the name consists of several words."""
    name = tool.text(*names)
    return (tool.text("id") or name) if " " in name else name


def note_if_empty(document: Reader, actions: tuple[Action, ...]) -> None:
    if not actions:
        document.deviate("no_tool")


def read_tool(
    name: str,
    tool: Reader,
    calls: tuple[Call, ...],
    *,
    auth_required: bool | None = None,
    schemas: tuple[str, ...] = SCHEMAS,
) -> Action:
    """Read a tool. auth_required: the default for a tool without its own.

    schemas: the member with the parameters, and its synonyms.
    """
    own_auth = read_auth(tool.child("authentication", "auth", "requiresAuth"))
    note_synonym(tool, *schemas)
    return Action(
        name=name,
        description=_describe(name, tool),
        parameters=read_parameters(tool, *schemas),
        auth_required=auth_required if own_auth is None else own_auth,
        sensitivity=_read_sensitivity(tool),
        confirmation=read_confirmation(tool),
        deprecated=tool.members.get("deprecated") is True,
        calls=calls,
    )


def _describe(name: str, tool: Reader) -> str:
    """Return the description: a text is one in a map, but a name in a list."""
    if isinstance(tool.value, str):
        text = tool.as_text()
        return "" if text == name else text
    description = tool.text("description", "summary", "purpose")
    if not description and "parsed_description" in tool.members:
        description = tool.child("parsed_description").text("main")
    if description:
        return description
    tool.child("description").deviate("tool_undescribed")
    title = tool.text("title", "displayName", "name")
    return title if title != name else ""


def _read_sensitivity(tool: Reader) -> Sensitivity | None:
    members = tool.members
    if _EFFECTS.isdisjoint(members):
        return None
    mode = members.get("mode")
    return severest(
        read_only_sensitivity(tool, "readOnly", "readOnlyHint"),
        hinted_sensitivity(tool.child("annotations"), "readOnlyHint", "readOnly"),
        _MODES.get(mode.lower()) if isinstance(mode, str) else None,
    )
