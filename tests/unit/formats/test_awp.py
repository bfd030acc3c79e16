"""What is understood of AWP documents, deviating ones included, and what is refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.errors import Problem
from registry.formats.detect import parse_document
from registry.formats.document import Document, Parsed, Rejected
from registry.sites.action import Call
from tests.unit.formats.awp_documents import GONE, WHOLE, changed, whole
from tests.unit.formats.broken import broken

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

FIND, BOOK, PAY, SKY = (f"/actions/{index}" for index in range(4))
SITE = "https://site.example"
LOOKALIKES = {
    "a list of protocols": ("/protocols", ["a2a"], "structure"),
    "a list of capabilities": ("/capabilities", ["search"], "structure"),
    "actions in prose": ("/actions", {"available": ["read the menu"]}, "structure"),
    "no actions": ("/actions", GONE, "structure"),
    "actions as bare names": ("/actions", ["find", "book"], '"id"'),
    "actions with names for ids": ("/actions", [{"name": "find"}], '"id"'),
    "actions with other ids": ("/actions", [{"id": 1}, {"id": ""}, None], '"id"'),
    "no intent": ("/intent", GONE, "structure"),
    "an intent as an object": ("/intent", {"text": "x"}, "structure"),
    "no domain": ("/domain", GONE, "structure"),
    "a number as domain": ("/domain", 7, "structure"),
    "an empty domain": ("/domain", "", "structure"),
    "words as domain": ("/domain", "our site", "structure"),
    "a URL as domain": ("/domain", "https://a.example/shop", '"a.example"'),
    "a domain with a port": ("/domain", "a.example:8443", '"a.example"'),
    "a domain with a path": ("/domain", "a.example/shop", '"a.example"'),
    "a domain beyond ASCII": ("/domain", "b\u00fccher.example", "ASCII"),
}


def _call(**members: Any) -> Call:
    return Call(**{"format": "awp", **members})


def _refusal(document: Any) -> Problem:
    result = parse_document(json.dumps(document).encode(), url=f"{SITE}/agent.json")
    assert isinstance(result, Rejected), result
    return result.problem


def test_a_sample_is_read_whole(sample: Sample, read: Read) -> None:
    document = read(sample("awp-native"))
    assert (document.conformance, document.version) == ("strict", "0.2")
    assert document.site.description == "Book evenings at the observatory"
    assert document.site.url == "https://sternwarte.example"
    book, sky = document.site.actions
    assert (book.auth_required, book.sensitivity) == (True, "irreversible")
    assert [(p.name, p.type, p.required, p.enum) for p in book.parameters] == [
        ("date", "string", True, ()),
        ("telescope", "string", None, ("small", "large")),
        ("guests", "integer", None, ()),
    ]
    assert sky.calls == (
        _call(
            transport="mcp",
            target="https://mcp.sternwarte.example/mcp",
            operation="sky.tonight",
            off_origin=True,
        ),
    )


def test_the_actions_of_a_whole_document_are_read(read: Read) -> None:
    document = read(whole(), url="https://sternwarte.example/agent.json")
    find, book, pay, sky = document.site.actions
    assert [(p.name, p.type, p.required, p.enum) for p in find.parameters] == [
        ("dome", "unknown", True, ()),
        ("day", "string", None, ()),
        ("telescope", "string", None, ("small", "large")),
        ("seen", "array", None, ()),
    ]
    assert [action.auth_required for action in document.site.actions] == [
        *(False, True, True, False)
    ]
    assert [action.confirmation for action in document.site.actions] == [
        *(None, True, None, None)
    ]
    evening = "https://sternwarte.example/api/evenings/{evening}"
    assert book.calls == (_call(transport="http", method="POST", target=evening),)
    assert pay.calls == (_call(transport="payment"),)
    mcp = "https://sternwarte.example/mcp"
    assert sky.calls == (_call(transport="mcp", target=mcp, operation="sky.tonight"),)


def test_protocols_refer_to_their_cards_and_endpoints(read: Read) -> None:
    document = whole()
    document["protocols"]["mcp"]["server_card"] = "/card.json"
    document["protocols"] |= {
        "openapi": {"version": "3.1", "url": "/openapi.json"},
        "graphql": {"version": "1", "endpoint": "/graphql"},
        "acp": {"version": "1", "endpoint": "javascript:x"},
    }
    assert read(document).references == (
        "https://bote.sternwarte.example/.well-known/agent-card.json",
        "https://bote.sternwarte.example/message",
        f"{SITE}/card.json",
        f"{SITE}/mcp",
        f"{SITE}/openapi.json",
    )


@pytest.mark.parametrize(
    ("declared", "version"),
    [("7.0", "7.0"), (2, "2"), (1.3, "1.3"), (0.2, "0.2"), (None, ""), ([1], "")],
)
def test_an_unknown_version_degrades(
    sample: Sample, read: Read, declared: Any, version: str
) -> None:
    document = read(sample("awp-native") | {"awp_version": declared})
    assert (document.version, document.conformance) == (version, "tolerated")
    assert len(document.site.actions) == 2


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param({"day": {"type": "ISO8601"}, "dome": {}}, id="a map"),
        pytest.param({"day": "ISO8601", "dome": "dome_code"}, id="a map of texts"),
        pytest.param([{"name": "day", "type": "date"}, {"name": "dome"}], id="a list"),
        pytest.param(
            {"type": "object", "properties": {"day": {"type": "string"}, "dome": True}},
            id="a JSON Schema",
        ),
    ],
)
def test_inputs_are_read_in_every_shape(read: Read, inputs: Any) -> None:
    document = read(changed(f"{FIND}/inputs", inputs))
    assert [(p.name, p.type) for p in document.site.actions[0].parameters] == [
        ("day", "string"),
        ("dome", "unknown"),
    ]


def test_a_document_by_the_schema_alone_is_tolerated(
    sample: Sample, read: Read
) -> None:
    document = read(sample("awp-synthetic"))
    (hours,) = document.site.actions
    assert hours.description == "Tell the opening hours"
    assert hours.parameters[0].name == "day"
    assert {
        ("/actions/0/description", "required"),
        ("/actions/0/outputs", "required"),
    } <= {(deviation.pointer, deviation.rule) for deviation in document.deviations}


@pytest.mark.parametrize(
    ("declared", "target"),
    [
        ("/sku/{sku}.json", f"{SITE}/sku/{{sku}}.json"),
        ("/x/{a}/{b:int}?q={q}", f"{SITE}/x/{{a}}/{{b:int}}?q={{q}}"),
        ("/x{?q,limit}", f"{SITE}/x{{?q,limit}}"),
        ("{sku}/x", f"{SITE}/{{sku}}/x"),
        ("api/x", f"{SITE}/api/x"),
        ("/v1/items/:id", f"{SITE}/v1/items/:id"),
        ("https://api.example/{sku}?a={b}", "https://api.example/{sku}?a={b}"),
        ("//api.example/{sku}", "https://api.example/{sku}"),
    ],
)
def test_templates_stay_readable_in_an_endpoint(
    read: Read, declared: str, target: str
) -> None:
    document = read(changed(f"{FIND}/endpoint", declared))
    (call,) = document.site.actions[0].calls
    assert call.target == target
    assert call.off_origin is ("api.example" in declared)


@pytest.mark.parametrize(
    ("via", "protocol", "call"),
    [
        pytest.param(
            "x402",
            {"version": "1.0"},
            _call(transport="x402", method="GET", target=f"{SITE}/api/evenings"),
            id="a payment protocol at the endpoint of the action",
        ),
        pytest.param(
            "mcp",
            "https://mcp.example/",
            _call(transport="mcp", target="https://mcp.example/", off_origin=True),
            id="the address alone",
        ),
        pytest.param(
            "mcp",
            {"version": "1", "url": "/mcp"},
            _call(transport="mcp", target=f"{SITE}/mcp"),
            id="url for endpoint",
        ),
        pytest.param(
            "unheard-of",
            GONE,
            _call(transport="http", method="GET", target=f"{SITE}/api/evenings"),
            id="an undeclared protocol beside an endpoint",
        ),
    ],
)
def test_an_action_is_called_via_its_protocol(
    read: Read, via: str, protocol: Any, call: Call
) -> None:
    document = changed(f"{FIND}/via", via)
    if protocol is not GONE:
        document["protocols"][via] = protocol
    assert read(document).site.actions[0].calls == (call,)


def test_an_undeclared_protocol_leaves_no_call(read: Read) -> None:
    assert read(changed(f"{SKY}/via", "grpc")).site.actions[3].calls == ()


def test_a_method_that_is_no_word_is_unknown(read: Read) -> None:
    document = read(changed(f"{FIND}/method", "GET or POST"))
    assert document.site.actions[0].calls[0].method == ""


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"auth_required": False}, True, id="the flag against the list"),
        pytest.param({"auth_required": None}, True, id="the list alone"),
        pytest.param({"id": "other", "auth_required": None}, None, id="neither"),
        pytest.param({"id": "other", "auth_required": True}, True, id="the flag alone"),
        pytest.param({"id": "lent", "auth_required": None}, False, id="optional"),
        pytest.param({"id": "lent", "auth_required": True}, True, id="both, stricter"),
    ],
)
def test_the_stricter_claim_on_authentication_counts(
    read: Read, changes: dict[str, Any], expected: bool | None
) -> None:
    document = changed(BOOK, WHOLE["actions"][1] | changes)
    document["auth"]["optional_for"] = ["lent"]
    assert read(document).site.actions[1].auth_required is expected


@pytest.mark.parametrize(
    ("changes", "sensitivity", "confirmation"),
    [
        pytest.param({}, None, None, id="nothing is said"),
        pytest.param({"sensitivity": "standard"}, None, None, id="standard"),
        pytest.param({"sensitivity": "destructive"}, "destructive", None, id="harm"),
        pytest.param({"reversible": False}, "irreversible", None, id="for good"),
        pytest.param({"reversible": True}, None, None, id="not for good"),
        pytest.param(
            {"sensitivity": "irreversible", "reversible": True},
            *("irreversible", None),
            id="the graver counts",
        ),
        pytest.param(
            {"sensitivity": "irreversible", "requires_human_confirmation": False},
            *("irreversible", True),
            id="the irreversible is confirmed",
        ),
        pytest.param({"requires_human_confirmation": False}, None, False, id="no"),
        pytest.param({"requires_human_confirmation": True}, None, True, id="yes"),
        pytest.param({"requires_human_confirmation": 1}, None, None, id="unclear"),
        pytest.param({"sensitivity": ["destructive"]}, None, None, id="a list"),
    ],
)
def test_consequences_are_read_as_declared(
    read: Read, changes: dict[str, Any], sensitivity: Any, confirmation: bool | None
) -> None:
    sky = read(changed(SKY, WHOLE["actions"][3] | changes)).site.actions[3]
    assert (sky.sensitivity, sky.confirmation) == (sensitivity, confirmation)


def test_hints_enter_no_text(read: Read) -> None:
    document = read(changed(f"{SKY}/via", "grpc"))
    assert "IGNORE" not in repr((document.site, document.deviations))


@pytest.mark.parametrize(("place", "value", "fix"), LOOKALIKES.values(), ids=LOOKALIKES)
def test_a_lookalike_is_refused_with_the_member_and_its_repair(
    place: str, value: Any, fix: str
) -> None:
    problem = _refusal(changed(place, value))
    assert problem.code == "format_lookalike"
    assert problem.pointer == place
    assert fix in problem.fix


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(
            {"awp_version": "0.8.0", "title": "A work state", "records": []},
            id="a work state",
        ),
        pytest.param({"awp_version": "0.1", "server_name": "x"}, id="a browser"),
        pytest.param({"awp_version": None}, id="nothing more"),
    ],
)
def test_other_protocols_of_that_name_are_refused(document: Any) -> None:
    assert _refusal(document).code == "format_lookalike"


def test_a_value_of_any_kind_anywhere_is_read_or_refused_with_a_reason() -> None:
    seen = 0
    for document in broken(whole()):
        body = json.dumps(document).encode()
        result = parse_document(body, url=f"{SITE}/agent.json")
        if isinstance(result, Parsed):
            assert all(
                deviation.detail and deviation.fix
                for deviation in result.document.deviations
            )
        else:
            assert result.problem.detail
            assert result.problem.fix
        seen += 1
    assert seen > 500
