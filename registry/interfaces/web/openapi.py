"""The OpenAPI document, and a page that shows it without JavaScript."""

from collections.abc import Iterator, Mapping
from typing import Any

from litestar import MediaType, Request, Response, get

from registry.interfaces.web.rendering import render

METHODS = ("get", "post", "put", "delete")
OPENAPI_MEDIA_TYPE = "application/vnd.oai.openapi+json"

Json = Mapping[str, Any]


@get("/openapi.json", include_in_schema=False)
async def get_openapi(request: Request[Any, Any, Any]) -> Response[dict[str, Any]]:
    schema = request.app.openapi_schema.to_schema()
    return Response(schema, media_type=MediaType.JSON)


@get("/openapi", include_in_schema=False, media_type=MediaType.HTML)
async def show_openapi(request: Request[Any, Any, Any]) -> Response[str]:
    schema = request.app.openapi_schema.to_schema()
    text = render("openapi.html", info=schema["info"], operations=[*operations(schema)])
    return Response(text, media_type=MediaType.HTML)


def operations(schema: Json) -> Iterator[dict[str, Any]]:
    """Each call with its parameters and answers, in the order of the paths."""
    schemas = schema.get("components", {}).get("schemas", {})
    for path, item in sorted(schema["paths"].items()):
        for method in METHODS:
            if method in item:
                yield _operation(path, method, item[method], schemas)


def _operation(path: str, method: str, told: Json, schemas: Json) -> dict[str, Any]:
    return {
        "path": path,
        "method": method.upper(),
        "summary": told.get("summary", ""),
        "description": told.get("description", ""),
        "parameters": [
            {**one, "type": _type_of(one.get("schema", {}), schemas)}
            for one in told.get("parameters", ())
        ],
        "body": [
            {"media_type": media_type, "members": _members(one, schemas)}
            for media_type, one in told.get("requestBody", {})
            .get("content", {})
            .items()
        ],
        "answers": [
            {"status": status, "description": one.get("description", "")}
            for status, one in sorted(told.get("responses", {}).items())
        ],
    }


def _members(content: Json, schemas: Json) -> list[dict[str, str]]:
    schema = _resolve(content.get("schema", {}), schemas)
    required = schema.get("required", ())
    return [
        {
            "name": name,
            "type": _type_of(one, schemas),
            "required": "required" if name in required else "",
        }
        for name, one in schema.get("properties", {}).items()
    ]


def _type_of(schema: Json, schemas: Json) -> str:
    resolved = _resolve(schema, schemas)
    if "oneOf" in resolved:
        return " or ".join(_type_of(one, schemas) for one in resolved["oneOf"])
    if "enum" in resolved:
        return ", ".join(str(one) for one in resolved["enum"])
    return str(resolved.get("format") or resolved.get("type", "any"))


def _resolve(schema: Json, schemas: Json) -> Json:
    reference = schema.get("$ref", "")
    found: Json = schemas.get(reference.rpartition("/")[2], schema)
    return found if reference else schema
