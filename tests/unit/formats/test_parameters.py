from typing import Any

import pytest

from registry.formats.reading.parameters import read_parameters, type_name
from registry.formats.reading.reader import DeviationLog, Reader
from registry.sites.action import Parameter


def _read(value: Any) -> tuple[Parameter, ...]:
    action = Reader({"params": value}, "", DeviationLog(url="https://site.example/"))
    return read_parameters(action, "params")


@pytest.mark.parametrize(
    ("declared", "known"),
    [
        ("string", "string"),
        ("float", "number"),
        ("ISO8601", "string"),
        ("array[flight]", "array"),
        ("object[cart]", "object"),
        ("enum[a, b]", "string"),
        ("number (optional, default 20)", "number"),
        ("  integer", "integer"),
        ("string[]", "array"),
        ("flight[]", "array"),
        ("stringent", "unknown"),
        ("airport_code", "unknown"),
        ("", "unknown"),
        ("…", "unknown"),
    ],
)
def test_domain_types_stay_unknown(declared: str, known: str) -> None:
    assert type_name(declared) == known


def test_a_list_of_names_marks_the_optional_ones() -> None:
    assert _read(["email", "note?"]) == (
        Parameter(name="email"),
        Parameter(name="note", required=False),
    )


def test_a_map_may_have_a_parameter_called_properties_or_type() -> None:
    result = _read(
        {
            "type": {"type": "string", "required": True},
            "properties": {"type": "object", "description": "What it is like"},
        }
    )
    assert [(p.name, p.type) for p in result] == [
        ("type", "string"),
        ("properties", "object"),
    ]


def test_a_schema_may_have_them_too() -> None:
    result = _read(
        {
            "type": "object",
            "properties": {
                "type": {},
                "properties": {},
                "__proto__": {"type": "number"},
            },
            "required": ["type", 7],
        }
    )
    assert [(p.name, p.type, p.required) for p in result] == [
        ("type", "unknown", True),
        ("properties", "unknown", False),
        ("__proto__", "number", False),
    ]


def test_choices_are_spelled_as_texts() -> None:
    result = _read(
        [
            {"name": "a", "enum": ["x", 2, True, None, {}]},
            {"name": "b", "type": "enum[low, high]"},
            {"name": "c", "validation": {"enum": ["y"]}},
        ]
    )
    assert [p.enum for p in result] == [("x", "2", "true"), ("low", "high"), ("y",)]


def test_inline_choices_are_read_in_a_map_of_texts_too() -> None:
    result = _read(
        {"cabin": "enum[ economy , business]", "none": "enum[]", "open": "enum["}
    )
    assert [(p.type, p.enum) for p in result] == [
        ("string", ("economy", "business")),
        ("array", ()),
        ("string", ()),
    ]


def test_a_map_may_mark_the_optional_in_the_name() -> None:
    assert _read({"note?": "string", "email": "string"}) == (
        Parameter(name="note", type="string", required=False),
        Parameter(name="email", type="string"),
    )


def test_a_map_may_list_what_is_required_as_a_schema_does() -> None:
    result = _read({"a": {"type": "string"}, "b": "integer", "required": ["a", 7]})
    assert [(p.name, p.type, p.required) for p in result] == [
        ("a", "string", True),
        ("b", "integer", False),
    ]
    (flag,) = _read({"required": {"type": "boolean", "required": True}})
    assert (flag.name, flag.type, flag.required) == ("required", "boolean", True)


DEFINED = {
    "City": {"type": "string", "enum": ["Graz", "Linz"]},
    "a/b": {"type": "integer"},
}


