import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed, Rejected
from registry.sites.action import Call
from tests.unit.formats.broken import broken

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

WHOLE: dict[str, Any] = {
    "abp": "0.1",
    "app": {
        "id": "org.example.noten",
        "name": "Notensatz",
        "version": "2.0.0-rc.1",
        "description": "Engraves sheet music",
        "homepage": "https://noten.example/app",
        "icon": "/icon.png",
        "support": "hilfe@noten.example",
    },
    "capabilities": [
        {
            "name": "render.score",
            "description": "Render a score",
            "inputSchema": {
                "type": "object",
                "properties": {"source": {"type": "string"}, "options": True},
                "required": ["source"],
            },
            "outputSchema": {"type": "array", "items": {"type": "string"}},
            "available": False,
            "requirements": [{"type": "gesture", "met": "later"}],
            "features": {"svg": True},
            "experimental": True,
        },
        {
            "name": "print.score",
            "deprecated": True,
            "deprecationMessage": "Render it, then print the page.",
            "alternatives": ["render.score"],
        },
        {"name": "play.score", "inputSchema": {}, "outputSchema": {"enum": ["done"]}},
    ],
}
# Place, value put there, rule broken at that place.
DEVIATIONS: dict[str, tuple[str, Any, str]] = {
    "the version as a number": ("/abp", 0.1, "type"),
    "no version": ("/abp", "", "minLength"),
    "no id": ("/app/id", None, "type"),
    "an empty name": ("/app/name", "", "minLength"),
    "an app version as a number": ("/app/version", 2, "type"),
    "a homepage that is a script": ("/app/homepage", "javascript:x", "target"),
    "an icon as an object": ("/app/icon", {"src": "/icon.png"}, "type"),
    "capabilities by name": ("/capabilities", {"a.b": {}, "c.d": {}, "e": {}}, "type"),
    "a capability as its name": ("/capabilities/2", "play.score", "type"),
    "a described list": ("/capabilities/0/description", ["Render"], "type"),
    "experimental in words": ("/capabilities/0/experimental", "yes", "type"),
    "deprecated in words": ("/capabilities/1/deprecated", "yes", "type"),
    "a message as a flag": ("/capabilities/1/deprecationMessage", True, "type"),
    "an alternative as a text": ("/capabilities/1/alternatives", "a.b", "type"),
    "a boolean schema": ("/capabilities/0/inputSchema", True, "type"),
    "a schema as a list": ("/capabilities/0/inputSchema", ["source"], "type"),
    "a schema as a text": ("/capabilities/0/outputSchema", "string", "type"),
    "a map of parameters": (
        *("/capabilities/0/inputSchema", {"source": {"type": "string"}}, "schema"),
    ),
    "a map of prose": ("/capabilities/0/inputSchema", {"source": "string"}, "schema"),
    "a map of results": ("/capabilities/0/outputSchema", {"svg": "string"}, "schema"),
    "parameters in an array": ("/capabilities/0/inputSchema/type", "array", "schema"),
    "listed properties": (
        *("/capabilities/0/inputSchema/properties", ["source"], "type"),
    ),
    "required as a text": ("/capabilities/0/inputSchema/required", "source", "type"),
    "required as a flag": ("/capabilities/0/inputSchema/required", True, "type"),
}


def _changed(place: str, value: Any) -> dict[str, Any]:
    document = copy.deepcopy(WHOLE)
    *way, last = (
        int(part) if part.isdigit() else part for part in place.split("/")[1:]
    )
    container: Any = document
    for step in way:
        container = container[step]
    container[last] = value
    return document


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def _rejection(body: str) -> Any:
    result = parse_document(body.encode(), url="https://site.example/abp.json")
    assert isinstance(result, Rejected), result
    return result.problem


def test_a_sample_is_read_whole(sample: Sample, read: Read) -> None:
    document = read(sample("abp-manifest"))
    render, play, prints = document.site.actions
    assert (document.conformance, document.version) == ("strict", "0.1")
    assert document.site.name == "Notensatz"
    assert [(p.name, p.required, p.enum) for p in render.parameters] == [
        ("type", False, ("svg", "png")),
        ("source", True, ()),
    ]
    assert (play.experimental, prints.deprecated) == (True, True)


def test_all_that_the_types_allow_is_strict(read: Read) -> None:
    document = read(copy.deepcopy(WHOLE))
    assert document.deviations == ()
    assert document.conformance == "strict"
    render, prints, play = document.site.actions
    assert (render.experimental, prints.deprecated) == (True, True)
    assert [(p.name, p.type, p.required) for p in render.parameters] == [
        ("source", "string", True),
        ("options", "unknown", False),
    ]
    assert play.parameters == ()


