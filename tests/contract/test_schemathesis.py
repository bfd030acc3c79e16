"""Schemathesis asks what the OpenAPI document allows and forbids, and compares."""

import itertools
import json
from http import HTTPStatus
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import load_all_checks
from schemathesis.generation.feedback import FeedbackSources
from schemathesis.pytest._test_builder import build_operation_test
from schemathesis.specs.openapi.checks import positive_data_acceptance

from registry.app import create_app
from registry.interfaces.web.openapi import openapi_document
from registry.settings import Settings
from tests.api.running import RunningRegistry

# Which names are cities, hosts or tokens, no schema can say.
NOT_FOR_SCHEMAS = [positive_data_acceptance]
# A property takes 50 in the gate, a call of the running service costs as much as eight.
EXAMPLES = settings(
    max_examples=max(6, settings().max_examples // 8),
    suppress_health_check=list(HealthCheck),
    deadline=None,
)


@schemathesis.serializer("application/jose")
def as_it_is(_: schemathesis.SerializationContext, value: Any) -> bytes:
    return str(value).encode("utf-8", "surrogateescape")


class FirstEvent(requests.Session):
    """A session that reads of a stream, which never ends, no more than its first event."""

    def send(self, request: requests.PreparedRequest, **given: Any) -> Any:
        answer = super().send(request, **{**given, "stream": True})
        if answer.headers.get("Content-Type", "").startswith("text/event-stream"):
            lines = itertools.takewhile(bool, answer.iter_lines())
            answer._content = b"\n".join(lines) + b"\n\n"
            answer.close()
        return answer


def call(case: schemathesis.Case, registry: RunningRegistry) -> None:
    """A head of more than 16 KB is refused by the server, before the API."""
    answer = case.call(base_url=registry.origin, session=FirstEvent(), timeout=60)
    if answer.status_code != HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE:
        case.validate_response(answer, excluded_checks=NOT_FOR_SCHEMAS)


@pytest.mark.slow
@pytest.mark.parametrize("writing", [False, True])
def test_answers_are_as_declared(
    registry: RunningRegistry, subtests: pytest.Subtests, *, writing: bool
) -> None:
    """Cases are drawn here: `schema.parametrize` has each worker draw all of them."""
    document = openapi_document(create_app(Settings()))
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(document)))
    load_all_checks()
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if writing is (operation.method != "get"):
            answers_are_as_declared = build_operation_test(
                config=schema.config,
                operation=operation,
                test_func=call,
                given_kwargs={},
                feedback=FeedbackSources(),
                explicit_settings=EXAMPLES,
            )
            tried += 1
            with subtests.test(operation.label):
                answers_are_as_declared(registry=registry)
    assert tried > 15
