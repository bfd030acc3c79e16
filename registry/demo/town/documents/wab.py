"""WAB 1.0 (section 4), and two dialects that are as common."""

from registry.demo.town.documents.spelling import camel, list_entry
from registry.demo.town.member import Member
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
