from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

SEARCH: dict[str, Any] = {
    "id": "search",
    "name": "Search",
    "description": "Search the shelves",
    "path": "/search",
    "method": "GET",
}


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def _with_action(**members: Any) -> dict[str, Any]:
    return _with(actions=[SEARCH | members])


def _with_parameter(**members: Any) -> dict[str, Any]:
    plain = {"name": "q", "type": "string", "required": True, "description": "Title"}
    return _with_action(parameters=[plain | members])


def _with(**members: Any) -> dict[str, Any]:
    plain = {"version": "1.0", "name": "Kiste", "description": "Books"}
    return plain | {"actions": [SEARCH]} | members


# --- addresses ------------------------------------------------------------------------


def test_version_1_0_resolves_paths_on_its_base(sample: Sample, read: Read) -> None:
    (search,) = read(sample("awas-1.0")).site.actions
    (call,) = search.calls
    assert (call.method, call.target) == ("GET", "https://buecherkiste.example/search")
    assert call.off_origin


def test_the_crawled_origin_decides_what_is_off_origin(
    sample: Sample, read: Read
) -> None:
    document = read(sample("awas-1.0"), site_url="https://buecherkiste.example/")
    assert not document.site.actions[0].calls[0].off_origin


@pytest.mark.parametrize(
    ("base", "path", "target"),
    [
        (None, "/search", "https://crawled.example/search"),
        (None, "search", "https://crawled.example/search"),
        (None, "https://shop.example/s", "https://shop.example/s"),
        ("https://shop.example", "/search", "https://shop.example/search"),
        ("https://shop.example/de/", "search", "https://shop.example/de/search"),
        ("shop.example", "/search", "https://shop.example/search"),
        ("javascript:alert(1)", "/search", "https://crawled.example/search"),
        ("https://", "/search", "https://crawled.example/search"),
    ],
)
def test_paths_start_at_the_base_or_else_at_the_crawled_site(
    read: Read, base: str | None, path: str, target: str
) -> None:
    base_url = {} if base is None else {"baseUrl": base}
    document = read(
        _with_action(path=path) | base_url,
        url="https://cdn.example/docs/ai-actions.json",
        site_url="https://crawled.example/",
    )
    assert [call.target for call in document.site.actions[0].calls] == [target]


def test_a_base_elsewhere_is_a_claim_and_moves_no_origin(read: Read) -> None:
    document = read(_with(baseUrl="https://other.example"))
    assert document.site.url == "https://other.example"
    assert document.site.actions[0].calls[0].off_origin


