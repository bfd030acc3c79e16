"""Completion of the described operations: words, problems, headers, 304 and examples.

The words and the statuses of refusals stand in openapi.toml, by tag and operation. The
examples are recorded from a registry that runs: `python -m tests.contract.write_examples`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler

from registry.interfaces.http.conditional import TAKES_IF_MATCH, UNTAGGED, Conditional
from registry.interfaces.http.problems import MEDIA_TYPE
from registry.interfaces.http.streams import LimitedStream
from registry.reports.row_types import camel
from registry.toml_table import read_table

Json = Mapping[str, Any]
EXAMPLES = Path(__file__).with_name("examples.json")
TOO_MANY, UNCHANGED = "429", "304"
OF_EVERY_CALL = (400, 500, 503)


class OperationWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """problems: statuses of its refusals beside OF_EVERY_CALL."""

    summary: str
    problems: tuple[int, ...]


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """headers: of answers, as OpenAPI describes them. operations: by tag and id."""

    path_parameters: Mapping[str, str]
    request_headers: Mapping[str, str]
    headers: Mapping[str, Json]
    security_schemes: Mapping[str, Json]
    operations: Mapping[str, Mapping[str, OperationWords]]


_WORDS = read_table(__package__, "openapi.toml", _Words)
HEADERS, SECURITY_SCHEMES = _WORDS.headers, _WORDS.security_schemes
OPERATIONS: Mapping[str, tuple[str, OperationWords]] = {
    name: (tag, row)
    for tag, rows in _WORDS.operations.items()
    for name, row in rows.items()
}
"""Tag and words of each operation by its id."""
_PROBLEM = {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}


def complete(operation: Json, handler: HTTPRouteHandler) -> Json:
    """Return the operation with its words, all that its answers carry, and its example."""
    tag, words = OPERATIONS[operation["operationId"]]
    is_tagged = answers_with_a_tag(handler)
    responses = dict(_responses(operation, words, is_tagged=is_tagged))
    is_limited = TOO_MANY in responses and not _has(handler, LimitedStream)
    described = {
        "tags": [tag],
        **operation,
        "summary": words.summary,
        "parameters": list(_parameters(operation, handler, is_tagged=is_tagged)),
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


def _responses(
    operation: Json, words: OperationWords, *, is_tagged: bool
) -> Iterator[tuple[str, Json]]:
    """Yield the successes as they are described, and what else may be answered."""
    for status, response in operation["responses"].items():
        if status[0] == "2":
            yield status, response
    if is_tagged:
        yield UNCHANGED, {"description": "It is as If-None-Match names it"}
    for number in (*OF_EVERY_CALL, *words.problems):
        phrase = HTTPStatus(number).phrase
        yield str(number), {"description": phrase, "content": {MEDIA_TYPE: _PROBLEM}}


def _parameters(
    operation: Json, handler: HTTPRouteHandler, *, is_tagged: bool
) -> Iterator[Json]:
    for row in operation.get("parameters", ()):
        if row["in"] == "path" and not row.get("description"):
            yield {**row, "description": _WORDS.path_parameters[row["name"]]}
        else:
            yield row
    if is_tagged:
        yield _in_header("If-None-Match")
    if handler.opt.get(TAKES_IF_MATCH):
        yield _in_header("If-Match")


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
    return {
        name_operation(row): row for row in handlers if row.resolve_include_in_schema()
    }


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


def _in_header(name: str) -> Json:
    described = {"description": _WORDS.request_headers[name]}
    schema = {"schema": {"type": "string"}}
    return {"name": name, "in": "header", "required": False, **described, **schema}


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