@pytest.mark.parametrize(
    ("place", "value", "rule"), DEVIATIONS.values(), ids=DEVIATIONS
)
def test_a_deviation_is_named_once_and_where_it_is(
    read: Read, place: str, value: Any, rule: str
) -> None:
    document = read(_changed(place, value))
    assert _rules(document) == {(place, rule)}
    (deviation,) = document.deviations
    assert deviation.detail
    assert deviation.fix
    assert len(document.site.actions) == 3


@pytest.mark.parametrize("name", ["id", "name", "version"])
def test_what_is_required_but_missing_is_reported(read: Read, name: str) -> None:
    document = copy.deepcopy(WHOLE)
    del document["app"][name]
    assert _rules(read(document)) == {(f"/app/{name}", "required")}


def test_a_nameless_capability_is_left_out_and_reported(read: Read) -> None:
    document = read(_changed("/capabilities/1", {"description": "nameless"}))
    assert ("/capabilities/1/name", "required") in _rules(document)
    assert len(document.site.actions) == 2


def test_what_is_no_capability_is_left_out_and_reported(read: Read) -> None:
    document = read(_changed("/capabilities/1", 7))
    assert _rules(document) == {("/capabilities/1", "type")}
    assert len(document.site.actions) == 2


def test_of_two_capabilities_of_one_name_the_first_counts(read: Read) -> None:
    document = read(_changed("/capabilities/2/name", "print.score"))
    assert _rules(document) == {("/capabilities/2", "duplicate")}
    assert document.site.actions[1].deprecated


@pytest.mark.parametrize(
    "capabilities",
    [
        pytest.param(["a.b", "c.d"], id="names"),
        pytest.param({"a.b": {"description": "x"}, "c.d": None}, id="a map"),
    ],
)
def test_names_alone_are_understood(read: Read, capabilities: Any) -> None:
    document = read(WHOLE | {"capabilities": capabilities})
    assert [action.name for action in document.site.actions] == ["a.b", "c.d"]
    assert [action.calls[0].operation for action in document.site.actions] == [
        "a.b",
        "c.d",
    ]


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        pytest.param({"source": {"type": "string"}}, ["source"], id="a map"),
        pytest.param({"type": "array", "items": {}}, [], id="no object"),
        pytest.param({"additionalProperties": False}, [], id="nothing is taken"),
        pytest.param(
            {"type": ["object", "null"], "properties": {"a": {}}}, ["a"], id="nullable"
        ),
    ],
)
def test_parameters_are_the_properties_of_an_object(
    read: Read, schema: Any, names: list[str]
) -> None:
    document = read(_changed("/capabilities/0/inputSchema", schema))
    assert [
        parameter.name for parameter in document.site.actions[0].parameters
    ] == names


def test_the_call_is_made_on_the_crawled_page_wherever_the_manifest_lies(
    read: Read,
) -> None:
    document = read(
        copy.deepcopy(WHOLE),
        url="https://cdn.example/abp.json",
        site_url="https://noten.example/",
    )
    assert document.site.actions[0].calls == (
        Call(format="abp", transport="window.abp", operation="render.score"),
    )
    assert document.site.url == "https://noten.example/app"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("abp", None),
        ("abp", True),
        ("abp", {"version": "0.1"}),
        ("app", None),
        ("app", "Notensatz"),
        ("app", ["Notensatz"]),
        ("capabilities", None),
        ("capabilities", "render.score"),
    ],
)
def test_a_lookalike_is_refused_by_name(member: str, value: Any) -> None:
    problem = _rejection(json.dumps(WHOLE | {member: value}))
    assert (problem.code, problem.pointer) == ("format_lookalike", f"/{member}")
    assert member in problem.detail
    assert problem.fix


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (
            '{"abp": "0.1", // the version\n "app": {}}',
            "a comment at line 1, column 16",
        ),
        ('{"abp": "0.1", "inputSchema": { /* here */ }}', "a comment at line 1"),
        ('{"abp": "0.1", "capabilities": [...]}', "line 1, column 33"),
    ],
)
def test_an_example_with_comments_is_refused_with_the_place(
    body: str, detail: str
) -> None:
    problem = _rejection(body)
    assert problem.code == "json_syntax"
    assert detail in problem.detail
    assert "comments" in problem.fix


def test_a_value_of_any_kind_anywhere_is_read_or_refused_with_a_reason() -> None:
    for document in broken(copy.deepcopy(WHOLE)):
        result = parse_document(
            json.dumps(document).encode(), url="https://site.example/"
        )
        if isinstance(result, Parsed):
            assert all(
                deviation.detail and deviation.fix
                for deviation in result.document.deviations
            )
        else:
            assert result.problem.fix