# --- validation -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "pointer", "rule"),
    [
        pytest.param(_with(version="2.0"), "/version", "value", id="version unknown"),
        pytest.param(_with(version=1.0), "/version", "type", id="version a number"),
        pytest.param(_with(name=""), "/name", "minLength", id="name empty"),
        pytest.param(_with(name=None), "/name", "type", id="name null"),
        pytest.param(_with(description=[]), "/description", "type", id="description"),
        pytest.param(
            _with(actions=[SEARCH, SEARCH]), "/actions/1", "duplicate", id="id twice"
        ),
        pytest.param(_with(actions={"s": SEARCH}), "/actions", "type", id="map"),
        pytest.param(_with(actions=[SEARCH, 7]), "/actions/1", "type", id="number"),
        pytest.param(_with_action(id=""), "/actions/0/id", "minLength", id="id empty"),
        pytest.param(
            _with_action(method="FETCH"), "/actions/0/method", "value", id="method"
        ),
        pytest.param(
            _with_action(path="tel:+431"), "/actions/0/path", "target", id="telephone"
        ),
        pytest.param(
            _with_action(path="https:///x"), "/actions/0/path", "target", id="no host"
        ),
        pytest.param(
            _with(baseUrl="http://x.example"), "/baseUrl", "target", id="http"
        ),
        pytest.param(_with(baseUrl="x.example"), "/baseUrl", "url", id="bare host"),
        pytest.param(
            _with(contact={"url": "http:/broken"}), "/contact/url", "url", id="contact"
        ),
        pytest.param(_with(contact="me"), "/contact", "type", id="contact a text"),
        pytest.param(
            _with(rateLimit={"requests": 5, "window": "1 hour"}),
            "/rateLimit/window",
            "pattern",
            id="window in words",
        ),
        pytest.param(
            _with(rateLimit={"requests": 5, "window": 60}),
            "/rateLimit/window",
            "type",
            id="window a number",
        ),
        pytest.param(
            _with(rateLimit={"requests": 0, "window": "1h"}),
            "/rateLimit/requests",
            "minimum",
            id="no requests",
        ),
        pytest.param(
            _with_action(rateLimit={"requests": 5, "window": "1w"}),
            "/actions/0/rateLimit/window",
            "pattern",
            id="weeks",
        ),
        pytest.param(
            _with_action(result={"type": "grid", "selector": "#r"}),
            "/actions/0/result/type",
            "value",
            id="result type",
        ),
        pytest.param(
            _with_action(result={"type": "list"}),
            "/actions/0/result/selector",
            "required",
            id="result selector",
        ),
        pytest.param(
            _with_action(parameters={"q": "string"}),
            "/actions/0/parameters",
            "type",
            id="parameters a map",
        ),
        pytest.param(
            _with_parameter(enum=[]),
            "/actions/0/parameters/0/enum",
            "minItems",
            id="enum empty",
        ),
        pytest.param(
            _with_parameter(enum="a,b"),
            "/actions/0/parameters/0/enum",
            "type",
            id="enum a text",
        ),
        pytest.param(
            _with_parameter(type="money"),
            "/actions/0/parameters/0/type",
            "value",
            id="type unknown",
        ),
        pytest.param(
            _with_parameter(required="yes"),
            "/actions/0/parameters/0/required",
            "type",
            id="required a text",
        ),
        pytest.param(
            _with_parameter(validation={"minLength": -1}),
            "/actions/0/parameters/0/validation/minLength",
            "minimum",
            id="length below zero",
        ),
        pytest.param(
            _with(authentication={"required": "yes"}),
            "/authentication/required",
            "type",
            id="authentication",
        ),
        pytest.param(
            _with(authentication={"methods": "oauth2"}),
            "/authentication/methods",
            "type",
            id="methods a text",
        ),
        pytest.param(
            {**_with(), "specVersion": "9.9"}, "/specVersion", "value", id="spec 9.9"
        ),
    ],
)
def test_a_broken_rule_is_named_and_the_document_read(
    read: Read, document: dict[str, Any], pointer: str, rule: str
) -> None:
    result = read(document)
    assert (result.format, result.conformance) == ("awas", "tolerated")
    assert (pointer, rule) in _rules(result)


@pytest.mark.parametrize("name", ["version", "name", "description"])
def test_what_the_specification_requires_is_missed(read: Read, name: str) -> None:
    document = _with()
    del document[name]
    assert _rules(read(document)) == {(f"/{name}", "required")}


def test_all_that_the_specification_knows_conforms(read: Read) -> None:
    document = _with_parameter(
        format="email",
        selector="input[name='q']",
        validation={"pattern": "^.+$", "minLength": 1, "maxLength": 9},
        default=None,
        example="Moos",
        enum=["a", "b"],
    )
    document["actions"][0] |= {
        "result": {
            "type": "list",
            "selector": ".list",
            "itemSelector": ".item",
            "properties": {"title": ".title"},
            "pagination": {"nextButton": ".next"},
        },
        "rateLimit": {"requests": 20, "window": "1m"},
        "authentication": {"required": True},
        "x-internal-id": 7,
    }
    document |= {
        "contact": {"email": "post@kiste.example", "url": "https://kiste.example/wir"},
        "authentication": {"required": False, "methods": ["oauth2", "api-key"]},
        "rateLimit": {"requests": 100, "window": "1h", "scope": "ip"},
        "x-analytics": {"any": ["thing"]},
    }
    result = read(document)
    assert (result.conformance, result.deviations) == ("strict", ())
    assert result.site.actions[0].auth_required is True


# --- versions and spellings -----------------------------------------------------------


def test_version_1_1_declares_effects(sample: Sample, read: Read) -> None:
    order, remove = read(sample("awas-1.1")).site.actions
    assert (order.sensitivity, remove.sensitivity) == ("write", "destructive")
    assert (order.auth_required, remove.auth_required) == (True, True)
    assert [(p.name, p.type, p.required) for p in order.parameters] == [
        ("plant", "string", True),
        ("pots", "integer", False),
    ]


