"""AWAS 1.0, and 1.1 as the schema of its repository has it."""

from registry.demo.town.documents.spelling import kebab, list_entry, method, title
from registry.demo.town.member import Member
from registry.sites.action import Action, Parameter
from registry.strict_json import JsonValue

Document = dict[str, JsonValue]


def build_awas_1_0(member: Member) -> Document:
    return {
        "version": "1.0",
        "name": member.name,
        "description": member.description,
        "baseUrl": f"https://{member.host}",
        "contact": {"url": f"{member.url}contact"},
        "rateLimit": {"requests": 100, "window": "1h", "scope": "ip"},
        "actions": [_awas_1_0_action(action) for action in member.actions],
    }


def _awas_1_0_action(action: Action) -> Document:
    described: Document = {
        "id": kebab(action.name),
        "name": title(action.name),
        "description": action.description,
        "path": f"/{kebab(action.name)}",
        "method": method(action),
        "parameters": [list_entry(parameter) for parameter in action.parameters],
    }
    if action.auth_required is not None:
        described["authentication"] = {"required": action.auth_required}
    return described


_AWAS_INTENTS = {
    "read": "read",
    "write": "write",
    "destructive": "delete",
    "irreversible": "execute",
}
_AWAS_SIDE_EFFECTS = {
    "read": "safe",
    "write": "idempotent",
    "destructive": "destructive",
    "irreversible": "destructive",
}


def build_awas_1_1(member: Member) -> Document:
    return {
        "specVersion": "1.1",
        "version": "1.0",
        "name": member.name,
        "description": member.description,
        "actions": [_awas_1_1_action(action) for action in member.actions],
    }


def _awas_1_1_action(action: Action) -> Document:
    effect = action.sensitivity or "write"
    described: Document = {
        "id": action.name,
        "type": "data_retrieval" if effect == "read" else "form_submission",
        "intent": _AWAS_INTENTS[effect],
        "sideEffect": _AWAS_SIDE_EFFECTS[effect],
        "name": title(action.name),
        "description": action.description,
        "method": method(action),
        "endpoint": f"/api/{kebab(action.name)}",
        "inputs": [_awas_1_1_input(parameter) for parameter in action.parameters],
    }
    if effect == "write":
        described["idempotencyKeySupported"] = True
    if action.auth_required is not None:
        described["authentication_required"] = action.auth_required
    return described


def _awas_1_1_input(parameter: Parameter) -> Document:
    described = list_entry(parameter)
    enum = described.pop("enum", None)
    return described | ({"validation": {"enum": enum}} if enum else {})
