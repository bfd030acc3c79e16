"""Schema of a document by AWP 0.2, sections 5 to 10 and 13.

An empty text fills no required member. `poll_endpoint` of an asynchronous action is not
required: results may come by webhook.
"""

from typing import Any

from registry.formats.reading.conformance import Specification
from registry.formats.reading.schema import (
    BOOLEAN,
    FILLED,
    STRING,
    TEXTS,
    members,
    required,
)

_OBJECT = {"type": "object"}


def _map(of: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def _enum(*choices: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices)}


_PROTOCOLS = {
    **_map(members(version=required(STRING), endpoint=STRING)),
    # The specification's own example of a generic payment hand-off has no version.
    "properties": {"payment": members(version=STRING, endpoint=STRING)},
}
_CAPABILITIES = members(
    streaming=BOOLEAN,
    batch_actions=BOOLEAN,
    webhooks=BOOLEAN,
    pagination=_enum("cursor", "offset", "page", "none"),
    idempotency=BOOLEAN,
)
_AUTH = members(
    required_for=TEXTS,
    optional_for=TEXTS,
    type=_enum("oauth2", "api_key", "bearer", "none"),
    token_expiry=STRING,
    refresh_endpoint=STRING,
)
_ACTION = members(
    id=required(FILLED),
    description=required(FILLED),
    auth_required=required(BOOLEAN),
    inputs=required(_OBJECT),
    outputs=required(_OBJECT),
    endpoint=FILLED,
    method=_enum("GET", "POST", "PUT", "DELETE", "PATCH"),
    via=FILLED,
    operation=FILLED,
    rate_limit=STRING,
    idempotency=members(supported=BOOLEAN, key_field=STRING, window=STRING),
    execution_model=_enum("sync", "async"),
    poll_endpoint=STRING,
    sensitivity=_enum("standard", "destructive", "irreversible"),
    requires_human_confirmation=BOOLEAN,
    reversible=BOOLEAN,
)
DOCUMENT = Specification(
    members(
        awp_version=required(STRING),
        domain=required(STRING),
        intent=required(FILLED),
        protocols=_PROTOCOLS,
        capabilities=_CAPABILITIES,
        auth=_AUTH,
        entities=_map(members(fields=_map(STRING))),
        actions=required({"type": "array", "items": _ACTION}),
        errors=_map(members(recovery=required(FILLED))),
        dependencies=_map(TEXTS),
        agent_hints=_map(STRING),
        agent_status=members(
            operational=BOOLEAN, degraded_actions=TEXTS, status_endpoint=STRING
        ),
    )
)
INPUTS = Specification(
    _map(
        members(
            type=required(FILLED),
            required=BOOLEAN,
            options={"type": "array"},
            description=STRING,
        )
    )
)
