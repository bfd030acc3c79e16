"""The OpenAPI document, and a page that shows it without JavaScript."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Request, Response, get
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import License
from typing_extensions import override

from registry.index.columns.filters import Filters
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.problems import ProblemDocument
from registry.interfaces.rest.sites.entry_views import WabEntry
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.interfaces.web.openapi_operations import (
    SECURITY_SCHEMES,
    complete,
    handlers_of,
    name_operation,
)
from registry.interfaces.web.rendering import render
from registry.sites.summary import SiteSummary
from registry.usecases.search.select import SelectionRequest
from registry.usecases.sites.profile_material import ProfileMaterial

METHODS = ("get", "post", "put", "delete")

Json = Mapping[str, Any]


@lru_cache(maxsize=1)
def openapi_document(app: Litestar) -> Json:
    """Return Litestar's description of the calls with msgspec's schemas of their bodies.

    Those say what Litestar's leave out: members that are refused, limits, meanings.
    """
    document = app.openapi_schema.to_schema()
    bases = (WireModel, RequestBody, Filters, SiteSummary)
    shapes = [
        ProblemDocument,
        ProfileMaterial,
        SelectionRequest,
        WabEntry,
        *(heir for base in bases for heir in _heirs(base)),
    ]
    _, schemas = msgspec.json.schema_components(
        shapes, ref_template="#/components/schemas/{name}"
    )
    # By name, since neither the order of imports nor that of routes means anything.
    schemas = dict(sorted(schemas.items()))
    components = {"schemas": schemas, "securitySchemes": SECURITY_SCHEMES}
    handlers = handlers_of(app)
    paths = {
        path: {
            method: complete(
                _alternatives(operation), handlers[operation["operationId"]]
            )
            for method, operation in item.items()
        }
        for path, item in sorted(document["paths"].items())
    }
    return {**document, "paths": paths, "components": components}


def _alternatives(schema: Any) -> Any:
    """Say anyOf for oneOf: an answer without results has the form of both."""
    if isinstance(schema, list):
        return [_alternatives(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        "anyOf" if name == "oneOf" else name: _alternatives(value)
        for name, value in schema.items()
    }


class CompleteJson(JsonRenderPlugin):
    """/schema/openapi.json, where Litestar's users look for it."""

    @override
    def render(
        self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]
    ) -> bytes:
        return msgspec.json.encode(openapi_document(request.app))


OPENAPI = OpenAPIConfig(
    title="Fair Registry",
    version="1",
    description=(
        "A discovery registry for sites that AI agents can use: ranked by relevance, "
        "proximity, capability depth, quality and freshness, and nothing else; every "
        "ranked answer is on record in a public log."
    ),
    operation_id_creator=name_operation,
    license=License(name="Apache-2.0", identifier="Apache-2.0"),
    render_plugins=[CompleteJson()],
    use_handler_docstrings=True,
)


@get("/openapi.json", include_in_schema=False, middleware=[Conditional()])
async def get_openapi(request: Request[Any, Any, Any]) -> Response[Json]:
    return Response(openapi_document(request.app), media_type=MediaType.JSON)


@get("/openapi", include_in_schema=False, media_type=MediaType.HTML)
async def show_openapi(request: Request[Any, Any, Any]) -> Response[str]:
    document = openapi_document(request.app)
    text = render(
        "openapi.html", info=document["info"], operations=[*operations(document)]
    )
    return Response(text, media_type=MediaType.HTML)


def operations(document: Json) -> Iterator[dict[str, Any]]:
    """Yield each call with its parameters and answers, in the order of the paths."""
    schemas = document["components"]["schemas"]
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield _operation(path, method, item[method], schemas)


def _operation(
    path: str, method: str, operation: Json, schemas: Json
) -> dict[str, Any]:
    bodies = operation.get("requestBody", {}).get("content", {})
    return {
        "id": operation["operationId"],
        "path": path,
        "method": method.upper(),
        "summary": operation.get("summary", ""),
        "description": operation.get("description", ""),
        "parameters": [
            _member(described["name"], described["schema"], schemas)
            | {"place": described["in"], "is_required": described["required"]}
            for described in operation.get("parameters", ())
        ],
        "bodies": [
            {
                "media_type": media_type,
                "members": _members(described["schema"], schemas),
            }
            for media_type, described in bodies.items()
        ],
        "answers": [
            {"status": status, "phrase": HTTPStatus(int(status)).phrase}
            for status in sorted(operation["responses"])
        ],
    }


def _members(schema: Json, schemas: Json) -> list[dict[str, Any]]:
    resolved = _resolve(schema, schemas)
    required = resolved.get("required", ())
    return [
        _member(name, member, schemas) | {"is_required": name in required}
        for name, member in resolved.get("properties", {}).items()
    ]


def _member(name: str, schema: Json, schemas: Json) -> dict[str, Any]:
    return {
        "name": name,
        "type": _type_of(schema, schemas),
        "limits": _limits_of(schema),
        "description": schema.get("description", ""),
    }


def _type_of(schema: Json, schemas: Json) -> str:
    resolved = _resolve(schema, schemas)
    for name in ("anyOf", "oneOf"):
        if name in resolved:
            kinds = (_type_of(kind, schemas) for kind in resolved[name])
            return " or ".join(kind for kind in kinds if kind != "null")
    if "enum" in resolved:
        return " or ".join(str(kind) for kind in resolved["enum"])
    return str(resolved.get("format") or resolved.get("type", "any"))


def _limits_of(schema: Json) -> str:
    """Return limits in words; those of an optional member stand beside its null or inside."""
    bounds = dict(schema)
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        bounds.update(branch)
    words = []
    if "minimum" in bounds and "maximum" in bounds:
        words.append(f"{bounds['minimum']:g} to {bounds['maximum']:g}")
    if "maxLength" in bounds:
        words.append(f"at most {bounds['maxLength']} characters")
    if schema.get("default") not in {None, ""}:
        words.append(f"else {schema['default']}")
    return ", ".join(words)


def _resolve(schema: Json, schemas: Json) -> Json:
    reference = schema.get("$ref", "")
    resolved: Json = schemas.get(reference.rpartition("/")[2], schema)
    return resolved if reference else schema


def _heirs(kind: type) -> Iterator[type]:
    heirs: list[type] = kind.__subclasses__()
    for heir in heirs:
        yield heir
        yield from _heirs(heir)
