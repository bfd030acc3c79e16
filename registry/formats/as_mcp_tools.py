"""A site's actions as MCP tool definitions, by the mapping of WAB 1.0 section 10.2.

The answer has the form of MCP's `tools/list`. Names carry the host (section 10.5), and
descriptions begin with it: a name that a site gives itself may be another's. Hints appear
only where the site declared the effect.
"""

import re
from collections.abc import Iterator

from registry.formats.untrusted_text import neutralise_all
from registry.sites.action import Action, Parameter
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

MAX_NUMBER = 2**53  # whatever is larger is read differently by different parsers
MAX_NAME_CHARACTERS = 128  # MCP, tool names
_MAX_SITE_CHARACTERS = 48
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def as_mcp_tools(site: Site, *, host: str) -> JsonObject:
    """Map the actions. host: the crawled one."""
    prefix = host.replace(".", "_")[-_MAX_SITE_CHARACTERS:]
    tools: list[JsonValue] = []
    taken: set[str] = set()
    for action in site.actions:
        name = _tool_name(prefix, action.name, taken)
        taken.add(name)
        tools.append(_tool(action, name, host))
    return {"tools": neutralise_all(tools)}


def _tool_name(prefix: str, action: str, taken: set[str]) -> str:
    own = _NOT_IN_NAME.sub("_", action).strip("_") or "action"
    room = MAX_NAME_CHARACTERS - len(prefix) - len("__")
    name, number = f"{prefix}__{own[:room]}", 1
    while name in taken:
        number += 1
        mark = f"_{number}"
        name = f"{prefix}__{own[: room - len(mark)]}{mark}"
    return name


def _tool(action: Action, name: str, host: str) -> JsonObject:
    tool: JsonObject = {
        "name": name,
        "description": f"{host} says: {action.description or action.name}",
        "inputSchema": input_schema(action.parameters),
    }
    hints = dict(_hints(action))
    return {**tool, "annotations": hints} if hints else tool


def _hints(action: Action) -> Iterator[tuple[str, JsonValue]]:
    if action.sensitivity is not None:
        yield "readOnlyHint", action.sensitivity == "read"
        if action.sensitivity != "read":
            yield "destructiveHint", action.sensitivity != "write"


def input_schema(
    parameters: tuple[Parameter, ...], *, choices: int | None = None
) -> JsonObject:
    """Map parameters to JSON Schema.

    choices: given for a schema in brief, without descriptions and what goes without
    saying: the most values of one that are listed. There a required text is named once.
    """
    required: list[JsonValue] = [p.name for p in parameters if p.required]
    properties: JsonObject = {
        p.name: own
        for p in parameters
        if (own := _property(p, choices)) or not (choices and p.required)
    }
    schema: JsonObject = {} if choices else {"type": "object"}
    if properties or not choices:
        schema["properties"] = properties
    return {**schema, "required": required} if required else schema


def _property(parameter: Parameter, most: int | None) -> JsonObject:
    described: JsonObject = {}
    is_plain = parameter.type == "string" and most is not None
    if parameter.type != "unknown" and not is_plain:
        described["type"] = parameter.type
    if parameter.description and most is None:
        described["description"] = parameter.description
    if parameter.enum and (most is None or len(parameter.enum) <= most):
        choices: list[JsonValue] = [_choice(text, parameter) for text in parameter.enum]
        if parameter.type == "array":
            described["items"] = {"enum": choices}
        else:
            described["enum"] = choices
    return described


def _choice(text: str, parameter: Parameter) -> JsonValue:
    """Convert a choice, which the model stores as text, to the parameter's type.

    One that JSON would spell otherwise stays a text.
    """
    match parameter.type:
        case "boolean":
            return {"true": True, "false": False}.get(text, text)
        case "integer" | "number":
            number = _number(text, int if parameter.type == "integer" else float)
            return text if number is None else number
        case _:
            return text


def _number(text: str, kind: type[int] | type[float]) -> int | float | None:
    try:
        number = kind(text)
    except (ValueError, OverflowError):
        return None
    # NaN compares as false.
    return number if abs(number) < MAX_NUMBER and str(number) == text else None
