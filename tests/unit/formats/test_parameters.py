from typing import Any

import pytest

from registry.formats.parameters import read_parameters, type_name
from registry.formats.reader import Ledger, Reader
from registry.sites.action import Parameter


def _read(value: Any) -> tuple[Parameter, ...]:
    action = Reader({"params": value}, "", Ledger(url="https://site.example/"))
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
    found = _read(
        {
            "type": {"type": "string", "required": True},
            "properties": {"type": "object", "description": "What it is like"},
        }
    )
    assert [(p.name, p.type) for p in found] == [
        ("type", "string"),
        ("properties", "object"),
    ]


def test_a_schema_may_have_them_too() -> None:
    found = _read(
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
    assert [(p.name, p.type, p.required) for p in found] == [
        ("type", "unknown", True),
        ("properties", "unknown", False),
        ("__proto__", "number", False),
    ]


def test_choices_are_spelled_as_texts() -> None:
    found = _read(
        [
            {"name": "a", "enum": ["x", 2, True, None, {}]},
            {"name": "b", "type": "enum[low, high]"},
            {"name": "c", "validation": {"enum": ["y"]}},
        ]
    )
    assert [p.enum for p in found] == [("x", "2", "true"), ("low", "high"), ("y",)]


def test_nameless_and_repeated_parameters_are_dropped_and_told() -> None:
    ledger = Ledger(url="https://site.example/")
    value: Any = {"params": [{"type": "string"}, {"name": "a"}, {"name": "a"}]}
    found = read_parameters(Reader(value, "", ledger), "params")
    assert [p.name for p in found] == ["a"]
    assert {d.rule for d in ledger.deviations} == {"required", "duplicate"}


@pytest.mark.parametrize("value", [None, 7, "a, b", True])
def test_what_is_no_declaration_declares_nothing(value: Any) -> None:
    assert _read(value) == ()
