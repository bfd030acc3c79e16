"""The OpenAPI document is what OpenAPI 3.1 asks for, and tells of every call."""

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from registry.app import create_app
from registry.interfaces.http.problems import MEDIA_TYPE
from registry.interfaces.web.openapi import openapi_document
from registry.interfaces.web.openapi_operations import OPERATIONS
from registry.settings import Settings
from tests.api.running import RunningRegistry

Json = dict[str, Any]
METHODS = {"get", "post", "put", "delete", "patch", "head", "options", "trace"}
NOT_TOLD = (
    "/api/",
    "/openapi",
    "/policy",
    "/schema",
    "/problems",
    "/sites",
    "/bot",
    "/static",
)
NOT_TOLD_EITHER = (
    "/agent-bridge.json",
    "/.well-known/wab.json",
    "/a2a-manifest.json",
    "/abp-manifest.json",
    "/agent.json",
    "/llms.txt",
    "/mcp-manifest.json",
    "/.well-known/a2a-manifest.json",
    "/.well-known/agent.json",
    "/.well-known/ai-actions.json",
    "/.well-known/awas.json",
    "/.well-known/mcp-manifest.json",
    "/robots.txt",
    "/.well-known/security.txt",
    "/.well-known/http-message-signatures-directory",
    "/.well-known/ard.json",
    "/.well-known/ai-catalog.json",
    "/mcp",  # docs/mcp.md
    "/server.json",
    "/.well-known/mcp.json",
    "/.well-known/mcp/server-card.json",
)


@pytest.fixture(scope="module")
def app() -> Litestar:
    """Never started: it needs neither database nor keys for this."""
    return create_app(Settings())


@pytest.fixture(scope="module")
def document(app: Litestar) -> Json:
    return json.loads(json.dumps(openapi_document(app)))


@pytest.fixture(scope="module")
def operations(document: Json) -> dict[str, Json]:
    return {
        f"{method} {path}": output
        for path, item in document["paths"].items()
        for method, output in item.items()
        if method in METHODS
    }


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(item) for item in value.values()))
    if isinstance(value, list):
        return set().union(*(references(item) for item in value))
    return set()


def test_it_is_openapi_3_1(document: Json) -> None:
    assert document["openapi"].startswith("3.1.")
    assert {"title", "version", "description"} <= document["info"].keys()
    assert document["paths"]


def test_every_reference_leads_somewhere(document: Json) -> None:
    schemas = document["components"]["schemas"]
    for reference in references(document):
        assert reference.removeprefix("#/components/schemas/") in schemas, reference


def test_every_schema_is_a_schema(document: Json) -> None:
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_every_route_is_reported_or_left_out_knowingly(
    app: Litestar, operations: dict[str, Json]
) -> None:
    untold = {
        route.path
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        if isinstance(handler, HTTPRouteHandler)
        and handler.include_in_schema is False
        and "OPTIONS" not in handler.http_methods
    }
    hidden = {path for path in untold if path != "/"}
    assert all(item.startswith(NOT_TOLD) or item in NOT_TOLD_EITHER for item in hidden)


def test_operation_ids_are_unique(operations: dict[str, Json]) -> None:
    ids = [operation["operationId"] for operation in operations.values()]
    assert len(set(ids)) == len(ids)
    assert all(item[0].islower() and item.isalnum() for item in ids)


NEVER_THE_SAME = {"search", "watchChanges", "watchRegistration"}


def test_every_read_that_can_has_an_entity_tag(operations: dict[str, Json]) -> None:
    reads = {
        operation["operationId"]: operation
        for name, operation in operations.items()
        if name.startswith(("get /v1/", "get /ard/"))
    }
    tagged = {name for name, row in reads.items() if "304" in row["responses"]}
    assert reads.keys() - tagged == NEVER_THE_SAME
    for name in tagged:
        assert "ETag" in reads[name]["responses"]["200"]["headers"]


