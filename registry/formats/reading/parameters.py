"""Parameters of an action, from the many shapes in which documents declare them.

Lists of objects (WAB, AWAS), lists of names (`"note?"` is optional), maps from a name to
an object (AWP) or to prose (`"string (optional)"`), and JSON Schemas (ABP, WebMCP, MCP).
Of a schema the outermost properties count; a `$ref` into its own definitions and the
parts it combines are followed one step, never further.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec.structs import replace

from registry.formats.document import MAX_PARAMETERS
from registry.formats.reading.reader import Reader, clean_text
from registry.sites.action import Parameter
from registry.strict_json import JsonObject, JsonValue

MAX_WORD_CHARACTERS = 200
_MAX_PARTS = 20
_WORDS_OF_TYPE = {
    "string": (
        *("string", "text", "textarea", "select", "enum"),
        *("url", "uri", "email", "date", "datetime", "iso8601"),
    ),
    "number": ("number", "float", "double", "decimal"),
    "integer": ("integer", "int"),
    "boolean": ("boolean", "bool", "checkbox"),
    "array": ("array", "list"),
    "object": ("object", "map", "dict"),
}
_TYPES = {word: name for name, words in _WORDS_OF_TYPE.items() for word in words}
_LEADING_WORD = re.compile(r"\s*+([A-Za-z0-9]{1,20}+)(?![A-Za-z0-9])")
# Members by which an object is a JSON Schema even if it names neither type nor
# properties. A map of parameters has objects or texts under any name.
_SCHEMA_MARKS: dict[str, type] = {
    "$ref": str,
    "$schema": str,
    "$defs": dict,
    "allOf": list,
    "anyOf": list,
    "oneOf": list,
}
_COMBINING = ("anyOf", "oneOf", "allOf")
_POINTING = frozenset({"$ref", *_COMBINING})
_CHOOSING = frozenset({"enum", "options", "const", "validation"})
_DEFINITIONS = frozenset({"$defs", "definitions"})


_NAMELESS = Parameter(name="")


def read_parameters(action: Reader, *names: str) -> tuple[Parameter, ...]:
    """Read the parameters in the first of the named members."""
    declared = action.child(*names)
    if not declared.is_present:
        return ()
    if isinstance(declared.value, list):
        parameters: Iterable[Parameter] = _from_list(declared)
    elif is_schema(declared.value):
        parameters = _from_schema(declared)
    else:
        parameters = _from_map(declared)
    return _distinct(declared, parameters)


def type_name(declared: str) -> str:
    """Map a declared type to that of JSON Schema; "unknown" for domain types."""
    if plain := _TYPES.get(declared):
        return plain
    if declared.endswith("[]"):
        return "array"
    word = _LEADING_WORD.match(declared)
    return _TYPES.get(word[1].lower(), "unknown") if word else "unknown"


def is_schema(value: JsonValue) -> bool:
    """Distinguish a JSON Schema from a map of parameters.

    A map may itself have a parameter called `type` or `properties`.
    """
    if not isinstance(value, dict):
        return False
    if value.get("type") == "object":
        return True
    properties = value.get("properties")
    if isinstance(properties, dict) and all(
        isinstance(member, dict | bool) for member in properties.values()
    ):
        return True
    if value.keys() == {"additionalProperties"}:
        return True
    marks = _SCHEMA_MARKS.keys() & value.keys()
    return any(isinstance(value[name], _SCHEMA_MARKS[name]) for name in marks)


def _from_list(declared: Reader) -> Iterator[Parameter]:
    for item in declared.elements(MAX_PARAMETERS):
        if isinstance(item.value, str):
            name = item.as_text()
            yield Parameter(
                name=name.removesuffix("?")[:MAX_WORD_CHARACTERS],
                required=False if name.endswith("?") else None,
            )
        elif name := item.text("name", "id"):
            yield _from_object(name, item, item.boolean("required"))
        else:
            yield _NAMELESS


def _from_schema(schema: Reader) -> Iterator[Parameter]:
    """Yield the properties of the schema and of its parts, each name once.

    A property of one alternative has an unknown `required`.
    """
    parts = [schema, *_parts(schema, schema, "allOf")]
    required = _texts_in(*(part.members.get("required") for part in parts))
    seen: set[str] = set()
    for part in parts:
        for name, member in _unseen_properties(part, seen):
            is_required = name in required or member.members.get("required") is True
            yield _from_object(name, member, is_required, schema)
    for part in _parts(schema, schema, "anyOf", "oneOf"):
        for name, member in _unseen_properties(part, seen):
            yield _from_object(name, member, None, schema)


def _unseen_properties(schema: Reader, seen: set[str]) -> list[tuple[str, Reader]]:
    properties = schema.children("properties", limit=MAX_PARAMETERS)
    unseen = [(name, member) for name, member in properties if name not in seen]
    seen.update(name for name, _ in unseen)
    return unseen


def _from_map(declared: Reader) -> Iterator[Parameter]:
    """Read a map, in which an array called `required` lists names, as in a schema."""
    listed = declared.members.get("required")
    required = _texts_in(listed) if isinstance(listed, list) else None
    for name, member in declared.entries(MAX_PARAMETERS):
        if required is not None and name == "required":
            continue
        if isinstance(member.value, str):
            parameter = _from_prose(name, member)
        else:
            parameter = _from_object(name, member, member.boolean("required"))
        if required is not None and parameter.required is None:
            parameter = replace(parameter, required=name in required)
        yield parameter


def _from_prose(name: str, declared: Reader) -> Parameter:
    prose = declared.as_text()
    optional = name.endswith("?") or "optional" in prose.lower()
    return Parameter(
        name=_name(name.removesuffix("?")),
        type=type_name(prose),
        required=False if optional else None,
        enum=_inline_choices(prose),
    )


def _from_object(
    name: str, declared: Reader, required: bool | None, schema: Reader | None = None
) -> Parameter:
    """Read an object. schema: the root with the definitions that a `$ref` may name."""
    members = declared.members
    kind, choices = _kind_and_choices(declared)
    if not _POINTING.isdisjoint(members):
        for part in _parts(declared, schema, *_COMBINING):
            if kind == "unknown":
                kind = _declared_type(part.members)
            choices += _choices(part)
        choices = tuple(dict.fromkeys(choices))[:MAX_PARAMETERS]
    return Parameter(
        name=_name(name),
        type=kind,
        required=required,
        description=declared.text("description", "title"),
        enum=choices,
    )


def _name(declared: str) -> str:
    word = declared[:MAX_WORD_CHARACTERS]
    return word.strip() if word.isprintable() else clean_text(word)


def _kind_and_choices(declared: Reader) -> tuple[str, tuple[str, ...]]:
    members = declared.members
    kind = members.get("type")
    plain = _TYPES.get(kind) if isinstance(kind, str) else None
    if plain is None:
        return _declared_type(members), _choices(declared)
    return plain, _stated_choices(declared)


def _parts(declared: Reader, schema: Reader | None, *combining: str) -> list[Reader]:
    """Return the target of a `$ref` and the combined parts, one step deep."""
    parts = [_followed(declared, schema)] if "$ref" in declared.members else []
    for name in combining:
        combined = declared.child(name)
        if isinstance(combined.value, list):
            parts += (_followed(part, schema) for part in combined.elements(_MAX_PARTS))
    return [part for part in parts if isinstance(part.value, dict)]


def _followed(declared: Reader, schema: Reader | None) -> Reader:
    """Follow a local `$ref`; others return the declaration itself."""
    reference = declared.members.get("$ref")
    if schema is None or not isinstance(reference, str):
        return declared
    holder, _, name = reference.removeprefix("#/").partition("/")
    if holder not in _DEFINITIONS:
        return declared
    return schema.child(holder).child(name.replace("~1", "/").replace("~0", "~"))


def _texts_in(*lists: JsonValue) -> frozenset[str]:
    return frozenset(
        item
        for listed in lists
        if isinstance(listed, list)
        for item in listed
        if isinstance(item, str)
    )


def _declared_type(members: JsonObject) -> str:
    """Return the first type that is not null."""
    value = members.get("type")
    if isinstance(value, str):
        return _TYPES.get(value) or type_name(value)
    if isinstance(value, list):
        names = (name for name in value if isinstance(name, str) and name != "null")
        return type_name(next(names, ""))
    return "unknown"


def _choices(declared: Reader) -> tuple[str, ...]:
    members = declared.members
    kind = members.get("type")
    inline = _inline_choices(kind) if isinstance(kind, str) else ()
    return inline or _stated_choices(declared)


def _stated_choices(declared: Reader) -> tuple[str, ...]:
    members = declared.members
    if _CHOOSING.isdisjoint(members):
        return ()
    if "enum" in members or "options" in members:
        return _listed_choices(declared)
    if "const" in members:
        return _choice_texts([members["const"]])
    return (
        _listed_choices(declared.child("validation")) if "validation" in members else ()
    )


def _listed_choices(declared: Reader) -> tuple[str, ...]:
    values = declared.members.get("enum")
    if not isinstance(values, list) or not 0 < len(values) <= MAX_PARAMETERS:
        listed = declared.child("enum", "options")
        listed.elements(MAX_PARAMETERS)  # records deviations
        values = listed.value if isinstance(listed.value, list) else []
    return _choice_texts(values[:MAX_PARAMETERS])


def _inline_choices(kind: str) -> tuple[str, ...]:
    """Read the values of `enum[a, b]`."""
    if "[" not in kind:
        return ()
    kind = kind.strip()
    if not (kind[:5].lower() == "enum[" and kind.endswith("]")):
        return ()
    listed = kind[5:-1].split(",", MAX_PARAMETERS)
    return _choice_texts(text.strip() for text in listed[:MAX_PARAMETERS])


def _choice_texts(values: Iterable[JsonValue]) -> tuple[str, ...]:
    return tuple(filter(None, map(_choice_text, values)))


def _choice_text(value: JsonValue) -> str:
    if isinstance(value, str):
        return _name(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return clean_text(str(value)[:MAX_WORD_CHARACTERS])
    return ""


def _distinct(
    declared: Reader, parameters: Iterable[Parameter]
) -> tuple[Parameter, ...]:
    distinct: dict[str, Parameter] = {}
    for parameter in islice(parameters, MAX_PARAMETERS):
        if not parameter.name:
            declared.deviate("parameter_without_name")
        elif parameter.name in distinct:
            declared.deviate("parameter_listed_twice")
        else:
            distinct[parameter.name] = parameter
    return tuple(distinct.values())
