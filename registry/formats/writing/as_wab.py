"""Encoding of any listed site as a valid WAB 1.0 document, without invented facts.

Members that WAB requires and the site left open get a plain value and are named in
`undeclared`; facts that WAB cannot express are in the extension. So parsing the result
gives the same site again.
"""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from urllib.parse import urlsplit

from msgspec.structs import replace

from registry.formats.extension import extended, stated
from registry.formats.wab.transports import EXECUTE
from registry.formats.wab.wab_schema import PARAMETER_TYPES, TRIGGERS
from registry.formats.writing.plain_call import extended_action
from registry.formats.writing.site_extension import location_members
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import Site
from registry.strict_json import JsonObject

UNCATEGORISED = "uncategorised"
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*")
_NOT_IN_NAME = re.compile(r"[^a-zA-Z0-9_-]+")
_TRIGGER_OF = {"form": "fill_and_submit", "navigate": "navigate"}
_TRANSPORTS = ("http", "websocket", "js_global")
_SCRIPT_INTERFACES = {"window.abp": "window.abp", "page": "navigator.modelContext"}


def as_wab(site: Site, *, host: str) -> JsonObject:
    """Encode a site. host: the crawled one, for undeclared members."""
    transports = _wab_transports(site)
    undeclared = [
        name for name in ("name", "category", "url") if not getattr(site, name)
    ]
    if not transports:
        undeclared.append("transport")
    document: JsonObject = {
        "wab_version": "1.0",
        "provider": _provider(site, host),
        "capabilities": {
            "commands": list(_commands(site.actions, transports)),
            "permissions": dict(site.permissions),
        },
        "transport": {call.transport: _describe(call) for call in transports}
        or _other_transport(site, host),
        **stated(
            fairness_metrics=_fairness(site),
            trust_signatures=list(site.trust_signatures),
        ),
    }
    return extended(document, undeclared)


def _provider(site: Site, host: str) -> JsonObject:
    return {
        "name": site.name or host,
        "category": site.category or UNCATEGORISED,
        "url": site.url or f"https://{host}/",
        **stated(
            description=site.description,
            languages=list(site.languages),
            location=location_members(site),
        ),
    }


def _fairness(site: Site) -> JsonObject:
    rate, percent = None, site.commission_percent
    if percent is not None:
        rate = format(Decimal(repr(percent)).normalize(), "f") + "%"
    return stated(
        commission_rate=rate,
        is_independent=site.is_independent,
        direct_benefit=site.direct_benefit,
    )


# --- commands -------------------------------------------------------------------------


def _commands(
    actions: Iterable[Action], transports: tuple[Call, ...]
) -> Iterator[JsonObject]:
    taken = {action.name for action in actions if _NAME.fullmatch(action.name)}
    for action in actions:
        name = action.name
        if not _NAME.fullmatch(name):
            name = _wab_name(action.name, taken)
            taken.add(name)
        yield _command(action, name, transports)


def _wab_name(text: str, taken: set[str]) -> str:
    """Return a name that WAB allows (section 4.4) and that is not taken."""
    plain = _NOT_IN_NAME.sub("_", text).strip("_") or "action"
    if not plain[0].isalpha():
        plain = f"action_{plain}"
    name, number = plain, 1
    while name in taken:
        number += 1
        name = f"{plain}_{number}"
    return name


def _command(action: Action, name: str, transports: tuple[Call, ...]) -> JsonObject:
    declared = _declared_trigger(action)
    trigger = declared or _likely_trigger(action)
    undeclared = [] if action.description else ["description"]
    if not declared:
        undeclared.append("trigger")
    command: JsonObject = {
        "name": name,
        "description": action.description or action.name,
        "trigger": trigger,
        "params": list(map(_parameter, action.parameters)),
        **stated(requiresAuth=action.auth_required),
    }
    implied = tuple(replace(call, method=declared) for call in transports)
    return extended_action(
        command,
        action,
        implied,
        undeclared,
        own=("auth_required",),
        name=action.name if name != action.name else None,
    )


def _parameter(parameter: Parameter) -> JsonObject:
    known = parameter.type in PARAMETER_TYPES
    nearest = "number" if parameter.type == "integer" else "string"
    undeclared = ["type"] if parameter.type == "unknown" else []
    if parameter.required is None:
        undeclared.append("required")
    declared: JsonObject = {
        "name": parameter.name,
        "type": parameter.type if known else nearest,
        "required": parameter.required or False,
    }
    declared |= stated(description=parameter.description, enum=list(parameter.enum))
    other = None if known or "type" in undeclared else parameter.type
    return extended(declared, undeclared, type=other)


def _declared_trigger(action: Action) -> str:
    for call in action.calls:
        if call.format == "wab" and call.method in TRIGGERS:
            return call.method
    return ""


def _likely_trigger(action: Action) -> str:
    transports = (call.transport for call in action.calls)
    return next(
        (_TRIGGER_OF[name] for name in transports if name in _TRIGGER_OF), "api"
    )


# --- transports -----------------------------------------------------------------------


def _wab_transports(site: Site) -> tuple[Call, ...]:
    """Return the bridge's transports, in the specification's order."""
    calls: dict[str, Call] = {}
    for call in (call for action in site.actions for call in action.calls):
        if call.format == "wab" and _is_bridge(call):
            calls.setdefault(call.transport, replace(call, method=""))
    return tuple(calls[name] for name in _TRANSPORTS if name in calls)


def has_bridge(action: Action) -> bool:
    """Return whether it can be called by a transport that WAB 1.0 has."""
    return any(call.format == "wab" and _is_bridge(call) for call in action.calls)


def _is_bridge(call: Call) -> bool:
    if call.transport == "http":
        return call.target.endswith(EXECUTE)
    return call.transport in _TRANSPORTS


def _describe(call: Call) -> JsonObject:
    match call.transport:
        case "http":
            return {"enabled": True, "base_url": call.target.removesuffix(EXECUTE)}
        case "websocket":
            return {"enabled": True, "url": call.target}
        case _:
            return {"enabled": True, "interface": call.target}


def _other_transport(site: Site, host: str) -> JsonObject:
    """Return the target of its other calls as the transport that section 4.3.7 requires."""
    calls = [call for action in site.actions for call in action.calls]
    for call in calls:
        if "://" in call.target:
            parts = urlsplit(call.target)
            return {"http": {"enabled": True, "base_url": f"https://{parts.netloc}"}}
    for call in calls:
        if call.transport in _SCRIPT_INTERFACES:
            interface = _SCRIPT_INTERFACES[call.transport]
            return {"js_global": {"enabled": True, "interface": interface}}
    return {"http": {"enabled": True, "base_url": f"https://{host}"}}
