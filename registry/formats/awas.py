"""AWAS, the AI-readable Web Action Standard: `ai-actions.json` and its pointer manifests.

Specification: AWAS 1.0, and the incompatible 1.1 that the reference repository's schema
describes. Hardly any document follows either; a document without a version is taken for
AWAS if its actions have names.
"""

from typing import Any

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.actions import gather, severest
from registry.formats.claims import read_address, read_languages
from registry.formats.conformance import Specification
from registry.formats.document import Document
from registry.formats.parameters import read_parameters
from registry.formats.reader import Reader
from registry.sites.action import Action, Call, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject

_STRING = {"type": "string"}
_METHOD = {"type": "string", "enum": ["GET", "POST", "PUT", "DELETE", "PATCH"]}
_VERSION = {"type": "string", "pattern": r"^\d+\.\d+\Z"}
_JSON_TYPES = ["string", "integer", "number", "boolean", "array", "object"]


def _list_of(*mandatory: str, **properties: Any) -> dict[str, Any]:
    item = {"type": "object", "required": list(mandatory), "properties": properties}
    return {"type": "array", "items": item}


_VERSION_1_0 = Specification(
    {
        "type": "object",
        "required": ["version", "name", "description", "actions"],
        "properties": {
            "version": {"type": "string", "const": "1.0"},
            "name": _STRING,
            "description": _STRING,
            "baseUrl": _STRING,
            "actions": _list_of(
                "id",
                "name",
                "description",
                "path",
                "method",
                id=_STRING,
                name=_STRING,
                description=_STRING,
                path=_STRING,
                method=_METHOD,
                parameters=_list_of(
                    "name",
                    "type",
                    "required",
                    "description",
                    name=_STRING,
                    type={"type": "string", "enum": [*_JSON_TYPES, "null"]},
                    required={"type": "boolean"},
                    description=_STRING,
                    enum={"type": "array"},
                ),
            ),
        },
    }
)
_VERSION_1_1 = Specification(
    {
        "type": "object",
        "required": ["specVersion", "version", "actions"],
        "properties": {
            "specVersion": _VERSION,
            "version": _VERSION,
            "name": _STRING,
            "description": _STRING,
            "actions": _list_of(
                "id",
                "type",
                "name",
                "method",
                "endpoint",
                id={"type": "string", "pattern": r"^[a-z_][a-z0-9_]*\Z"},
                type=_STRING,
                name=_STRING,
                description=_STRING,
                method=_METHOD,
                endpoint=_STRING,
                intent={
                    "type": "string",
                    "enum": ["read", "write", "delete", "execute"],
                },
                sideEffect={
                    "type": "string",
                    "enum": ["safe", "idempotent", "destructive"],
                },
                authentication_required={"type": "boolean"},
                inputs=_list_of(
                    "name",
                    "type",
                    name=_STRING,
                    type={"type": "string", "enum": _JSON_TYPES},
                    required={"type": "boolean"},
                    description=_STRING,
                ),
                inputSchema={"type": "object"},
            ),
        },
    }
)
_IDS = ("id", "action_id", "actionId", "name")
_HEADINGS = (
    "version",
    "specVersion",
    "schemaVersion",
    "schema_version",
    "name",
    "appName",
    "siteDescription",
)
_SIDE_EFFECTS: dict[str, Sensitivity] = {
    "none": "read",
    "safe": "read",
    "read": "read",
    "idempotent": "write",
    "write": "write",
    "delete": "destructive",
    "destructive": "destructive",
    "irreversible": "irreversible",
}


def is_awas(raw: JsonObject) -> bool:
    return _has_named_actions(raw) or _is_pointer(raw) or _is_page_map(raw)


def read_awas(document: Reader) -> Document:
    """Raises: Refused (not_discovery)."""
    raw = document.members
    if _is_page_map(raw) and "actions" not in raw:
        raise Refused(
            refusals.NOT_DISCOVERY, "an AWAS page map; its actions stand elsewhere"
        )
    dialect = _dialect_of(raw)
    if dialect == "pointer":
        return _read_pointer(document)
    specification = _VERSION_1_1 if dialect == "1.1" else _VERSION_1_0
    specification.compare(document)
    return document.ledger.conclude(
        format="awas",
        dialect=dialect,
        version=_read_version(document),
        site=_read_site(document),
        raw=raw,
    )


# --- telltales ------------------------------------------------------------------------


def _objects_in(raw: JsonObject, name: str) -> list[JsonObject]:
    members = raw.get(name)
    if not isinstance(members, list):
        return []
    return [item for item in members if isinstance(item, dict)]


