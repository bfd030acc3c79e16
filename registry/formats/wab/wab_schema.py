"""Schema of a discovery document by WAB 1.0, Appendix A."""

from typing import Any

from registry.formats.reading.schema import BOOLEAN, FILLED, STRING, members, required


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
    members(
        name=required(STRING),
        type=required({"type": "string", "enum": list(PARAMETER_TYPES)}),
        required=required(BOOLEAN),
        description=STRING,
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
    members(
        name=required(
            _like(
                "bookTable", {"type": "string", "pattern": r"^[a-zA-Z][a-zA-Z0-9_-]*\Z"}
            )
        ),
        description=required(FILLED),
        trigger=required({"type": "string", "enum": list(TRIGGERS)}),
        params=required(_like([], _list(_PARAMETER))),
        requiresAuth=BOOLEAN,
    ),
)
_LOCATION = _like(
    {"city": "Graz", "country": "AT"},
    members(
        city=STRING,
        country=_like("AT", {"type": "string", "pattern": r"^[A-Z]{2}\Z"}),
        support_local=BOOLEAN,
    ),
)
_PROVIDER = _like(
    {"name": "Zum Anker", "category": "restaurant", "url": "https://site.example/"},
    members(
        name=required(FILLED),
        category=required(_like("restaurant", FILLED)),
        url=required(_like("https://site.example/", STRING)),
        location=_LOCATION,
    ),
)
_CAPABILITIES = _like(
    {"commands": [_BOOK_TABLE], "permissions": {"readContent": True}},
    members(
        commands=required(_like([_BOOK_TABLE], _list(_COMMAND))),
        permissions=required(
            _like(
                {"readContent": True},
                members(**dict.fromkeys(STANDARD_PERMISSIONS, BOOLEAN)),
            )
        ),
        tier={"type": "string", "enum": ["free", "starter", "pro", "enterprise"]},
    ),
)
_TRANSPORT = _like(
    {"http": {"enabled": True, "base_url": "/api/wab"}},
    members(
        js_global=members(enabled=BOOLEAN, interface=STRING),
        websocket=members(enabled=BOOLEAN, url=STRING),
        http=members(enabled=BOOLEAN, base_url=STRING),
    ),
)

APPENDIX_A: dict[str, Any] = members(
    wab_version=required({"type": "string", "const": "1.0"}),
    provider=required(_PROVIDER),
    capabilities=required(_CAPABILITIES),
    agent_access=members(
        preferred_entry_point=STRING,
        api_fallback=STRING,
        selectors={"type": "object", "additionalProperties": STRING},
    ),
    fairness_metrics=members(
        commission_rate=_like("12.5%", STRING),
        direct_benefit=STRING,
        is_independent=BOOLEAN,
    ),
    trust_signatures=_list(STRING),
    transport=required(_TRANSPORT),
    security=members(
        require_origin_match=BOOLEAN,
        session_ttl={"type": "integer", "minimum": 60},
        max_rate={"type": "integer", "minimum": 1},
    ),
)
