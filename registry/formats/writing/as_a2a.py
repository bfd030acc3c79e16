"""Encoding of any listed site as an agent card of A2A 1.0.

Few sites speak A2A. For the others the interface names the protocol that is spoken at
its address, which the specification's open `protocolBinding` allows, and the extension
says that no interface of A2A was declared.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from registry.formats.extension import extended
from registry.formats.writing.plain_call import extended_action
from registry.formats.writing.schema_parameters import extended_schema
from registry.formats.writing.site_extension import site_facts
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

_MEDIA: list[JsonValue] = ["application/json"]
_MAX_INTERFACES = 10


def as_a2a(site: Site, *, host: str) -> JsonObject:
    """Encode a site. host: the crawled one."""
    interfaces = tuple(_interfaces(site))[:_MAX_INTERFACES]
    undeclared = [
        name for name in ("name", "description") if not getattr(site, name)
    ] + ["version"]
    if not interfaces:
        undeclared.append("supportedInterfaces")
    listed = interfaces or (("web", f"https://{host}/", False),)
    calls = tuple(
        Call(format="a2a", transport=binding, target=url, off_origin=off_origin)
        for binding, url, off_origin in listed
    )
    card: JsonObject = {
        "name": site.name or host,
        "description": site.description or site.name or host,
        "version": "1.0.0",
        "provider": {
            "organization": site.name or host,
            "url": site.url or f"https://{host}/",
        },
        "supportedInterfaces": [
            {"url": url, "protocolBinding": binding, "protocolVersion": "1.0"}
            for binding, url, _ in listed
        ],
        "capabilities": {},
        "defaultInputModes": list(_MEDIA),
        "defaultOutputModes": list(_MEDIA),
        "skills": [_skill(action, calls) for action in site.actions],
    }
    return extended(card, undeclared, **site_facts(site))


def _interfaces(site: Site) -> Iterator[tuple[str, str, bool]]:
    """Yield binding, address and whether it is off the origin, of A2A first."""
    calls = [call for action in site.actions for call in action.calls]
    seen: set[str] = set()
    for call in sorted(calls, key=lambda call: call.format != "a2a"):
        if "://" in call.target and call.target not in seen:
            seen.add(call.target)
            binding = "wab" if call.format == "wab" else call.transport
            yield binding, call.target, call.off_origin


def _skill(action: Action, interfaces: tuple[Call, ...]) -> JsonObject:
    declared: JsonObject = {
        "id": action.name,
        "name": action.name,
        "description": action.description or action.name,
        "tags": [],
        "inputSchema": extended_schema(action),
    }
    native = tuple(replace(call, operation=action.name) for call in interfaces)
    undeclared = () if action.description else ("description",)
    return extended_action(declared, action, native, undeclared)
