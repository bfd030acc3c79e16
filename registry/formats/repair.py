"""Repair of a deviating document to a conforming WAB document, without guessing.

The document's content is written as WAB 1.0. Members that WAB requires and the document
lacks must be stated by its owner; the registry invents nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from registry.formats.document import Deviation, Document
from registry.formats.extension import EXTENSION
from registry.formats.reading.claims import read_location
from registry.formats.reading.conformance import Schema, Specification
from registry.formats.reading.reader import DeviationLog, Reader
from registry.formats.wab.discovery import read_wab
from registry.formats.wab.transports import EXECUTE
from registry.formats.wab.wab_schema import APPENDIX_A
from registry.formats.writing.as_wab import as_wab, has_bridge
from registry.sites.action import Action, Call
from registry.sites.site import Site
from registry.strict_json import JsonObject, JsonValue, join_pointer

_PROVIDER = "/provider"
# Members the registry has no use for, copied where they conform.
_COPIED = ("agent_access", "fairness_metrics", "trust_signatures", "security")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerStatement:
    """Facts by the owner beside the document, "" for those that he leaves open.

    country: ISO 3166-1 alpha-2, in any case. bridge: base URL of a WAB bridge.
    """

    name: str = ""
    category: str = ""
    city: str = ""
    country: str = ""
    bridge: str = ""


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired document. left_out: top-level members of the original that it lacks.

    left_open: pointers of members that WAB requires and the original lacks; their values
    are marked as undeclared.
    """

    document: JsonObject
    left_out: tuple[str, ...]
    left_open: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A document that can not be repaired.

    missing: required members without a value, and members that would not conform.
    """

    missing: tuple[Deviation, ...]


def repair(
    document: Document,
    stated: OwnerStatement,
    *,
    host: str,
    allow_loopback: bool = False,
) -> Repaired | Incomplete:
    """Repair the document. host: which will serve it, "" if unknown.

    allow_loopback: for development, actions may be called on this machine.
    """
    log = DeviationLog(url=document.url, allow_loopback=allow_loopback)
    site = _with_statement(document.site, stated, log)
    missing = (*log.deviations, *_find_missing(site, stated, host))
    if missing:
        return Incomplete(missing)
    written = as_wab(site, host=host)
    raw = document.raw or {}
    if document.format == "wab":
        _copy_conforming(raw, written, log)
    if departures := _read_again(written, log):
        return Incomplete(departures)
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


def _with_statement(site: Site, stated: OwnerStatement, log: DeviationLog) -> Site:
    """Add the statement, read like a document's own words; log: of what it breaks."""
    provider = Reader(
        {"name": stated.name, "category": stated.category}, _PROVIDER, log
    )
    code = stated.country.strip()
    place: JsonObject = {
        "city": stated.city,
        "country": code.upper() if code.isascii() else code,
    }
    location = read_location(Reader(place, f"{_PROVIDER}/location", log))
    return replace(
        site,
        name=provider.text("name") or site.name,
        category=provider.text("category") or site.category,
        location=location or site.location,
        actions=_with_bridge(site, stated.bridge, log),
    )


def _with_bridge(site: Site, bridge: str, log: DeviationLog) -> tuple[Action, ...]:
    if not bridge:
        return site.actions
    target = log.resolve(bridge.rstrip("/") + EXECUTE)
    if target is None:
        log.note_dropped_target("/transport/http/base_url", bridge)
        return site.actions
    call = Call(format="wab", transport="http", method="api", target=target)
    return tuple(
        replace(action, calls=(call, *action.calls))
        if not has_bridge(action)
        else action
        for action in site.actions
    )


def _find_missing(site: Site, stated: OwnerStatement, host: str) -> Iterator[Deviation]:
    for name, fix in (
        ("name", "State the name of the site or business: --name."),
        ("category", "State the business category, e.g. restaurant: --category."),
    ):
        if not getattr(site, name):
            yield _missing(f"{_PROVIDER}/{name}", fix)
    if not host:
        yield _missing(
            f"{_PROVIDER}/url",
            "State where the document will be served: "
            "--url https://your-host/agent-bridge.json.",
        )
    if not site.actions:
        yield _missing(
            "/capabilities/commands",
            "No action is declared. List what agents can do as commands, each with "
            "name, description, trigger and params; or begin with lint --new.",
        )
    if not stated.bridge and not any(map(has_bridge, site.actions)):
        yield _missing(
            "/transport",
            "WAB requires an enabled transport, and no action here has one. State the "
            "address of your bridge, e.g. --bridge /api/wab.",
        )


def _missing(pointer: str, fix: str) -> Deviation:
    return Deviation(
        pointer=pointer, rule="required", detail="it is not declared", fix=fix
    )


def _copy_conforming(
    raw: Mapping[str, JsonValue], written: JsonObject, log: DeviationLog
) -> None:
    for name in _COPIED:
        schema = APPENDIX_A["properties"][name]
        value, present = raw.get(name), written.get(name, {})
        if isinstance(value, dict) and isinstance(present, dict):
            value = {**_conforming_members(value, schema["properties"]), **present}
        if value and not _read_again({**written, name: value}, log):
            written[name] = value


def _conforming_members(value: JsonObject, properties: Schema) -> JsonObject:
    return {
        name: member
        for name, member in value.items()
        if _conforms(member, properties.get(name, {}))
    }


def _conforms(value: JsonValue, schema: Schema) -> bool:
    log = DeviationLog(url="")
    Specification(schema).compare(Reader(value, "", log))
    return not log.deviations


def _read_again(written: JsonObject, log: DeviationLog) -> tuple[Deviation, ...]:
    """Return what the registry would find in the repaired document: nothing, or it is none."""
    again = DeviationLog(url=log.url, allow_loopback=log.allow_loopback)
    read_wab(Reader(written, "", again))
    return again.deviations
