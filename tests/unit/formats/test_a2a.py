from collections.abc import Callable
from typing import Any

import pytest

from registry.errors import Problem
from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

SKILL = {"id": "translate", "name": "Translate", "description": "Translates letters"}
CARD: dict[str, Any] = {
    "name": "Übersetzer",
    "url": "https://uebersetzer.example/a2a",
    "capabilities": {"streaming": True},
    "skills": [SKILL],
}


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def test_an_agent_card_offers_its_skills(sample: Sample, read: Read) -> None:
    document = read(sample("a2a-card"))
    (skill,) = document.site.actions
    assert (document.format, document.site.name) == ("a2a", "Übersetzer Agent")
    assert skill.name == "translate-letter"
    assert skill.calls[0].target == "https://uebersetzer.example/a2a"
    assert skill.calls[0].transport == "jsonrpc"


def test_a_card_is_not_judged_and_so_not_called_strict(
    sample: Sample, read: Read
) -> None:
    document = read(sample("a2a-card"))
    assert (document.conformance, document.deviations) == ("tolerated", ())


@pytest.mark.parametrize(
    "members",
    [
        pytest.param({"skills": [], "defaultInputModes": ["text"]}, id="no skills"),
        pytest.param({"skills": None, "defaultInputModes": []}, id="null"),
        pytest.param(
            {"skills": [], "protocolVersion": "0.3.0"}, id="version and capabilities"
        ),
        pytest.param({"capabilities": ["tools"]}, id="capabilities a list"),
        pytest.param(
            {"capabilities": None, "supportedInterfaces": []}, id="interfaces alone"
        ),
    ],
)
def test_a_card_is_told_by_more_than_its_skills(
    read: Read, members: dict[str, Any]
) -> None:
    assert read(CARD | members).format == "a2a"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"name": "Bob", "skills": [{"name": "Python"}]}, id="a resume"),
        pytest.param({"skills": [{"name": "a", "files": []}]}, id="a skill index"),
        pytest.param({"name": "Bob", "skills": ["cooking"]}, id="words"),
        pytest.param({"name": "Bob", "skills": []}, id="nothing"),
    ],
)
def test_other_lists_of_skills_are_refused(
    refuse: Callable[..., Problem], document: dict[str, Any]
) -> None:
    problem = refuse(document)
    assert (problem.code, problem.pointer) == ("format_lookalike", "/skills")


@pytest.mark.parametrize(
    ("skills", "names", "rules"),
    [
        ([SKILL], ["translate"], set()),
        ([{"name": "Translate"}], ["Translate"], set()),
        (
            ["translate", "proof-read"],
            ["translate", "proof-read"],
            {("/skills", "shape")},
        ),
        ({"translate": {"description": "x"}}, ["translate"], {("/skills", "type")}),
        (
            [SKILL, 7, SKILL],
            ["translate"],
            {("/skills/1", "type"), ("/skills/2", "duplicate")},
        ),
    ],
)
def test_skills_come_in_many_shapes(
    read: Read, skills: Any, names: list[str], rules: set[tuple[str, str]]
) -> None:
    document = read(CARD | {"skills": skills})
    assert [action.name for action in document.site.actions] == names
    assert _rules(document) == rules


@pytest.mark.parametrize(
    ("members", "calls"),
    [
        pytest.param({}, [("a2a", "https://uebersetzer.example/a2a")], id="url"),
        pytest.param(
            {"preferredTransport": "JSONRPC"},
            [("jsonrpc", "https://uebersetzer.example/a2a")],
            id="preferred",
        ),
        pytest.param(
            {
                "url": None,
                "supportedInterfaces": [
                    {"url": "/rpc", "protocolBinding": "JSONRPC"},
                    {"url": "/rpc", "protocolBinding": "GRPC"},
                    {"url": "ftp://x.example"},
                    {"url": 7},
                    "grpc",
                ],
            },
            [("jsonrpc", "https://site.example/rpc")],
            id="version 1.0",
        ),
        pytest.param(
            {"additionalInterfaces": [{"url": "/http", "transport": "HTTP+JSON"}]},
            [
                ("http+json", "https://site.example/http"),
                ("a2a", "https://uebersetzer.example/a2a"),
            ],
            id="version 0.3",
        ),
        pytest.param(
            {"url": None, "endpoints": {"a2a": "/a2a"}},
            [("a2a", "https://site.example/a2a")],
            id="endpoints",
        ),
        pytest.param(
            {
                "url": None,
                "supportedInterfaces": [{"url": "/x", "transport": "y" * 99}],
            },
            [("y" * 40, "https://site.example/x")],
            id="a long word",
        ),
    ],
)
def test_a_skill_is_called_on_each_interface(
    read: Read, members: dict[str, Any], calls: list[tuple[str, str]]
) -> None:
    (action,) = read(CARD | members).site.actions
    assert [(call.transport, call.target) for call in action.calls] == calls


def test_a_skill_may_have_an_address_of_its_own(read: Read) -> None:
    document = read(CARD | {"skills": [SKILL | {"uri": "/api"}]})
    first, *_ = document.site.actions[0].calls
    assert (first.transport, first.target) == ("http", "https://site.example/api")


def test_a_skill_may_have_parameters(read: Read) -> None:
    schema = {"type": "object", "properties": {"letter": {"type": "string"}}}
    document = read(CARD | {"skills": [SKILL | {"inputSchema": schema}]})
    assert [p.name for p in document.site.actions[0].parameters] == ["letter"]


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ({"url": "https://site.example/wir"}, "https://site.example/wir"),
        ({"url": "https://code.example/site"}, ""),
        ({"url": 7}, ""),
        ("site.example", ""),
    ],
)
def test_a_provider_elsewhere_is_not_the_site(
    read: Read, provider: Any, url: str
) -> None:
    assert read(CARD | {"provider": provider}).site.url == url


def test_a_card_without_skills_says_so(read: Read) -> None:
    document = read(CARD | {"skills": [], "defaultInputModes": []})
    assert _rules(document) == {("", "empty")}


def test_a_card_without_an_address_says_so(read: Read) -> None:
    document = read(CARD | {"url": None})
    assert document.site.actions[0].calls == ()
    assert ("", "required") in _rules(document)


@pytest.mark.parametrize(
    ("card", "skill", "required"),
    [
        ({}, {}, None),
        ({"security": [{"oauth": ["read"]}]}, {}, True),
        ({"security": []}, {}, False),
        ({"security": [{}]}, {}, False),
        ({"security": [{"oauth": []}, {}]}, {}, False),
        ({"security": ["oauth"]}, {}, None),
        ({"security": {"oauth": []}}, {}, None),
        ({"securityRequirements": [{"schemes": {"key": {"list": []}}}]}, {}, True),
        ({"securityRequirements": [{"schemes": {}}]}, {}, False),
        ({"securityRequirements": [{"schemes": 7}]}, {}, None),
        ({"securitySchemes": {"key": {"type": "apiKey"}}}, {}, None),
        ({"authentication": {"schemes": ["Bearer"]}}, {}, True),
        ({"authentication": {"schemes": ["none"]}}, {}, False),
        ({"security": [{"key": []}]}, {"security": []}, False),
        ({}, {"security": [{"key": []}]}, True),
    ],
)
def test_requirements_tell_whether_callers_identify_themselves(
    read: Read, card: dict[str, Any], skill: dict[str, Any], required: bool | None
) -> None:
    document = read(CARD | card | {"skills": [SKILL | skill]})
    assert document.site.actions[0].auth_required is required
