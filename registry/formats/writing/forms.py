"""All forms in which a listed site is served, by the name that `as=` takes."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from registry.formats.as_mcp_tools import as_mcp_tools
from registry.formats.writing.as_a2a import as_a2a
from registry.formats.writing.as_abp import as_abp
from registry.formats.writing.as_awas import as_awas
from registry.formats.writing.as_awp import as_awp
from registry.formats.writing.as_wab import as_wab
from registry.sites.site import Site
from registry.strict_json import JsonObject

Form: TypeAlias = Literal["wab", "awp", "awas", "abp", "mcp-tools", "a2a"]

_WRITERS: Mapping[Form, Callable[..., JsonObject]] = {
    "wab": as_wab,
    "awp": as_awp,
    "awas": as_awas,
    "abp": as_abp,
    "mcp-tools": as_mcp_tools,
    "a2a": as_a2a,
}

FORMS_TEXT = (
    "All that is listed of the site as one document: wab, awp, awas and abp of those"
    " formats, a2a an agent card; mcp-tools: its actions as MCP tool definitions"
    " (WAB §10.2). What a format cannot say is in the member x-fair-registry."
)


def write_as(form: Form, site: Site, *, host: str) -> JsonObject:
    """Write all that is listed of a site as one document. host: the crawled one."""
    return _WRITERS[form](site, host=host)
