"""Completion of the described operations: headers, 304, parameters of paths, examples.

The examples are recorded from a registry that runs: `python -m tests.contract.write_examples`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from registry.interfaces.http.conditional import TAKES_IF_MATCH, UNTAGGED, Conditional
from registry.interfaces.http.streams import LimitedStream
from registry.reports.row_types import camel

Json = Mapping[str, Any]
EXAMPLES = Path(__file__).with_name("examples.json")
TOO_MANY, UNCHANGED = "429", "304"

PATH_PARAMETERS: Mapping[str, str] = {
    "day": "A day that is over, such as 2026-11-23",
    "digest": "A policy's SHA-256 in hex, as answers name it",
    "generation": "`sha256:` and hex, as a ranking names it, or latest",
    "host": "A site's host name, such as shop.example",
    "identifier": "An ARD identifier, such as urn:air:shop.example:site, percent-encoded",
    "month": "A month, such as 2026-10",
    "operator_id": "The RFC 7638 thumbprint of the operator's first key",
    "path": "A path of c2sp.org/tlog-tiles behind /tile/, such as 0/000.p/5",
    "ranking_id": "The id of an answer; the whole one shows what was asked and answered",
    "record_id": "The id of a record: a ULID",
    "registration_id": "The id that the statement's answer has",
    "site_id": "The id of a site, as its entry has it",
    "webhook_id": "The id of a subscription",
}


def _header(description: str, kind: str = "string", **more: Any) -> Json:
    return {"description": description, "schema": {"type": kind, **more}}


_RATE_LIMIT = "draft-ietf-httpapi-ratelimit-headers: the quota, and what is left of it"
HEADERS: Mapping[str, Json] = {
    "X-Request-Id": _header("Names this exchange in the registry's own log"),
    "RateLimit-Policy": _header(_RATE_LIMIT),
    "RateLimit": _header(_RATE_LIMIT),
    "Retry-After": _header("Seconds", "integer", minimum=0),
    "WWW-Authenticate": _header("The scheme of an operator's API key (RFC 6750)"),
    "ETag": _header("A strong validator of this very answer"),
    "Cache-Control": _header("How long a cache may keep it"),
}
IF_NONE_MATCH = (
    "If-None-Match",
    "ETags of answers that you have: 304 if one is still the answer",
)
IF_MATCH = ("If-Match", "The ETag with which you saw it: 412 if it has changed since")


def complete(operation: Json, handler: HTTPRouteHandler) -> Json:
    """Return the operation with all that its answers carry, and its example."""
    is_tagged = answers_with_a_tag(handler)
    responses = dict(operation["responses"])
    if is_tagged:
        responses[UNCHANGED] = {"description": "It is as If-None-Match names it"}
    is_limited = TOO_MANY in responses and not _has(handler, LimitedStream)
    parameters = [
        {**row, "description": PATH_PARAMETERS.get(row["name"], "")}
        if row["in"] == "path" and not row.get("description")
        else row
        for row in operation.get("parameters", ())
    ]
    if is_tagged:
        parameters.append(_in_header(*IF_NONE_MATCH))
    if handler.opt.get(TAKES_IF_MATCH):
        parameters.append(_in_header(*IF_MATCH))
    described = {
        **operation,
        "parameters": parameters,
        "responses": {
            status: {
                **response,
                "headers": {
                    **response.get("headers", {}),
                    **{
                        name: HEADERS[name]
                        for name in _headers_of(status, is_limited, is_tagged)
                    },
                },
            }
            for status, response in sorted(responses.items())
        },
    }
    example = recorded_examples().get(operation["operationId"])
    return _with_example(described, example) if example else described


def name_operation(handler: HTTPRouteHandler, *_: object) -> str:
    """Return the id of its operation: the function's name, unless it states another."""
    return str(handler.operation_id or camel(handler.handler_name))


def handlers_of(app: Litestar) -> Mapping[str, HTTPRouteHandler]:
    """Return each described handler under the id of its operation."""
    handlers = (
        handler
        for route in app.routes
        for handler in getattr(route, "route_handlers", ())
        if isinstance(handler, HTTPRouteHandler)
    )
    return {name_operation(row): row for row in handlers if row.tags}


def answers_with_a_tag(handler: HTTPRouteHandler) -> bool:
    if "GET" not in handler.http_methods or handler.opt.get(UNTAGGED):
        return False
    return _has(handler, Conditional)


def _has(handler: HTTPRouteHandler, middleware: type) -> bool:
    return any(isinstance(row, middleware) for row in handler.resolve_middleware())


@lru_cache(maxsize=1)
def recorded_examples() -> Mapping[str, Json]:
    """Return a request and its answer under the id of each operation."""
    recorded: Mapping[str, Json] = msgspec.json.decode(EXAMPLES.read_bytes())
    return recorded


def _in_header(name: str, description: str) -> Json:
    schema = {"type": "string"}
    where = {"name": name, "in": "header", "required": False}
    return {**where, "description": description, "schema": schema}


def _headers_of(status: str, is_limited: bool, is_tagged: bool) -> Iterator[str]:
    yield "X-Request-Id"
    if is_limited and (status[0] == "2" or status == TOO_MANY):
        yield from ("RateLimit-Policy", "RateLimit")
    if status in {TOO_MANY, "503"}:
        yield "Retry-After"
    if status == "401":
        yield "WWW-Authenticate"
    if is_tagged and status in {"200", UNCHANGED}:
        yield from ("ETag", "Cache-Control")


def _with_example(operation: Json, example: Json) -> Json:
    """Put a recorded request and its answer where OpenAPI has them."""
    parameters = [
        {**row, "example": example["parameters"][row["name"]]}
        if row["name"] in example.get("parameters", {})
        else row
        for row in operation["parameters"]
    ]
    completed = {**operation, "parameters": parameters}
    if "body" in example:
        request = operation["requestBody"]
        content = _exemplified(request, example["bodyType"], example["body"])
        completed["requestBody"] = content
    status = str(example["status"])
    if "answer" in example:
        response = operation["responses"][status]
        response = _exemplified(response, example["answerType"], example["answer"])
        completed["responses"] = {**operation["responses"], status: response}
    return completed


def _exemplified(described: Json, media_type: str, value: Any) -> Json:
    content = described["content"]
    shown = {**content[media_type], "example": value}
    return {**described, "content": {**content, media_type: shown}}
