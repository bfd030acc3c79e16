"""Schema of a discovery document by WAB 1.0, Appendix A."""

from typing import Any

_STRING = {"type": "string"}
_FILLED = {"type": "string", "minLength": 1}
_BOOLEAN = {"type": "boolean"}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _like(example: Any, schema: dict[str, Any]) -> dict[str, Any]:
    """Add an example, which the instructions to the document's owner show."""
    return {**schema, "examples": [example]}


STANDARD_PERMISSIONS = (
    "readContent",
    "click",
    "fillForms",
    "scroll",
    "navigate",
    "apiAccess",
    "automatedLogin",
    "extractData",
)
PARAMETER_TYPES = ("string", "number", "boolean", "array", "object")
TRIGGERS = ("click", "fill_and_submit", "scroll", "api", "navigate")

_PARAMETER = _like(
    {"name": "date", "type": "string", "required": True},
    _object(
        "name",
        "type",
        "required",
        name=_STRING,
        type={"type": "string", "enum": list(PARAMETER_TYPES)},
        required=_BOOLEAN,
        description=_STRING,
        enum={"type": "array"},
    ),
)
_BOOK_TABLE = {
    "name": "bookTable",
    "description": "Book a table",
    "trigger": "api",
    "params": [],
}
_COMMAND = _like(
    _BOOK_TABLE,
    _object(
        "name",
        "description",
        "trigger",
        "params",
        name=_like(
            "bookTable", {"type": "string", "pattern": r"^[a-zA-Z][a-zA-Z0-9_-]*\Z"}
        ),
        description=_FILLED,
        trigger={"type": "string", "enum": list(TRIGGERS)},
        params=_like([], _list(_PARAMETER)),
        requiresAuth=_BOOLEAN,
    ),
)
_LOCATION = _like(
    {"city": "Graz", "country": "AT"},
    _object(
        city=_STRING,
        country=_like("AT", {"type": "string", "pattern": r"^[A-Z]{2}\Z"}),
        support_local=_BOOLEAN,
    ),
)
_PROVIDER = _like(
    {"name": "Zum Anker", "category": "restaurant", "url": "https://site.example/"},
    _object(
        "name",
        "category",
        "url",
        name=_FILLED,
        category=_like("restaurant", _FILLED),
        url=_like("https://site.example/", _STRING),
        location=_LOCATION,
    ),
)
_CAPABILITIES = _like(
    {"commands": [_BOOK_TABLE], "permissions": {"readContent": True}},
    _object(
        "commands",
        "permissions",
        commands=_like([_BOOK_TABLE], _list(_COMMAND)),
        permissions=_like(
            {"readContent": True},
            _object(**dict.fromkeys(STANDARD_PERMISSIONS, _BOOLEAN)),
        ),
        tier={"type": "string", "enum": ["free", "starter", "pro", "enterprise"]},
    ),
)
_TRANSPORT = _like(
    {"http": {"enabled": True, "base_url": "/api/wab"}},
    _object(
        js_global=_object(enabled=_BOOLEAN, interface=_STRING),
        websocket=_object(enabled=_BOOLEAN, url=_STRING),
        http=_object(enabled=_BOOLEAN, base_url=_STRING),
    ),
)

APPENDIX_A: dict[str, Any] = _object(
    "wab_version",
    "provider",
    "capabilities",
    "transport",
    wab_version={"type": "string", "const": "1.0"},
    provider=_PROVIDER,
    capabilities=_CAPABILITIES,
    agent_access=_object(
        preferred_entry_point=_STRING,
        api_fallback=_STRING,
        selectors={"type": "object", "additionalProperties": _STRING},
    ),
    fairness_metrics=_object(
        commission_rate=_like("12.5%", _STRING),
        direct_benefit=_STRING,
        is_independent=_BOOLEAN,
    ),
    trust_signatures=_list(_STRING),
    transport=_TRANSPORT,
    security=_object(
        require_origin_match=_BOOLEAN,
        session_ttl={"type": "integer", "minimum": 60},
        max_rate={"type": "integer", "minimum": 1},
    ),
)
