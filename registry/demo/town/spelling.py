"""Names and types of the cast, as each format writes them."""

from collections.abc import Iterable

from registry.reports import row_types
from registry.sites.action import Action, Parameter
from registry.strict_json import JsonValue


def camel(name: str) -> str:
    """book_table becomes bookTable; parts between dots are kept apart."""
    return ".".join(map(row_types.camel, name.split(".")))


def kebab(name: str) -> str:
    return name.replace("_", "-")


def title(name: str) -> str:
    return name.replace("_", " ").replace(".", " ").capitalize()


def method(action: Action) -> str:
    match action.sensitivity:
        case "read":
            return "GET"
        case "destructive":
            return "DELETE"
        case _:
            return "POST"


def json_schema(parameters: Iterable[Parameter]) -> dict[str, JsonValue]:
    """The parameters as a JSON Schema of one object."""
    parameters = tuple(parameters)
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            parameter.name: _property(parameter) for parameter in parameters
        },
    }
    if required := [parameter.name for parameter in parameters if parameter.required]:
        schema["required"] = list(required)
    return schema


def _property(parameter: Parameter) -> dict[str, JsonValue]:
    schema: dict[str, JsonValue] = {"type": parameter.type}
    if parameter.description:
        schema["description"] = parameter.description
    if parameter.enum:
        schema["enum"] = list(parameter.enum)
    if parameter.type == "array":
        schema["items"] = {"type": "string"}
    return schema


def list_entry(parameter: Parameter) -> dict[str, JsonValue]:
    """A parameter as an entry of a list, the way WAB and AWAS write it."""
    described: dict[str, JsonValue] = {
        "name": parameter.name,
        "type": parameter.type,
        "required": bool(parameter.required),
        "description": parameter.description or title(parameter.name),
    }
    return described | ({"enum": list(parameter.enum)} if parameter.enum else {})