@pytest.mark.parametrize(
    ("member", "kind", "choices"),
    [
        pytest.param({"$ref": "#/$defs/City"}, "string", ("Graz", "Linz"), id="ref"),
        pytest.param({"$ref": "#/definitions/City"}, "unknown", (), id="elsewhere"),
        pytest.param({"$ref": "#/$defs/Town"}, "unknown", (), id="a dangling ref"),
        pytest.param({"$ref": "#/$defs/a~1b"}, "integer", (), id="an escaped ref"),
        pytest.param({"$ref": "#"}, "unknown", (), id="a ref to the whole"),
        pytest.param({"$ref": "https://x.example/s"}, "unknown", (), id="a far ref"),
        pytest.param({"$ref": ["#/$defs/City"]}, "unknown", (), id="a ref list"),
        pytest.param({"$ref": "#/$defs/Loop"}, "unknown", (), id="a ref to itself"),
        pytest.param(
            {"anyOf": [{"$ref": "#/$defs/City"}, {"type": "null"}]},
            *("string", ("Graz", "Linz")),
            id="a nullable ref",
        ),
        pytest.param(
            {"allOf": [{"$ref": "#/$defs/City"}, {"minLength": 1}]},
            *("string", ("Graz", "Linz")),
            id="all of",
        ),
        pytest.param(
            {"oneOf": [{"const": "a"}, {"const": 2}, {"enum": ["a", "c"]}]},
            *("unknown", ("a", "2", "c")),
            id="constants to choose from",
        ),
        pytest.param(
            {"anyOf": [{"type": "null"}, {"type": "integer"}]}, "integer", (), id="null"
        ),
        pytest.param({"anyOf": "string"}, "unknown", (), id="no alternatives"),
        pytest.param({"oneOf": [True, None, 7]}, "unknown", (), id="no schemas"),
        pytest.param({"const": "fixed"}, "unknown", ("fixed",), id="const"),
        pytest.param({"const": None}, "unknown", (), id="const null"),
        pytest.param({"type": ["null", "number"]}, "number", (), id="a list of types"),
        pytest.param({"type": ["null"]}, "unknown", (), id="null alone"),
        pytest.param({"type": {"type": "string"}}, "unknown", (), id="a type object"),
        pytest.param({"type": "string", "default": "x"}, "string", (), id="default"),
        pytest.param({"enum": {"a": 1}}, "unknown", (), id="a map of choices"),
        pytest.param(True, "unknown", (), id="anything"),
        pytest.param(False, "unknown", (), id="nothing"),
    ],
)
def test_a_schema_says_types_and_choices_in_many_ways(
    member: Any, kind: str, choices: tuple[str, ...]
) -> None:
    defined = DEFINED | {"Loop": {"$ref": "#/$defs/Loop"}}
    (result,) = _read({"type": "object", "properties": {"x": member}, "$defs": defined})
    assert (result.type, result.enum, result.required) == (kind, choices, False)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(
            {
                "$ref": "#/definitions/In",
                "definitions": {"In": {"properties": {"a": {}}}},
            },
            [("a", False)],
            id="a reference",
        ),
        pytest.param(
            {
                "allOf": [
                    {"properties": {"a": {}, "b": {}}, "required": ["a"]},
                    {"$ref": "#/$defs/In"},
                    7,
                ],
                "$defs": {"In": {"properties": {"b": {}, "c": {}}, "required": ["c"]}},
            },
            [("a", True), ("b", False), ("c", True)],
            id="parts",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"a": {"required": True}},
                "oneOf": [{"properties": {"b": {}}, "required": ["b"]}],
            },
            [("a", True), ("b", None)],
            id="alternatives",
        ),
        pytest.param({"additionalProperties": False}, [], id="nothing is taken"),
        pytest.param({"$schema": "https://x.example/s"}, [], id="an empty schema"),
        pytest.param({"type": "object", "properties": ["a"]}, [], id="a list"),
        pytest.param({"type": "object", "required": "a"}, [], id="a required text"),
        pytest.param(
            {
                "properties": {
                    "inner": {"properties": {"deep": {}}, "required": ["deep"]}
                }
            },
            [("inner", False)],
            id="nested properties",
        ),
        pytest.param(
            {"properties": {"a": {"type": "string"}, "b": "string"}},
            [("properties", None)],
            id="no schema after all",
        ),
    ],
)
def test_the_properties_of_a_schema_and_its_parts_are_parameters(
    schema: Any, expected: list[tuple[str, bool | None]]
) -> None:
    assert [(p.name, p.required) for p in _read(schema)] == expected


def test_parameters_stay_within_their_limits() -> None:
    many = {f"p{number}": {"enum": [*range(300)]} for number in range(300)}
    parts: list[Any] = [
        {"properties": {f"{item}{name}": {} for name in many}} for item in "abcd"
    ]
    for declared in (many, [{"name": ranking} for ranking in many], {"allOf": parts}):
        assert len(_read(declared)) == 100
    first, *_ = _read(many)
    assert len(first.enum) == 100
    (long,) = _read({"x" * 9_000: {"type": f"enum[{'y' * 9_000}]"}})
    assert (len(long.name), len(long.enum[0])) == (200, 200)


def test_nameless_and_repeated_parameters_are_dropped_and_reported() -> None:
    log = DeviationLog(url="https://site.example/")
    value: Any = {"params": [{"type": "string"}, {"name": "a"}, {"name": "a"}]}
    parameters = read_parameters(Reader(value, "", log), "params")
    assert [p.name for p in parameters] == ["a"]
    assert {d.rule for d in log.deviations} == {"required", "duplicate"}


@pytest.mark.parametrize("value", [None, 7, "a, b", True])
def test_what_is_no_declaration_declares_nothing(value: Any) -> None:
    assert _read(value) == ()
