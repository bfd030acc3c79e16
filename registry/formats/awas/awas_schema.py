"""Schemas of AWAS documents, as far as JSON Schema can express the rules.

1.0 is the published specification with its section "Validation"; 1.1 is the schema of
the reference repository, which names most members otherwise. A catalogue's pointer
manifests for MCP and A2A agents are specified under "Manifest Requirements".
"""

from registry.formats.reading.conformance import Schema, Specification

_STRING: Schema = {"type": "string"}
_FILLED: Schema = {"type": "string", "minLength": 1}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_NUMBER: Schema = {"type": "number"}
_OBJECT: Schema = {"type": "object"}
_CHOICES: Schema = {"type": "array", "minItems": 1}
_METHOD = ("GET", "POST", "PUT", "DELETE", "PATCH")
_JSON_TYPES = ("string", "integer", "number", "boolean", "array", "object")
_LEVELS = ("L1", "L2", "L3")


def _object(*mandatory: str, **properties: Schema) -> Schema:
    return {"type": "object", "required": list(mandatory), "properties": properties}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _enum(*choices: str) -> Schema:
    return {"type": "string", "enum": list(choices)}


def _like(example: str, pattern: str) -> Schema:
    return {"type": "string", "pattern": pattern, "examples": [example]}


_RATE_LIMIT = _object(
    requests={"type": "integer", "minimum": 1},
    window=_like("60s", r"^\d+[smhd]\Z"),
    scope=_STRING,
)
_VALIDATION = _object(
    pattern=_STRING,
    min=_NUMBER,
    max=_NUMBER,
    minLength=_COUNT,
    maxLength=_COUNT,
    enum=_CHOICES,
)

_PARAMETER = _object(
    "name",
    "type",
    "required",
    "description",
    name=_FILLED,
    type=_enum(*_JSON_TYPES, "null"),
    format=_STRING,
    required=_FLAG,
    description=_STRING,
    selector=_FILLED,
    validation=_VALIDATION,
    enum=_CHOICES,
)
_RESULT = _object(
    "type",
    "selector",
    type=_enum("single", "list", "table", "form"),
    selector=_FILLED,
    itemSelector=_FILLED,
    properties={"type": "object", "additionalProperties": _STRING},
    pagination=_OBJECT,
)
_AUTHENTICATION = _object(required=_FLAG, methods=_list_of(_STRING))

VERSION_1_0 = Specification(
    _object(
        "version",
        "name",
        "description",
        "actions",
        version={"type": "string", "const": "1.0"},
        name=_FILLED,
        description=_STRING,
        baseUrl=_STRING,
        contact=_object(email=_STRING, url=_STRING),
        authentication=_AUTHENTICATION,
        rateLimit=_RATE_LIMIT,
        actions=_list_of(
            _object(
                "id",
                "name",
                "description",
                "path",
                "method",
                id=_FILLED,
                name=_FILLED,
                description=_STRING,
                path=_FILLED,
                method=_enum(*_METHOD),
                parameters=_list_of(_PARAMETER),
                result=_RESULT,
                rateLimit=_RATE_LIMIT,
                authentication=_AUTHENTICATION,
            )
        ),
    )
)

_INPUT = _object(
    "name",
    "type",
    name=_STRING,
    type=_enum(*_JSON_TYPES),
    required=_FLAG,
    selector=_STRING,
    description=_STRING,
    examples={"type": "array"},
    validation=_VALIDATION,
)
_ACTION_TYPES = (
    "form_submission",
    "navigation",
    "search",
    "filter",
    "data_retrieval",
    "state_change",
    "custom",
)

VERSION_1_1 = Specification(
    _object(
        "specVersion",
        "version",
        "actions",
        specVersion=_enum("1.0", "1.1"),
        version=_like("1.1", r"^\d+\.\d+\Z"),
        lastUpdated=_STRING,
        name=_STRING,
        description=_STRING,
        conformanceLevel=_enum(*_LEVELS),
        actions=_list_of(
            _object(
                "id",
                "type",
                "name",
                "method",
                "endpoint",
                id=_like("book_table", r"^[a-z_][a-z0-9_]*\Z"),
                type=_enum(*_ACTION_TYPES),
                intent=_enum("read", "write", "delete", "execute"),
                sideEffect=_enum("safe", "idempotent", "destructive"),
                name=_STRING,
                description=_STRING,
                method=_enum(*_METHOD),
                endpoint=_STRING,
                selector=_STRING,
                authentication_required=_FLAG,
                authScopes=_list_of(_STRING),
                idempotencyKeySupported=_FLAG,
                preconditions=_list_of(_STRING),
                rateLimitHint=_RATE_LIMIT,
                inputs=_list_of(_INPUT),
                inputSchema=_OBJECT,
                outputs=_OBJECT,
                outputSchema=_OBJECT,
                dryRunSupported=_FLAG,
                conformanceLevel=_enum(*_LEVELS),
            )
        ),
        workflows=_list_of(_object("id", "name", "steps", steps=_list_of(_STRING))),
        rate_limits={"type": "object", "additionalProperties": {"type": "integer"}},
        authentication=_object(
            required=_FLAG, optional_for=_list_of(_STRING), methods=_list_of(_STRING)
        ),
        security=_OBJECT,
    )
)

MCP_MANIFEST = Specification(
    _object(
        "capabilities",
        "endpoints",
        endpoints=_object("actions", actions=_FILLED),
    )
)
A2A_MANIFEST = Specification(
    _object(
        "capabilities",
        "endpoints",
        "interoperability",
        endpoints=_object("actions_registry", actions_registry=_FILLED),
    )
)