@pytest.mark.parametrize(
    ("members", "pointer", "rule"),
    [
        ({"id": "order-plant"}, "/actions/0/id", "pattern"),
        ({"type": "purchase"}, "/actions/0/type", "value"),
        ({"intent": "orders a plant"}, "/actions/0/intent", "value"),
        ({"sideEffect": True}, "/actions/0/sideEffect", "type"),
        ({"inputs": [{"name": "a"}]}, "/actions/0/inputs/0/type", "required"),
        (
            {"rateLimitHint": {"window": "soon"}},
            "/actions/0/rateLimitHint/window",
            "pattern",
        ),
        ({"conformanceLevel": "L9"}, "/actions/0/conformanceLevel", "value"),
        ({"authScopes": "read"}, "/actions/0/authScopes", "type"),
    ],
)
def test_version_1_1_has_rules_of_its_own(
    sample: Sample, read: Read, members: dict[str, Any], pointer: str, rule: str
) -> None:
    document = sample("awas-1.1")
    document["actions"][0] |= members
    assert (pointer, rule) in _rules(read(document))


def test_wild_spellings_are_read(sample: Sample, read: Read) -> None:
    document = read(sample("awas-wild"))
    visit, call, directions = document.site.actions
    assert (document.site.name, document.version) == ("Praxis Dr. Hain", "1.0")
    assert (visit.name, visit.description) == (
        "book.visit",
        "Book a visit at the practice",
    )
    assert (visit.sensitivity, visit.calls[0].method) == ("write", "POST")
    assert visit.parameters[0].name == "day"
    assert call.calls == ()
    assert ("/actions/1/url", "target") in _rules(document)
    assert directions.sensitivity == "read"
    assert directions.calls[0].transport == "navigate"


def test_each_other_spelling_is_named(sample: Sample, read: Read) -> None:
    spelled = {
        deviation.pointer
        for deviation in read(sample("awas-wild")).deviations
        if deviation.rule == "spelling"
    }
    assert spelled == {
        "/schemaVersion",
        "/appName",
        "/actions/0/action_id",
        "/actions/0/url",
        "/actions/0/http_method",
        "/actions/0/request_schema",
        "/actions/1/url",
        "/actions/2/url",
    }


def test_actions_may_be_mapped_by_their_ids(read: Read) -> None:
    mapped = {key: value for key, value in SEARCH.items() if key != "id"}
    (action,) = read(_with(actions={"find_books": mapped})).site.actions
    assert (action.name, action.calls[0].target) == (
        "find_books",
        "https://site.example/search",
    )


def test_actions_of_a_business_are_read(read: Read) -> None:
    document = read(
        {
            "business": {"name": "Kälte Nord", "url": "https://kaelte.example"},
            "customer_actions": {
                "estimate": {"url": "/anfrage", "description": "Asks for an estimate"},
                "call": {"telephone": "+431234567", "label": "Call us"},
            },
        }
    )
    estimate, call = document.site.actions
    assert (document.site.name, document.site.url) == (
        "Kälte Nord",
        "https://kaelte.example",
    )
    assert estimate.calls[0].target == "https://site.example/anfrage"
    assert (call.name, call.calls) == ("call", ())
    assert ("/customer_actions", "spelling") in _rules(document)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"q": "string (optional)"}, [("q", "string", False)]),
        ({"q": {"type": "number", "required": True}}, [("q", "number", True)]),
        (["q", "page?"], [("q", "unknown", None), ("page", "unknown", False)]),
        ("q", []),
        (7, []),
    ],
)
def test_parameters_come_in_many_shapes(
    read: Read, parameters: Any, expected: list[tuple[str, str, bool | None]]
) -> None:
    (action,) = read(_with_action(parameters=parameters)).site.actions
    assert [(p.name, p.type, p.required) for p in action.parameters] == expected


def test_choices_may_stand_under_validation(read: Read) -> None:
    document = read(_with_parameter(validation={"enum": ["a", "b"]}))
    assert document.site.actions[0].parameters[0].enum == ("a", "b")
    assert document.conformance == "strict"


# --- authentication, effects, permissions ---------------------------------------------


@pytest.mark.parametrize(
    ("site", "action", "required"),
    [
        ({}, {}, None),
        ({"authentication": {"required": True}}, {}, True),
        ({"authentication": {"required": False}}, {}, False),
        ({"authentication": {"methods": ["oauth2"]}}, {}, None),
        ({"authentication": {"required": True, "optional_for": ["search"]}}, {}, False),
        ({"authentication": {"required": True, "optional_for": "all"}}, {}, True),
        ({"authentication": {"required": True}}, {"auth_required": False}, False),
        ({"authentication": "none"}, {}, False),
        ({"auth": {"type": "bearer_token"}}, {}, True),
        ({"authentication": []}, {}, None),
        ({}, {"authentication": {"required": True}}, True),
        ({}, {"authentication_required": True}, True),
        ({}, {"authentication_required": "yes"}, None),
        ({}, {"authScopes": ["cart:write"]}, True),
        ({}, {"authScopes": []}, None),
    ],
)
def test_authentication_is_told_by_the_action_or_else_the_document(
    read: Read, site: dict[str, Any], action: dict[str, Any], required: bool | None
) -> None:
    document = read(_with_action(**action) | site)
    assert document.site.actions[0].auth_required is required


