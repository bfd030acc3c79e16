"""Document of a member, and its path."""

from collections.abc import Callable

from registry.demo.town.documents.abp import build_abp
from registry.demo.town.documents.awas import build_awas_1_0, build_awas_1_1
from registry.demo.town.documents.awp import build_awp
from registry.demo.town.documents.wab import build_wab, build_wab_edge, build_wab_site
from registry.demo.town.documents.webmcp import build_webmcp_manifest
from registry.demo.town.member import Dialect, Format, Member
from registry.strict_json import JsonValue

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
