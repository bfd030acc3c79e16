"""Schemathesis asks what the OpenAPI document allows and forbids, and compares."""

import itertools
import json
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from registry.app import create_app
from registry.interfaces.web.openapi import openapi_document
from registry.settings import Settings
from tests.api.running import RunningRegistry

described = json.loads(json.dumps(openapi_document(create_app(Settings()))))
schema = schemathesis.openapi.from_dict(described)

# Which names are cities, hosts or tokens, no schema can say.
NOT_FOR_SCHEMAS = [positive_data_acceptance]


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


@schema.parametrize()
@settings(max_examples=12, suppress_health_check=list(HealthCheck), deadline=None)
def test_answers_are_as_declared(
    case: schemathesis.Case, registry: RunningRegistry
) -> None:
    case.call_and_validate(
        base_url=registry.origin,
        session=FirstEvent(),
        timeout=60,
        excluded_checks=NOT_FOR_SCHEMAS,
    )
