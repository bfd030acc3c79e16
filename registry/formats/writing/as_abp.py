"""Encoding of any listed site as an ABP manifest, without invented facts."""

from registry.formats.extension import extended, stated
from registry.formats.writing.plain_call import extended_action
from registry.formats.writing.schema_parameters import extended_schema
from registry.formats.writing.site_extension import site_facts
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject


def as_abp(site: Site, *, host: str) -> JsonObject:
    """Encode a site. host: the crawled one, which is also the app's id."""
    app: JsonObject = {
        "id": host,
        "name": site.name or host,
        "version": "1.0.0",
        "homepage": site.url or f"https://{host}/",
        **stated(description=site.description),
    }
    undeclared = ["version"] if site.name else ["name", "version"]
    manifest: JsonObject = {
        "abp": "0.1",
        "app": app,
        "capabilities": [_capability(action) for action in site.actions],
    }
    return extended(manifest, undeclared, **site_facts(site))


def _capability(action: Action) -> JsonObject:
    native = Call(format="abp", transport="window.abp", operation=action.name)
    declared = stated(
        name=action.name,
        inputSchema=extended_schema(action),
        description=action.description,
        experimental=action.experimental or None,
        deprecated=action.deprecated or None,
    )
    return extended_action(
        declared, action, (native,), own=("experimental", "deprecated")
    )
