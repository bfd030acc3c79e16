"""What an action takes, from the many shapes in which documents say it.

Lists of objects (WAB, AWAS), lists of names (`"note?"` is optional), maps from a name to
an object (AWP) or to prose (`"string (optional)"`), and JSON Schemas (ABP, WebMCP, MCP).
"""

import re
from collections.abc import Iterable
from typing import TypeGuard

from registry.formats.document import MAX_PARAMETERS
from registry.formats.reader import Reader, clean_text
from registry.sites.action import Parameter
from registry.strict_json import JsonObject, JsonValue

_TYPES = {
    "string": "string",
    "text": "string",
    "textarea": "string",
    "select": "string",
    "enum": "string",
    "url": "string",
    "uri": "string",
    "email": "string",
    "date": "string",
    "datetime": "string",
    "iso8601": "string",
    "number": "number",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "integer": "integer",
    "int": "integer",
    "boolean": "boolean",
    "bool": "boolean",
    "checkbox": "boolean",
    "array": "array",
    "list": "array",
    "object": "object",
    "map": "object",
    "dict": "object",
}
_LEADING_WORD = re.compile(r"[A-Za-z0-9]+")
_INLINE_ENUM = re.compile(r"enum\[(.*)\]\Z", re.IGNORECASE | re.DOTALL)


def read_parameters(action: Reader, *names: str) -> tuple[Parameter, ...]:
    """The parameters in the first of the named members."""
    declared = action.child(*names)
    if isinstance(declared.value, list):
        found: Iterable[Parameter] = _from_list(declared)
    elif _is_schema(declared.value):
        found = _from_schema(declared)
    else:
        found = _from_map(declared)
    return _distinct(declared, found)


def type_name(declared: str) -> str:
    """The JSON Schema type a declared type stands for; "unknown" for domain types."""
    word = _LEADING_WORD.match(declared.strip())
    return _TYPES.get(word[0].lower(), "unknown") if word else "unknown"


def _is_schema(value: JsonValue) -> bool:
    """Whether an object is a JSON Schema and no map of parameters.

    A map may itself have a parameter called `type` or `properties`.
    """
    if not isinstance(value, dict):
        return False
    properties = value.get("properties")
    if value.get("type") == "object":
        return True
    return isinstance(properties, dict) and all(
        isinstance(each, dict | bool) for each in properties.values()
    )


def _from_list(declared: Reader) -> Iterable[Parameter]:
    for item in declared.elements(MAX_PARAMETERS):
        if isinstance(item.value, str):
            name = item.as_text()
            yield Parameter(
                name=name.removesuffix("?"),
                required=False if name.endswith("?") else None,
            )
        else:
            yield _from_object(item.text("name", "id"), item, item.boolean("required"))


def _from_schema(schema: Reader) -> Iterable[Parameter]:
    declared = schema.child("required").value
    required = declared if isinstance(declared, list) else []
    for name, member in schema.children("properties", limit=MAX_PARAMETERS):
        yield _from_object(clean_text(name), member, name in required)


def _from_map(declared: Reader) -> Iterable[Parameter]:
    for name, member in declared.entries(MAX_PARAMETERS):
        if isinstance(member.value, str):
            prose = member.as_text()
            optional = "optional" in prose.lower()
            yield Parameter(
                name=clean_text(name),
                type=type_name(prose),
                required=False if optional else None,
            )
        else:
            yield _from_object(clean_text(name), member, member.boolean("required"))


def _from_object(name: str, declared: Reader, required: bool | None) -> Parameter:
    return Parameter(
        name=name,
        type=_declared_type(declared),
        required=required,
        description=declared.text("description", "title"),
        enum=_choices(declared),
    )


def _declared_type(declared: Reader) -> str:
    """The first type that is not null, of the parameter or its alternatives."""
    value = declared.members.get("type")
    if isinstance(value, str):
        return type_name(value)
    if isinstance(value, list):
        names = [each for each in value if isinstance(each, str) and each != "null"]
        return type_name(names[0]) if names else "unknown"
    alternatives = declared.child("anyOf", "oneOf").value
    if value is None and isinstance(alternatives, list):
        types = [each["type"] for each in alternatives if _is_typed(each)]
        return type_name(str(types[0])) if types else "unknown"
    return "unknown"


def _is_typed(alternative: JsonValue) -> TypeGuard[JsonObject]:
    return isinstance(alternative, dict) and alternative.get("type") not in (
        None,
        "null",
    )


def _choices(declared: Reader) -> tuple[str, ...]:
    inline = declared.members.get("type")
    found = _INLINE_ENUM.match(inline) if isinstance(inline, str) else None
    if found:
        return tuple(clean_text(each) for each in found[1].split(",")[:MAX_PARAMETERS])
    listed = declared.child("enum", "options")
    if not listed.is_present:
        listed = declared.child("validation").child("enum", "options")
    if not listed.is_present:
        return ()
    texts = (_spell(item.value) for item in listed.elements(MAX_PARAMETERS))
    return tuple(text for text in texts if text)


def _spell(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return clean_text(str(value))[:200]
    return ""


def _distinct(declared: Reader, found: Iterable[Parameter]) -> tuple[Parameter, ...]:
    kept: dict[str, Parameter] = {}
    for parameter in found:
        if not parameter.name:
            declared.note("required", "a parameter has no name", "Name it.")
        elif parameter.name in kept:
            declared.note("duplicate", "a parameter stands twice", "Keep one of them.")
        else:
            kept[parameter.name] = parameter
    return tuple(kept.values())
