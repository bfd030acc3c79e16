"""A query string read as a msgspec struct, and the struct as OpenAPI's parameters.

A boolean is written true or false, a list with commas between its values; every other
parameter as msgspec takes it from a text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from litestar.exceptions import ValidationException
from litestar.openapi.spec import Operation
from msgspec import Meta

from registry.errors import Refused
from registry.interfaces.http import refusals
from registry.interfaces.http.strict import with_choices

MAX_LIST_LENGTH = 200
"""Letters of a list."""

Query = TypeVar("Query", bound=msgspec.Struct)


class _Parameter(NamedTuple):
    """name: in the query. text: the type that its text is checked by.

    parse: makes the member of the struct from what was checked.
    """

    name: str
    field: str
    is_required: bool
    default: Any
    text: Any
    parse: Callable[[str, Any], Any]


def read_query(values: Mapping[str, str], model: type[Query]) -> Query:
    """Return the query. values: each parameter known, and given once.

    Raises: ValidationException with all parameters of the wrong shape; Refused.
    """
    checked: dict[str, Any] = {}
    errors = []
    for parameter in _parameters(model):
        if parameter.name not in values:
            continue
        try:
            checked[parameter.field] = msgspec.convert(
                values[parameter.name], parameter.text, strict=False
            )
        except msgspec.ValidationError as error:
            message = with_choices(str(error), parameter.text)
            errors.append({"key": parameter.name, "message": message})
    if errors:
        raise ValidationException(extra=errors)
    members = {
        parameter.field: parameter.parse(parameter.name, checked[parameter.field])
        for parameter in _parameters(model)
        if checked.get(parameter.field) is not None
    }
    return model(**members)


def required_parameters(model: type[msgspec.Struct]) -> dict[str, bool]:
    """Return whether each parameter is required, as the guard of queries asks."""
    return {row.name: row.is_required for row in _parameters(model)}


def max_lengths(model: type[msgspec.Struct]) -> dict[str, int]:
    """Return the letters that each text of a form may have."""
    schemas = {row.name: _schema(row) for row in _parameters(model)}
    return {
        name: schema["maxLength"]
        for name, schema in schemas.items()
        if "maxLength" in schema
    }


def reading_query(model: type[msgspec.Struct]) -> type[Operation]:
    """Return the class of an operation whose parameters are the model's members."""

    @dataclass
    class QueryOperation(Operation):
        def to_schema(self) -> dict[str, Any]:
            operation = super().to_schema()
            return {**operation, "parameters": list(_described(model))}

    return QueryOperation


def _described(model: type[msgspec.Struct]) -> Iterator[dict[str, Any]]:
    for parameter in _parameters(model):
        schema = _schema(parameter)
        if parameter.default not in {None, msgspec.NODEFAULT}:
            schema["default"] = parameter.default
        yield {
            "name": parameter.name,
            "in": "query",
            "schema": schema,
            "description": schema.get("description", ""),
            "required": parameter.is_required,
            "deprecated": False,
            "allowEmptyValue": False,
            "allowReserved": False,
        }


def _schema(parameter: _Parameter) -> dict[str, Any]:
    """Return the schema of a given value: one that is absent is not null."""
    schema = msgspec.json.schema(parameter.text)
    given: dict[str, Any] = schema.get("anyOf", [schema])[0]
    return given


@cache
def _parameters(model: type[msgspec.Struct]) -> tuple[_Parameter, ...]:
    """Return the model's parameters, the required ones first."""
    parameters = map(_parameter, msgspec.structs.fields(model))
    return tuple(sorted(parameters, key=lambda row: not row.is_required))


def _parameter(field: Any) -> _Parameter:
    annotated = field.type if field.required else _without_none(field.type)
    meta = next(m for m in annotated.__metadata__ if isinstance(m, Meta))
    kind = annotated.__origin__
    text: Any = field.type
    parse: Callable[[str, Any], Any] = _as_checked
    if kind is bool:
        text = Annotated[
            str, Meta(pattern="^(true|false)$", description=meta.description)
        ]
        parse = _parse_boolean
    elif get_origin(kind) is tuple:
        choices = get_args(get_args(kind)[0])
        text = Annotated[
            str,
            Meta(
                max_length=MAX_LIST_LENGTH,
                description=f"{meta.description}; commas stand between them",
            ),
        ]
        parse = _list_parser(choices)
    return _Parameter(
        field.encode_name, field.name, field.required, field.default, text, parse
    )


def _without_none(type_: Any) -> Any:
    return next(
        (kind for kind in get_args(type_) if get_origin(kind) is Annotated), type_
    )


def _as_checked(_: str, value: Any) -> Any:
    return value


def _parse_boolean(name: str, text: str) -> bool:
    if text not in {"true", "false"}:  # a pattern's $ lets a line feed pass
        raise Refused(
            refusals.PARAMETER_INVALID, "neither true nor false", pointer=name
        )
    return text == "true"


def _list_parser(choices: tuple[str, ...]) -> Callable[[str, str], tuple[str, ...]]:
    def parse(name: str, text: str) -> tuple[str, ...]:
        values = [value.strip() for value in text.split(",")]
        for value, written in zip(values, text.split(","), strict=True):
            if value not in choices:
                raise none_of(choices, written, name)
        return tuple(values)

    return parse


def none_of(choices: tuple[str, ...], value: str, name: str) -> Refused:
    return Refused(
        refusals.PARAMETER_INVALID,
        f"{value[:80]!r} is none of {', '.join(choices)}",
        pointer=name,
    )