@pytest.mark.parametrize(
    ("declared", "sensitivity"),
    [
        ({"sideEffect": "safe"}, "read"),
        ({"sideEffect": False}, "read"),
        ({"side_effects": []}, "read"),
        ({"side_effects": ["none"]}, "read"),
        ({"side_effects": ["Charges the card"]}, "write"),
        ({"sideEffect": "safe", "intent": "delete"}, "destructive"),
        ({"reversible": False}, "irreversible"),
        ({"reversible": True}, None),
        ({"intent": "Orders a plant for you"}, None),
        ({"intent": ["read"]}, None),
        ({"sideEffect": "moves things"}, None),
        ({"sideEffect": 3}, None),
        ({}, None),
    ],
)
def test_the_gravest_declared_effect_counts(
    read: Read, declared: dict[str, Any], sensitivity: str | None
) -> None:
    document = read(_with_action(**declared))
    assert document.site.actions[0].sensitivity == sensitivity


def test_permissions_are_read_where_they_are_booleans(read: Read) -> None:
    document = _with(
        permissions={"read": True, "levels": ["none"]},
        gating={"payment": "captcha_gate", "forms": False},
    )
    assert read(document).site.permissions == (("read", True), ("forms", False))


@pytest.mark.parametrize("declared", [None, [], "all", 7, {"a": {}}])
def test_other_permissions_are_none(read: Read, declared: Any) -> None:
    assert read(_with(permissions=declared, gating=declared)).site.permissions == ()


@pytest.mark.parametrize(
    ("members", "confirmation"),
    [
        ({}, None),
        ({"requires_confirmation": True}, True),
        ({"confirmationRequired": False}, False),
        ({"requires_confirmation": "always"}, None),
    ],
)
def test_a_persons_confirmation_is_declared_or_unknown(
    read: Read, members: dict[str, Any], confirmation: bool | None
) -> None:
    assert read(_with_action(**members)).site.actions[0].confirmation is confirmation


@pytest.mark.parametrize(
    ("members", "description"),
    [
        ({}, "Search the shelves"),
        ({"description": None, "intent": "Find books"}, "Find books"),
        ({"description": None, "intent": "read"}, "Search"),
        ({"description": None}, "Search"),
        ({"description": None, "name": "search"}, ""),
    ],
)
def test_prose_intent_or_the_title_stand_in_for_a_description(
    read: Read, members: dict[str, Any], description: str
) -> None:
    assert read(_with_action(**members)).site.actions[0].description == description


# --- manifests beside the catalogue ---------------------------------------------------


def test_a_pointer_manifest_leads_to_the_catalogue(sample: Sample, read: Read) -> None:
    document = read(sample("awas-pointer"))
    assert document.references == ("https://site.example/.well-known/awas.json",)
    assert ("/endpoints", "reference") not in _rules(document)


@pytest.mark.parametrize(
    ("document", "reference", "rules"),
    [
        pytest.param(
            {
                "protocol": "A2A",
                "capabilities": {"actions": True},
                "endpoints": {"actions_registry": "/.well-known/awas.json"},
                "interoperability": {"cross_protocol": True},
            },
            "https://site.example/.well-known/awas.json",
            set(),
            id="A2A, whole",
        ),
        pytest.param(
            {"protocol": "A2A", "endpoints": {"actions_registry": "/awas.json"}},
            "https://site.example/awas.json",
            {("/capabilities", "required"), ("/interoperability", "required")},
            id="A2A, in part",
        ),
        pytest.param(
            {"actions": {"discover": "/.well-known/ai-actions.json"}},
            "https://site.example/.well-known/ai-actions.json",
            {("/capabilities", "required"), ("/endpoints", "required")},
            id="an older MCP manifest",
        ),
        pytest.param(
            {"capabilities": [], "endpoints": {"actions": "javascript:a.json"}},
            None,
            {("/endpoints", "reference"), ("/endpoints/actions", "target")},
            id="a script",
        ),
    ],
)
def test_a_pointer_manifest_is_judged_as_what_it_is(
    read: Read,
    document: dict[str, Any],
    reference: str | None,
    rules: set[tuple[str, str]],
) -> None:
    result = read(document)
    assert result.dialect == "pointer"
    assert result.references == (() if reference is None else (reference,))
    assert _rules(result) == rules
