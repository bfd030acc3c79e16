"""Encoding of any listed site as an AWP 0.2 document, `agent.json`, without invented facts.

An action that is no request over HTTP is called `via` the protocol that it is offered by;
where no document tells a way, that is the web page of the site.
"""

from urllib.parse import urlsplit

from registry.formats.extension import extended, stated
from registry.formats.writing.plain_call import extended_action, plain_call
from registry.formats.writing.site_extension import site_facts
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import Site
from registry.strict_json import JsonObject

_WEB = "web"
_PROTOCOLS = {"mcp": "mcp", "websocket": "wab-websocket"}
_TYPES = {"number": "float", "unknown": "any"}
_GRAVE = frozenset({"destructive", "irreversible"})


def as_awp(site: Site, *, host: str) -> JsonObject:
    """Encode a site. host: the crawled one."""
    protocols: dict[str, str] = {}
    actions = [_action(action, host, protocols) for action in site.actions]
    undeclared = () if site.description else ("intent",)
    document: JsonObject = {
        "awp_version": "0.2",
        "domain": urlsplit(f"//{host}").hostname or host,
        "intent": site.description or site.name or host,
        "actions": list(actions),
    }
    if protocols:
        document["protocols"] = {
            name: {"version": "unknown", "endpoint": url}
            for name, url in protocols.items()
        }
    return extended(document, undeclared, name=site.name or None, **site_facts(site))


def _action(action: Action, host: str, protocols: dict[str, str]) -> JsonObject:
    call, how, undeclared = _call(action, host, protocols)
    if not action.description:
        undeclared.append("description")
    if action.auth_required is None:
        undeclared.append("auth_required")
    declared: JsonObject = {
        "id": action.name,
        "description": action.description or action.name,
        "auth_required": action.auth_required or False,
        "inputs": {row.name: _input(row) for row in action.parameters},
        "outputs": {},
        **how,
    }
    own = {"auth_required"}
    if action.sensitivity in _GRAVE:
        declared["sensitivity"] = action.sensitivity
        own.add("sensitivity")
    # An irreversible action is always confirmed (section 9), so no false can stand there.
    if action.confirmation or action.sensitivity != "irreversible":
        own.add("confirmation")
        if action.confirmation is not None:
            declared["requires_human_confirmation"] = action.confirmation
    return extended_action(declared, action, (call,), undeclared, own=own)


def _call(
    action: Action, host: str, protocols: dict[str, str]
) -> tuple[Call, JsonObject, list[str]]:
    """Return the call that a reader finds, how it is written, and what is undeclared."""
    request = plain_call(action)
    if request:
        call = _like(action, "http", request.method, request.url)
        how: JsonObject = {"endpoint": request.url, "method": request.method}
        return call, how, []
    for call in action.calls:
        if "://" in call.target:
            return _routed(action, call, protocols)
    via = _declare(protocols, _WEB, f"https://{host}/")
    return _like(action, via, "", protocols[via]), {"via": via}, ["via"]


def _routed(
    action: Action, call: Call, protocols: dict[str, str]
) -> tuple[Call, JsonObject, list[str]]:
    via = _declare(protocols, _protocol(call), call.target)
    operation = call.operation or action.name
    how: JsonObject = {"via": via, "operation": operation}
    return _like(action, via, "", call.target, operation), how, []


def _protocol(call: Call) -> str:
    if call.format in {"a2a", "wab"} and call.transport != "websocket":
        return call.format
    return _PROTOCOLS.get(call.transport, _WEB)


def _declare(protocols: dict[str, str], name: str, url: str) -> str:
    """Return the identifier of the protocol at this address, declaring it if need be."""
    identifier, number = name, 1
    while protocols.setdefault(identifier, url) != url:
        number += 1
        identifier = f"{name}-{number}"
    return identifier


def _like(
    action: Action, transport: str, method: str, url: str, operation: str = ""
) -> Call:
    off_origin = any(call.off_origin for call in action.calls if call.target == url)
    return Call(
        format="awp",
        transport=transport,
        method=method,
        target=url,
        operation=operation,
        off_origin=off_origin,
    )


def _input(parameter: Parameter) -> JsonObject:
    return stated(
        type=_TYPES.get(parameter.type, parameter.type),
        required=parameter.required,
        description=parameter.description,
        options=list(parameter.enum),
    )
