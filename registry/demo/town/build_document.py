"""Document of a member in its format and dialect, and its path.

WAB 1.0 (section 4) and two dialects that are as common; AWP 0.2; AWAS 1.0, and 1.1 as the
schema of its repository has it; the ABP manifest; the manifest beside a WebMCP page.
"""

from collections.abc import Callable

from registry.demo.town.member import Dialect, Format, Member
from registry.demo.town.spelling import (
    camel,
    json_schema,
    kebab,
    list_entry,
    method,
    title,
)
from registry.sites.action import Action, Parameter
from registry.strict_json import JsonValue

Document = dict[str, JsonValue]


def build_wab(member: Member) -> Document:
    document: Document = {
        "wab_version": "1.0",
        "provider": _wab_provider(member),
        "capabilities": {
            "commands": [_wab_command(action) for action in member.actions],
            "permissions": {"readContent": True, "fillForms": True, "apiAccess": True},
            "tier": "enterprise" if member.size == "large" else "free",
        },
        "agent_access": {"preferred_entry_point": "/"},
        "transport": {"http": {"enabled": True, "base_url": "/api/wab"}},
        "security": {"session_ttl": 3600, "max_rate": 60},
    }
    metrics = _fairness_metrics(member)
    return document | ({"fairness_metrics": metrics} if metrics else {})


def _wab_provider(member: Member) -> Document:
    provider: Document = {
        "name": member.name,
        "category": member.category,
        "url": member.url,
        "description": member.description,
    }
    if member.city:
        provider["location"] = {
            "city": member.city,
            "country": member.country,
            "support_local": True,
        }
    return provider


def _wab_command(action: Action) -> Document:
    reading = action.sensitivity == "read"
    command: Document = {
        "name": camel(action.name),
        "description": action.description,
        "trigger": "api" if reading else "fill_and_submit",
        "params": [_wab_parameter(parameter) for parameter in action.parameters],
    }
    if action.auth_required is not None:
        command["requiresAuth"] = action.auth_required
    return command


def _wab_parameter(parameter: Parameter) -> Document:
    return list_entry(parameter) | {
        "type": "number" if parameter.type == "integer" else parameter.type
    }


def _fairness_metrics(member: Member) -> Document:
    metrics: Document = {}
    if member.commission_percent is not None:
        metrics["commission_rate"] = f"{member.commission_percent}%"
    if member.is_independent is not None:
        metrics["is_independent"] = member.is_independent
    return metrics


def build_wab_site(member: Member) -> Document:
    """The dialect "site 1.2": `site` for `provider`, actions beside generic verbs."""
    return {
        "wab_version": "1.2.0",
        "protocol": "1.0",
        "site": {
            "name": member.name,
            "domain": member.host,
            "description": member.description,
            "category": member.category,
            "language": "en",
        },
        "actions": [
            {"name": camel(action.name), "description": action.description}
            for action in member.actions
        ],
        "capabilities": {"commands": ["readContent", "click", "fillForms"]},
        "endpoints": {
            "discover": f"{member.url}.well-known/wab.json",
            "execute": f"{member.url}api/wab/execute",
        },
    }


def build_wab_edge(member: Member) -> Document:
    """The dialect "edge 3.2": commands keyed by name, transports as a list."""
    return {
        "wab_version": "3.2.0",
        "protocol_version": "1.0",
        "site_url": f"https://{member.host}",
        "endpoint": f"{member.url}api/wab",
        "transport": ["http"],
        "commands": {
            camel(action.name): {
                "description": action.description,
                "method": "POST",
                "path": "/execute",
                "auth_required": bool(action.auth_required),
            }
            for action in member.actions
        },
        "agent_permissions": {"read": True, "search": True, "checkout": False},
        "rate_limits": {"requests_per_minute": 60},
    }


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


def build_webmcp_manifest(member: Member) -> Document:
    return {
        "name": member.name,
        "description": member.description,
        "url": member.url,
        "tools": [
            {
                "name": action.name,
                "description": action.description,
                "inputSchema": json_schema(action.parameters),
                "annotations": {"readOnlyHint": action.sensitivity == "read"},
            }
            for action in member.actions
        ],
    }


def build_abp(member: Member) -> Document:
    return {
        "abp": "0.1",
        "app": {
            "id": ".".join(reversed(member.host.split("."))),
            "name": member.name,
            "version": "1.0.0",
            "description": member.description,
            "homepage": member.url,
        },
        "capabilities": [
            {
                "name": camel(action.name),
                "description": action.description,
                "inputSchema": json_schema(action.parameters),
            }
            for action in member.actions
        ],
    }


PAGE_PATH = "/"

_Builder = Callable[[Member], dict[str, JsonValue]]
_PATHS_AND_BUILDERS: dict[tuple[Format, Dialect], tuple[str, _Builder]] = {
    ("wab", ""): ("/agent-bridge.json", build_wab),
    ("wab", "site-1.2"): ("/.well-known/wab.json", build_wab_site),
    ("wab", "edge-3.2"): ("/agent-bridge.json", build_wab_edge),
    ("awp", ""): ("/agent.json", build_awp),
    ("awas", ""): ("/.well-known/ai-actions.json", build_awas_1_0),
    ("awas", "1.1"): ("/.well-known/ai-actions.json", build_awas_1_1),
    ("abp", ""): ("/abp-manifest.json", build_abp),
    ("webmcp", "manifest"): ("/.well-known/webmcp.json", build_webmcp_manifest),
}


def document_path(member: Member) -> str:
    """Return the path of the document; PAGE_PATH where the page itself is the document."""
    entry = _PATHS_AND_BUILDERS.get((member.format, member.dialect))
    return entry[0] if entry else PAGE_PATH


def build_document(member: Member) -> dict[str, JsonValue] | None:
    """Build a member's document; None where the page itself is the document."""
    entry = _PATHS_AND_BUILDERS.get((member.format, member.dialect))
    return entry[1](member) if entry else None