def test_everything_is_described_and_has_an_example(
    operations: dict[str, Json],
) -> None:
    for name, operation in operations.items():
        assert operation["description"].strip(), name
        for parameter in operation["parameters"]:
            assert parameter["description"].strip(), (name, parameter["name"])
        for status, response in operation["responses"].items():
            assert response["description"].strip(), (name, status)
            for header, described in response["headers"].items():
                assert described["description"].strip(), (name, status, header)
        [success] = [row for row in operation["responses"] if row.startswith("2")]
        content = operation["responses"][success].get("content", {})
        is_shown = any("example" in row for row in content.values())
        assert is_shown or operation["operationId"] in {"getTile", "unsubscribe"}, name
        assert all(
            "example" in row or row["required"] is False
            for row in operation["parameters"]
        ), name
        sent = operation.get("requestBody", {}).get("content", {})
        assert not sent or any("example" in row for row in sent.values()), name


def test_every_call_says_what_it_does(operations: dict[str, Json]) -> None:
    for name, operation in operations.items():
        assert operation["summary"].strip(), name
        assert operation["tags"], name
        [success] = [
            response for response in operation["responses"] if response.startswith("2")
        ]
        assert operation["responses"][success]["description"], name


def test_no_words_are_of_a_call_that_is_gone(operations: dict[str, Json]) -> None:
    ids = {operation["operationId"] for operation in operations.values()}
    assert OPERATIONS.keys() == ids


def test_every_call_tells_its_problems(operations: dict[str, Json]) -> None:
    for name, operation in operations.items():
        problems = {
            response for response in operation["responses"] if response[0] in "45"
        }
        assert {"400", "500", "503"} <= problems, name
        for status in problems:
            content = operation["responses"][status]["content"]
            assert content.keys() == {MEDIA_TYPE}, (name, status)
            schema = content[MEDIA_TYPE]["schema"]
            assert schema == {"$ref": "#/components/schemas/ProblemDocument"}


# A document to be linted may be anything: what it is, is the answer.
TAKE_ANYTHING = frozenset({"lintDocument"})
PASS_OVER = frozenset({"searchByArd", "exploreByArd"})  # as their specification has it


def test_calls_with_a_body_refuse_unknown_members(
    document: Json, operations: dict[str, Json]
) -> None:
    bodies = 0
    for operation in operations.values():
        if operation["operationId"] in TAKE_ANYTHING | PASS_OVER:
            continue
        for media_type, item in (
            operation.get("requestBody", {}).get("content", {}).items()
        ):
            if media_type == "application/json":
                name = item["schema"]["$ref"].rpartition("/")[2]
                schema = document["components"]["schemas"][name]
                assert schema["additionalProperties"] is False, name
                bodies += 1
            assert {"413", "415"} <= operation["responses"].keys()
    assert bodies >= 3


def test_names_are_camel_case(document: Json) -> None:
    as_wab_spells_them = {"WabEntry", "WabProvider", "WabMetrics"}
    for name, schema in document["components"]["schemas"].items():
        if name not in as_wab_spells_them:
            snakes = [item for item in schema.get("properties", {}) if "_" in item]
            assert snakes == [], name


def test_the_document_is_served_at_both_places(registry: RunningRegistry) -> None:
    at_root = registry.http.get("/openapi.json")
    at_schema = registry.http.get("/schema/openapi.json")
    assert at_root.json() == at_schema.json()
    assert at_root.headers["Content-Type"] == "application/json"


def test_the_page_shows_every_call(registry: RunningRegistry) -> None:
    page = registry.http.get("/openapi").text
    body = registry.http.get("/openapi.json").json()
    for path, item in body["paths"].items():
        for method in item.keys() & METHODS:
            assert f"{method.upper()} {path}" in page


STREAMS = {"getTrialMaterial", "watchChanges", "watchRegistration"}


def test_limited_calls_tell_their_headers(operations: dict[str, Json]) -> None:
    limited = [
        operation
        for operation in operations.values()
        if "429" in operation["responses"]
        and operation["operationId"] not in STREAMS  # their places are counted instead
    ]
    assert len(limited) >= 15
    for output in limited:
        responses = output["responses"]
        for status in responses:
            names = responses[status].get("headers", {}).keys()
            counted = status[0] == "2" or status == "429"
            assert ({"RateLimit", "RateLimit-Policy"} <= names) is counted, status
            assert ("Retry-After" in names) is (status in {"429", "503"}), status
