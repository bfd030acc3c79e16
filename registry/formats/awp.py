"""AWP, the Agent Web Protocol: `agent.json`.

Specification: AWP 0.2 sections 5 to 9 and 14. The protocol's own schema asks only for an
action's id where the specification's table asks for more, so documents are accepted by
the schema and compared with the table. Many unrelated files bear the name `agent.json`;
what resembles AWP but is built otherwise is refused by name.
"""

from dataclasses import dataclass
from typing import Any

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.actions import gather, severest
from registry.formats.claims import read_host
from registry.formats.conformance import Specification
from registry.formats.document import Document
from registry.formats.parameters import read_parameters
from registry.formats.reader import Reader
from registry.sites.action import Action, Call, Sensitivity
from registry.sites.site import Site
from registry.strict_json import JsonObject

_STRING = {"type": "string"}
_ACTION: dict[str, Any] = {
    "type": "object",
    "required": ["id", "description", "auth_required", "inputs", "outputs"],
    "properties": {
        "id": _STRING,
        "description": _STRING,
        "auth_required": {"type": "boolean"},
        "inputs": {"type": "object"},
        "outputs": {"type": "object"},
        "endpoint": _STRING,
        "method": {
            "type": "string",
            "enum": ["GET", "POST", "PUT", "DELETE", "PATCH"],
        },
        "via": _STRING,
        "operation": _STRING,
        "execution_model": {"type": "string", "enum": ["sync", "async"]},
        "sensitivity": {
            "type": "string",
            "enum": ["standard", "destructive", "irreversible"],
        },
        "requires_human_confirmation": {"type": "boolean"},
        "reversible": {"type": "boolean"},
    },
}
_SPECIFICATION = Specification(
    {
        "type": "object",
        "required": ["awp_version", "domain", "intent", "actions"],
        "properties": {
            "awp_version": {"type": "string", "pattern": r"^0\.\d+\Z"},
            "domain": _STRING,
            "intent": _STRING,
            "protocols": {
                "type": "object",
                "additionalProperties": {"type": "object", "required": ["version"]},
            },
            "auth": {"type": "object"},
            "entities": {"type": "object"},
            "actions": {"type": "array", "items": _ACTION},
            "errors": {"type": "object"},
            "dependencies": {"type": "object"},
            "agent_hints": {"type": "object"},
            "agent_status": {"type": "object"},
        },
    }
)
# Members whose shape tells AWP from its lookalikes.
_SHAPES: tuple[tuple[str, type, str], ...] = (
    ("actions", list, "an array"),
    ("protocols", dict, "an object"),
    ("capabilities", dict, "an object"),
    ("domain", str, "a host name"),
    ("intent", str, "a text"),
)
_DECLARED_SENSITIVITY: dict[str, Sensitivity] = {
    "destructive": "destructive",
    "irreversible": "irreversible",
}


@dataclass(frozen=True, slots=True)
class _AuthLists:
    """Section 7 names actions beside their own flags; the two may disagree."""

    required: frozenset[str]
    optional: frozenset[str]


def is_awp(raw: JsonObject) -> bool:
    return "awp_version" in raw


def read_awp(document: Reader) -> Document:
    """Raises: Refused (format_lookalike)."""
    _refuse_lookalike(document)
    _SPECIFICATION.compare(document)
    synthetic = document.text("source") == "synthetic"
    auth = _read_auth_lists(document.child("auth"))
    return document.ledger.conclude(
        format="awp",
        dialect="synthetic" if synthetic else "native",
        version=_read_version(document),
        site=Site(
            description=document.text("intent"),
            url=read_host(document, "domain"),
            actions=gather(
                (item, _read_action(item, document.child("protocols"), auth))
                for item in document.items("actions")
                if isinstance(item.value, dict)
            ),
        ),
        raw=document.members,
        source="synthetic" if synthetic else "native",
        generated_by=document.text("generated_by") if synthetic else "",
        confidence=_read_confidence(document) if synthetic else None,
    )


def _refuse_lookalike(document: Reader) -> None:
    for name, kind, shape in _SHAPES:
        member = document.child(name)
        if member.is_present and not isinstance(member.value, kind):
            raise _lookalike(name, f"AWP has {shape} there")
    for name in ("domain", "intent", "actions"):
        if not document.child(name).is_present:
            raise _lookalike(name, "AWP requires it")
    if not read_host(document, "domain"):
        raise _lookalike("domain", "AWP has a bare host name there")


def _lookalike(name: str, why: str) -> Refused:
    return Refused(refusals.FORMAT_LOOKALIKE, f"{name}: {why}", pointer=f"/{name}")


def _read_version(document: Reader) -> str:
    value = document.child("awp_version").value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return document.text("awp_version")


def _read_confidence(document: Reader) -> float | None:
    confidence = document.number("confidence")
    return confidence if confidence is not None and 0 <= confidence <= 1 else None


def _read_action(action: Reader, protocols: Reader, auth: _AuthLists) -> Action:
    return Action(
        name=action.text("id"),
        description=action.text("description", "intent"),
        parameters=read_parameters(action, "inputs", "parameters"),
        auth_required=_read_auth(action, auth),
        sensitivity=_read_sensitivity(action),
        calls=_read_calls(action, protocols),
    )


def _read_auth_lists(auth: Reader) -> _AuthLists:
    return _AuthLists(
        required=frozenset(auth.texts("required_for")),
        optional=frozenset(auth.texts("optional_for")),
    )


def _read_auth(action: Reader, auth: _AuthLists) -> bool | None:
    declared = action.boolean("auth_required")
    name = action.text("id")
    if name in auth.required and declared is False:
        action.child("auth_required").note(
            "contradiction",
            "auth.required_for says true; true is taken",
            "Say the same in both places.",
        )
    if name in auth.required:
        return True
    return False if declared is None and name in auth.optional else declared


def _read_sensitivity(action: Reader) -> Sensitivity | None:
    irreversible = action.boolean("reversible") is False
    return severest(
        _DECLARED_SENSITIVITY.get(action.text("sensitivity")),
        "irreversible" if irreversible else None,
    )


def _read_calls(action: Reader, protocols: Reader) -> tuple[Call, ...]:
    via = action.text("via")
    if not via:
        return _read_http_call(action)
    protocol = protocols.members.get(via)
    if not isinstance(protocol, dict):
        action.child("via").note(
            "via", f"{via[:80]} is not declared in protocols", "Declare the protocol."
        )
        return _read_http_call(action)
    endpoint = protocols.child(via).target("endpoint", "url")
    operation = action.text("operation")
    return (action.call("awp", via, endpoint or "", operation=operation),)


def _read_http_call(action: Reader) -> tuple[Call, ...]:
    for name in ("endpoint", "method"):
        if not action.child(name).is_present:
            action.child(name).note(
                "required", f"{name} is missing and via is not set", f"Add {name}."
            )
    url = action.target("endpoint")
    if url is None:
        return ()
    return (action.call("awp", "http", url, action.text("method").upper()),)
