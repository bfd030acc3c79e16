"""A conforming WAB document from a deviating one, where nothing has to be guessed.

What the document says is written as WAB 1.0 has it. What WAB requires, and the document
does not tell, its owner has to state; the registry makes nothing up.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from registry.formats.document import Deviation, Document
from registry.formats.reading.conformance import Schema, Specification
from registry.formats.reading.reader import Ledger, Reader
from registry.formats.reading.targets import resolve_target
from registry.formats.wab.as_wab import as_wab, has_bridge
from registry.formats.wab.extension import EXTENSION
from registry.formats.wab.schema import APPENDIX_A
from registry.formats.wab.transports import EXECUTE
from registry.sites.action import Call
from registry.sites.site import LocationClaim, Site
from registry.strict_json import JsonObject, JsonValue, join_pointer

# Members the registry has no use for, kept where they stand and conform.
_KEPT = ("agent_access", "fairness_metrics", "trust_signatures", "security")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the owner states beside the document. bridge: base URL of a WAB bridge."""

    name: str = ""
    category: str = ""
    city: str = ""
    country: str = ""
    bridge: str = ""


@dataclass(frozen=True, slots=True)
class Repaired:
    """left_out: top-level members of the original that stand in the new one no more.

    left_open: pointers of members that WAB requires and the original does not tell; what
    stands there is marked as undeclared.
    """

    document: JsonObject
    left_out: tuple[str, ...]
    left_open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Incomplete:
    """missing: what WAB requires and nobody has said."""

    missing: tuple[Deviation, ...]


def repair(
    document: Document, stated: Statement, *, host: str
) -> Repaired | Incomplete:
    """host: where it will be served."""
    site = _with_statement(document.site, stated, document.url)
    missing = tuple(_find_missing(site))
    if missing:
        return Incomplete(missing)
    written = as_wab(site, host=host)
    raw = document.raw or {}
    if document.format == "wab":
        _keep_conforming(raw, written)
    return Repaired(
        written,
        left_out=tuple(name for name in raw if name not in written),
        left_open=tuple(_undeclared_in(written, "")),
    )


def _undeclared_in(value: JsonValue, pointer: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _undeclared_in(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        marked = value.get(EXTENSION)
        names = marked.get("undeclared") if isinstance(marked, dict) else None
        for name in names if isinstance(names, list) else ():
            yield join_pointer(pointer, str(name))
        for name, member in value.items():
            yield from _undeclared_in(member, join_pointer(pointer, name))


def _with_statement(site: Site, stated: Statement, url: str) -> Site:
    location = site.location
    if stated.city or stated.country:
        location = LocationClaim(city=stated.city, country=stated.country.upper())
    return replace(
        site,
        name=stated.name or site.name,
        category=stated.category or site.category,
        location=location,
        actions=_with_bridge(site, stated.bridge, url).actions,
    )


def _with_bridge(site: Site, bridge: str, url: str) -> Site:
    target = resolve_target(bridge.rstrip("/") + EXECUTE, base=url) if bridge else None
    if target is None:
        return site
    call = Call(format="wab", transport="http", method="api", target=target)
    actions = (
        replace(action, calls=(call, *action.calls))
        if not has_bridge(action)
        else action
        for action in site.actions
    )
    return replace(site, actions=tuple(actions))


def _find_missing(site: Site) -> Iterator[Deviation]:
    for name, fix in (
        ("name", "State the name of the site or business: --name."),
        ("category", "State the business category, e.g. restaurant: --category."),
    ):
        if not getattr(site, name):
            yield _missing(f"/provider/{name}", fix)
    if not any(has_bridge(action) for action in site.actions):
        yield _missing(
            "/transport",
            "WAB wants one enabled transport, and no action here has one. State where "
            "your bridge answers, e.g. --bridge /api/wab.",
        )


def _missing(pointer: str, fix: str) -> Deviation:
    return Deviation(
        pointer=pointer, rule="required", detail="nobody has said it", fix=fix
    )


def _keep_conforming(raw: Mapping[str, JsonValue], written: JsonObject) -> None:
    for name in _KEPT:
        schema = APPENDIX_A["properties"][name]
        kept, now = raw.get(name), written.get(name, {})
        if isinstance(kept, dict) and isinstance(now, dict):
            kept = {**_conforming_members(kept, schema["properties"]), **now}
        if kept and _conforms(kept, schema):
            written[name] = kept


def _conforming_members(value: JsonObject, properties: Schema) -> JsonObject:
    return {
        name: member
        for name, member in value.items()
        if _conforms(member, properties.get(name, {}))
    }


def _conforms(value: JsonValue, schema: Schema) -> bool:
    ledger = Ledger(url="")
    Specification(schema).compare(Reader(value, "", ledger))
    return not ledger.deviations
