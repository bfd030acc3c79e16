"""Schema of a document by AWP 0.2, sections 5 to 10 and 13.

An empty text fills no required member. `poll_endpoint` of an asynchronous action is not
required: results may come by webhook.
"""

from typing import Any

from registry.formats.reading.conformance import Specification

_STRING = {"type": "string"}
_FILLED = {"type": "string", "minLength": 1}
_BOOLEAN = {"type": "boolean"}
_OBJECT = {"type": "object"}
_TEXTS = {"type": "array", "items": _STRING}


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


def _map(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def _enum(*choices: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices)}


_PROTOCOLS = {
    **_map(_object("version", version=_STRING, endpoint=_STRING)),
    # The specification's own example of a generic payment hand-off has no version.
    "properties": {"payment": _object(version=_STRING, endpoint=_STRING)},
}
_CAPABILITIES = _object(
    streaming=_BOOLEAN,
    batch_actions=_BOOLEAN,
    webhooks=_BOOLEAN,
    pagination=_enum("cursor", "offset", "page", "none"),
    idempotency=_BOOLEAN,
)
_AUTH = _object(
    required_for=_TEXTS,
    optional_for=_TEXTS,
    type=_enum("oauth2", "api_key", "bearer", "none"),
    token_expiry=_STRING,
    refresh_endpoint=_STRING,
)
_ACTION = _object(
    "id",
    "description",
    "auth_required",
    "inputs",
    "outputs",
    id=_FILLED,
    description=_FILLED,
    auth_required=_BOOLEAN,
    inputs=_OBJECT,
    outputs=_OBJECT,
    endpoint=_FILLED,
    method=_enum("GET", "POST", "PUT", "DELETE", "PATCH"),
    via=_FILLED,
    operation=_FILLED,
    rate_limit=_STRING,
    idempotency=_object(supported=_BOOLEAN, key_field=_STRING, window=_STRING),
    execution_model=_enum("sync", "async"),
    poll_endpoint=_STRING,
    sensitivity=_enum("standard", "destructive", "irreversible"),
    requires_human_confirmation=_BOOLEAN,
    reversible=_BOOLEAN,
)
DOCUMENT = Specification(
    _object(
        "awp_version",
        "domain",
        "intent",
        "actions",
        awp_version=_STRING,
        domain=_STRING,
        intent=_FILLED,
        protocols=_PROTOCOLS,
        capabilities=_CAPABILITIES,
        auth=_AUTH,
        entities=_map(_object(fields=_map(_STRING))),
        actions={"type": "array", "items": _ACTION},
        errors=_map(_object("recovery", recovery=_FILLED)),
        dependencies=_map(_TEXTS),
        agent_hints=_map(_STRING),
        agent_status=_object(
            operational=_BOOLEAN, degraded_actions=_TEXTS, status_endpoint=_STRING
        ),
    )
)
INPUTS = Specification(
    _map(
        _object(
            "type",
            type=_FILLED,
            required=_BOOLEAN,
            options={"type": "array"},
            description=_STRING,
        )
    )
)
