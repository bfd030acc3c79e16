"""Each operation has one example, recorded from a registry; made anew it is answered alike."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from registry.interfaces.web.openapi_operations import HEADERS, recorded_examples
from tests.api.running import RunningRegistry, signing_web
from tests.contract.example_calls import ExampleCalls, perform, prepare
from tests.waiting import awaited

Json = dict[str, Any]


@pytest.fixture(scope="module")
def document(registry: RunningRegistry) -> Json:
    return registry.http.get("/openapi.json").json()


@pytest.fixture(scope="module")
def examples(registry: RunningRegistry, document: Json) -> Iterator[dict[str, Json]]:
    """Every call, made now."""
    registry.run(prepare(registry))
    with signing_web(registry) as http:
        yield perform_all(ExampleCalls(registry, http), document)


def perform_all(calls: ExampleCalls, document: Json) -> dict[str, Json]:
    table = calls.make()
    clients = {"webhooks": calls.http}
    return {
        operation["operationId"]: perform(
            clients.get(operation["tags"][0], calls.registry.http),
            method,
            path,
            table[operation["operationId"]],
        )
        for method, path, operation in operations(document)
    }


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            yield method, path, operation


def validate(document: Json, schema: Json, value: Any) -> None:
    whole = {**schema, "components": document["components"]}
    Draft202012Validator(whole).validate(value)


def test_every_call_is_taken_and_answered_as_declared(
    document: Json, examples: dict[str, Json]
) -> None:
    for _, _, operation in operations(document):
        example = examples[operation["operationId"]]
        verify(document, operation, example)
        response = operation["responses"][str(example["status"])]
        sent = {name.lower() for name in example["headers"]}
        promised = {name.lower() for name in response["headers"]}
        assert promised - {"link", "x-leaf-index"} <= sent, operation["operationId"]
        known = {name.lower() for name in HEADERS} & sent
        assert known <= promised | {"cache-control"}, operation["operationId"]


def test_an_unchanged_page_of_a_listing_has_the_same_tag(
    registry: RunningRegistry,
) -> None:
    """Though it holds a cursor, which is sealed anew."""

    def is_unchanged() -> bool:
        first = registry.http.get("/v1/sites?limit=1")
        assert first.json()["nextCursor"]
        time.sleep(1.1)
        named = {"If-None-Match": first.headers["ETag"]}
        again = registry.http.get("/v1/sites?limit=1", headers=named)
        # A site may be decided on, read or measured between the two.
        assert (
            again.status_code == 304
            or again.json()["results"] != first.json()["results"]
        )
        return again.status_code == 304

    awaited("a page that stays", is_unchanged)


def test_the_document_shows_what_was_recorded_and_it_is_still_so(
    document: Json, examples: dict[str, Json]
) -> None:
    recorded = recorded_examples()
    for _, _, operation in operations(document):
        name = operation["operationId"]
        example = recorded[name]
        verify(document, operation, example)
        assert members(example) == members(examples[name]), f"{name}: {STALE}"
        if "answer" in example:
            response = operation["responses"][str(example["status"])]
            shown = response["content"][example["answerType"]]["example"]
            assert shown == example["answer"]


STALE = "run: python -m tests.contract.write_examples"


def verify(document: Json, operation: Json, example: Json) -> None:
    """The request is one that the document allows, the answer one that it promises."""
    name, status = operation["operationId"], str(example["status"])
    assert status[0] == "2", (name, example.get("answer"))
    schemas = {row["name"]: row["schema"] for row in operation["parameters"]}
    for parameter, value in example["parameters"].items():
        validate(document, schemas[parameter], value)
    if "body" in example:
        content = operation["requestBody"]["content"][example["bodyType"]]
        validate(document, content["schema"], example["body"])
    response = operation["responses"][status]
    if example["answerType"]:
        content = response["content"][example["answerType"]]
        if "answer" in example:
            validate(document, content.get("schema", {}), example["answer"])
    else:
        assert "content" not in response, name


def members(example: Json) -> Json:
    """Return what an example has, without its values and how many rows it has."""
    names = ("status", "bodyType", "answerType")
    shape = {name: example.get(name) for name in names}
    shape["parameters"] = sorted(example["parameters"])
    answer = example.get("answer")
    if isinstance(answer, dict):
        shape["answer"] = sorted(answer)
    return json.loads(json.dumps(shape))
