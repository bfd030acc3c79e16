"""AWP 0.2: `/agent.json`."""

from registry.demo.town.documents.spelling import kebab, method
from registry.demo.town.member import Member
from registry.sites.action import Action, Parameter
from registry.strict_json import JsonValue

Document = dict[str, JsonValue]


def build_awp(member: Member) -> Document:
    document: Document = {
        "awp_version": "0.2",
        "domain": member.host,
        "intent": member.description,
        "capabilities": {"streaming": False, "pagination": "cursor"},
        "actions": [_awp_action(action) for action in member.actions],
        "errors": {"RATE_LIMITED": {"recovery": "wait 60 seconds then retry"}},
        "agent_status": {"operational": True},
    }
    if locked := [action.name for action in member.actions if action.auth_required]:
        document["auth"] = {"type": "oauth2", "required_for": list(locked)}
    return document


def _awp_action(action: Action) -> Document:
    described: Document = {
        "id": action.name,
        "description": action.description,
        "auth_required": bool(action.auth_required),
        "inputs": {
            parameter.name: _awp_input(parameter) for parameter in action.parameters
        },
        "outputs": {"result": "string"},
        "endpoint": f"/api/{kebab(action.name)}",
        "method": method(action),
    }
    if action.sensitivity in ("destructive", "irreversible"):
        described["sensitivity"] = action.sensitivity
        described["requires_human_confirmation"] = True
    return described


_AWP_TYPES = {"number": "float", "array": "array[string]"}


def _awp_input(parameter: Parameter) -> Document:
    described: Document = {
        "type": _AWP_TYPES.get(parameter.type, parameter.type),
        "required": bool(parameter.required),
    }
    if parameter.description:
        described["description"] = parameter.description
    if parameter.enum:
        described |= {"type": "enum", "options": list(parameter.enum)}
    return described
