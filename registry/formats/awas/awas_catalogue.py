"""AWAS, the AI-readable Web Action Standard: `ai-actions.json` and its pointer manifests.

Specification: AWAS 1.0, and the incompatible 1.1 that the reference repository's schema
describes. Hardly any document follows either; a document without a version is taken for
AWAS if its actions have names.
"""

from urllib.parse import urljoin

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.awas.awas_actions import (
    ADDRESSES,
    IDS,
    METHODS,
    Surroundings,
    read_actions,
)
from registry.formats.document import Document
from registry.formats.reading.action_list import gather
from registry.formats.reading.claims import (
    read_address,
    read_languages,
    read_permissions,
)
from registry.formats.reading.conformance import load_specifications
from registry.formats.reading.gating import read_auth
from registry.formats.reading.reader import Reader
from registry.formats.reading.structure import has_text
from registry.formats.reading.synonyms import note_synonym
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue

# 1.0 is the published specification with its section "Validation"; 1.1 is the schema of
# the reference repository, which names most members otherwise. A catalogue's pointer
# manifests for MCP and A2A agents are specified under "Manifest Requirements".
SPECIFICATIONS = load_specifications(__package__, "awas_schema.json")


# Each name of the specification with its synonyms, in the order in which they are read.
_VERSION = ("version", "specVersion", "schemaVersion", "schema_version")
_ACTIONS = ("actions", "customer_actions")
_NAME = ("name", "appName", "app_name", "siteName", "site_name", "title")
_DESCRIPTION = ("description", "siteDescription", "site_description")
_BASE = ("baseUrl", "base_url")
_HEADINGS = frozenset({*_VERSION, *_NAME, "siteDescription"})
_CALLING = (*ADDRESSES, *METHODS)
_CATALOGUES = (
    ("endpoints", ("actions", "actions_registry")),
    ("actions", ("discover",)),
)
_CATALOGUE_ENDS = (".json", "/awas", "/ai-actions")


# --- detection ------------------------------------------------------------------------


def is_awas(raw: JsonObject) -> bool:
    if isinstance(raw.get("domain"), str) and isinstance(raw.get("intent"), str):
        return False  # AWP without its version
    return _names_actions(raw) or bool(_catalogue_in(raw)) or _is_page_map(raw)


def _actions_in(raw: JsonObject) -> JsonValue:
    return raw.get("actions", raw.get("customer_actions"))


def _objects_in(value: JsonValue) -> list[JsonObject]:
    """Return the objects of a list, or of a map whose members all are objects."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    if isinstance(value, dict):
        members = [item for item in value.values() if isinstance(item, dict)]
        return members if len(members) == len(value) else []
    return []


def _names_actions(raw: JsonObject) -> bool:
    """Return whether it has actions that can be called, or with a version are described.

    Rules, plans and permission tables name actions too.
    """
    declared = _actions_in(raw)
    if declared == []:
        return not _HEADINGS.isdisjoint(raw)
    is_versioned = any(name in raw for name in _VERSION)
    describing = (*_CALLING, "description") if is_versioned else _CALLING
    naming = (*IDS, "name") if isinstance(declared, list) else describing
    return any(
        has_text(action, *naming) and has_text(action, *describing)
        for action in _objects_in(declared)
    )


def _catalogue_in(raw: JsonObject) -> tuple[str, str] | None:
    """Return the members that point to the catalogue."""
    for holder, names in _CATALOGUES:
        members = raw.get(holder)
        if not isinstance(members, dict):
            continue
        for name in names:
            address = members.get(name)
            if isinstance(address, str) and address.endswith(_CATALOGUE_ENDS):
                return holder, name
    return None


def _is_page_map(raw: JsonObject) -> bool:
    pages = _objects_in(raw.get("pages"))
    return (
        "actions" not in raw
        and bool(pages)
        and all(
            isinstance(page.get("actions"), list) and "intent" in page for page in pages
        )
    )


def _dialect_of(raw: JsonObject) -> str:
    if not _names_actions(raw):
        return "pointer"
    actions = _objects_in(_actions_in(raw))
    if "specVersion" in raw or any("endpoint" in action for action in actions):
        return "1.1"
    return "1.0" if any("path" in action for action in actions) else "wild"


# --- normalisation --------------------------------------------------------------------


def read_awas(document: Reader) -> Document:
    """Read an AWAS document. Raises: Refused (not_discovery)."""
    raw = document.members
    if _is_page_map(raw):
        raise Refused(
            refusals.NOT_DISCOVERY,
            "an AWAS page map; its actions are elsewhere",
            fix="Serve the actions at /.well-known/ai-actions.json.",
        )
    dialect = _dialect_of(raw)
    if dialect == "pointer":
        return _read_pointer(document)
    specification = SPECIFICATIONS["1.1" if dialect == "1.1" else "1.0"]
    specification.compare(document)
    return document.log.conclude(
        format="awas",
        dialect=dialect,
        version=document.text("specVersion", "schemaVersion", "schema_version")
        or document.text("version"),
        site=_read_site(document, dialect),
        raw=raw,
    )


def _read_pointer(document: Reader) -> Document:
    raw = document.members
    is_for_a2a = "interoperability" in raw or raw.get("protocol") == "A2A"
    SPECIFICATIONS["a2a" if is_for_a2a else "mcp"].compare(document)
    holder, name = _catalogue_in(raw) or ("", "")
    catalogue = document.child(holder).target(name, base=_root(document))
    if catalogue is None:
        document.child(holder).deviate("no_catalogue")
    return document.log.conclude(
        format="awas",
        dialect="pointer",
        version=document.text("version"),
        site=Site(name=document.text("name"), description=document.text("description")),
        raw=raw,
        references=(catalogue,) if catalogue else (),
    )


def _read_site(document: Reader, dialect: str) -> Site:
    for names in (_ACTIONS, _NAME, _DESCRIPTION, _BASE):
        note_synonym(document, *names)
    if dialect != "1.1":
        note_synonym(document, *_VERSION)
    _check_contact(document)
    base = read_address(document, *_BASE)
    auth, business = (
        document.child("authentication", "auth"),
        document.child("business"),
    )
    surroundings = Surroundings(
        dialect=dialect,
        base=base or _root(document),
        auth_required=read_auth(auth),
        auth_optional=frozenset(auth.texts("optional_for")),
    )
    return Site(
        name=document.text(*_NAME) or business.text("name"),
        description=document.text(*_DESCRIPTION),
        url=base
        or read_address(document, "url", "homepage")
        or read_address(business, "url"),
        languages=read_languages(document, "language", "languages"),
        permissions=read_permissions(document.child("permissions"))
        + read_permissions(document.child("gating")),
        actions=gather(read_actions(document.child(*_ACTIONS), surroundings)),
    )


def _root(document: Reader) -> str:
    """Return the base of paths: the crawled site, wherever the document lies."""
    return urljoin(document.log.site_url or document.log.url, "/")


def _check_contact(document: Reader) -> None:
    """Check that an absolute URL is well-formed (section "Validation", rule 4)."""
    contact = document.child("contact")
    if ":" in contact.text("url"):
        contact.check_address("url", also=("mailto:",))