def _has_named_actions(raw: JsonObject) -> bool:
    actions = _objects_in(raw, "actions")
    if actions:
        return any(isinstance(each.get(name), str) for each in actions for name in _IDS)
    return raw.get("actions") == [] and any(name in raw for name in _HEADINGS)


def _catalogue_address(raw: JsonObject) -> str:
    for holder, names in (
        ("endpoints", ("actions", "actions_registry")),
        ("actions", ("discover",)),
    ):
        members = raw.get(holder)
        for name in names if isinstance(members, dict) else ():
            address = members.get(name) if isinstance(members, dict) else None
            if isinstance(address, str):
                return address
    return ""


def _is_pointer(raw: JsonObject) -> bool:
    """A manifest for MCP or A2A agents that leads to the AWAS catalogue."""
    return _catalogue_address(raw).endswith((".json", "/awas", "/ai-actions"))


def _is_page_map(raw: JsonObject) -> bool:
    pages = _objects_in(raw, "pages")
    return bool(pages) and all(
        isinstance(page.get("actions"), list) and "intent" in page for page in pages
    )


def _dialect_of(raw: JsonObject) -> str:
    if not isinstance(raw.get("actions"), list):
        return "pointer"
    actions = _objects_in(raw, "actions")
    if "specVersion" in raw or any("endpoint" in each for each in actions):
        return "1.1"
    return "1.0" if any("path" in each for each in actions) else "wild"


# --- normalisation --------------------------------------------------------------------


def _read_pointer(document: Reader) -> Document:
    holder = "endpoints" if document.child("endpoints").is_present else "actions"
    names = ("actions", "actions_registry", "discover")
    catalogue = document.child(holder).target(*names)
    document.child(holder).note(
        "reference",
        "the actions stand in another document",
        "Make sure that it is there; serve the actions at /.well-known/ai-actions.json.",
    )
    return document.ledger.conclude(
        format="awas",
        dialect="pointer",
        version=document.text("version"),
        site=Site(name=document.text("name"), description=document.text("description")),
        raw=document.members,
        references=(catalogue,) if catalogue else (),
    )


def _read_version(document: Reader) -> str:
    return document.text("specVersion", "schemaVersion", "schema_version", "version")


def _read_site(document: Reader) -> Site:
    base = document.target("baseUrl", "base_url")
    return Site(
        name=document.text("name", "appName", "siteName"),
        description=document.text("description", "siteDescription"),
        url=read_address(document, "baseUrl", "base_url", "url"),
        languages=read_languages(document, "language", "languages"),
        actions=gather(
            (item, _read_action(item, document, base or ""))
            for item in document.items("actions")
            if isinstance(item.value, dict)
        ),
    )


def _read_action(action: Reader, document: Reader, base: str) -> Action:
    name = action.text(*_IDS)
    title = action.text("name")
    return Action(
        name=name,
        description=action.text("description", "intent")
        or (title if title != name else ""),
        parameters=read_parameters(
            action,
            "parameters",
            "inputs",
            "params",
            "inputSchema",
            "input_schema",
            "request_schema",
        ),
        auth_required=_read_auth(action, document),
        sensitivity=_read_sensitivity(action),
        calls=_read_calls(action, base),
    )


def _read_auth(action: Reader, document: Reader) -> bool | None:
    """The action's own word, else the document's for all actions."""
    declared = action.boolean("authentication_required", "auth_required")
    if declared is None:
        declared = action.child("authentication").boolean("required")
    if declared is None and document.child("authentication").boolean("required"):
        return True
    return declared


def _read_sensitivity(action: Reader) -> Sensitivity | None:
    irreversible = action.boolean("reversible") is False
    return severest(
        _side_effect(action.child("sideEffect", "side_effect", "side_effects")),
        _SIDE_EFFECTS.get(action.text("intent").lower()),
        "irreversible" if irreversible else None,
    )


def _side_effect(declared: Reader) -> Sensitivity | None:
    """An enum in 1.1; a boolean or a list of effects in the wild."""
    if isinstance(declared.value, bool | list):
        return "write" if declared.value else "read"
    return _SIDE_EFFECTS.get(declared.as_text().lower())


def _read_calls(action: Reader, base: str) -> tuple[Call, ...]:
    url = action.target("path", "endpoint", "url", base=base)
    if url is None:
        return ()
    method = action.text("method", "http_method")
    if method.lower() == "navigate":
        return (action.call("awas", "navigate", url),)
    return (action.call("awas", "http", url, method.upper()),)
