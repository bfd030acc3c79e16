"""Encoding of any listed site as an AWAS 1.0 catalogue, `ai-actions.json`.

An action that is no request over HTTP gets the path that it is nearest to, and its true
calls in the extension; nothing is invented.
"""

from registry.formats.extension import extended, stated
from registry.formats.writing.plain_call import PlainCall, extended_action, plain_call
from registry.formats.writing.site_extension import site_facts
from registry.sites.action import Action, Call, Parameter
from registry.sites.site import Site
from registry.strict_json import JsonObject


def as_awas(site: Site, *, host: str) -> JsonObject:
    """Encode a site. host: the crawled one."""
    undeclared = () if site.name else ("name",)
    document: JsonObject = {
        "version": "1.0",
        "name": site.name or host,
        "description": site.description,
        "baseUrl": site.url or f"https://{host}/",
        "actions": [_action(action, host) for action in site.actions],
        **stated(languages=list(site.languages)),
    }
    return extended(document, undeclared, **site_facts(site))


def _action(action: Action, host: str) -> JsonObject:
    request = plain_call(action)
    undeclared = [] if request else ["path", "method"]
    request = request or _nearest(action, host)
    off_origin = any(c.off_origin for c in action.calls if c.target == request.url)
    native = Call(
        format="awas",
        transport="http",
        method=request.method,
        target=request.url,
        off_origin=off_origin,
    )
    declared: JsonObject = {
        "id": action.name,
        "name": action.name,
        "description": action.description,
        "path": request.url,
        "method": request.method,
        "parameters": [_parameter(row) for row in action.parameters],
    }
    if action.auth_required is not None:
        declared["authentication"] = {"required": action.auth_required}
    return extended_action(
        declared, action, (native,), undeclared, own=("auth_required",)
    )


def _nearest(action: Action, host: str) -> PlainCall:
    for call in action.calls:
        if call.target.startswith("https://"):
            return PlainCall("POST", call.target)
    return PlainCall("GET", f"https://{host}/")


def _parameter(parameter: Parameter) -> JsonObject:
    undeclared = []
    if parameter.type == "unknown":
        undeclared.append("type")
    if parameter.required is None:
        undeclared.append("required")
    declared: JsonObject = {
        "name": parameter.name,
        "type": "string" if parameter.type == "unknown" else parameter.type,
        "required": parameter.required or False,
        "description": parameter.description,
        **stated(enum=list(parameter.enum)),
    }
    return extended(declared, undeclared)
