"""Parameters as a JSON Schema whose properties carry what a schema cannot say."""

from registry.formats.as_mcp_tools import input_schema
from registry.formats.extension import extended
from registry.sites.action import Action, Parameter
from registry.strict_json import JsonObject


def extended_schema(action: Action) -> JsonObject:
    schema = input_schema(action.parameters)
    properties = schema["properties"]
    assert isinstance(properties, dict)  # noqa: S101 - for the type checker
    for row in action.parameters:
        properties[row.name] = _property(row, properties[row.name])
    return schema


def _property(parameter: Parameter, described: object) -> JsonObject:
    members = described if isinstance(described, dict) else {}
    return extended(
        members,
        ("required",) if parameter.required is None else (),
        enum=list(parameter.enum) if "items" in members else None,
    )
