"""ARD catalogues: `ai-catalog.json` and `ard.json`, after AI Catalog 1.0.

A thin adapter: each entry is one resource of the host, named and located; the resource
itself stands in a document of its own.
"""

from collections.abc import Iterator

from registry.formats.document import Document
from registry.formats.reading.action_list import gather
from registry.formats.reading.claims import read_address, read_host
from registry.formats.reading.reader import Reader
from registry.formats.reading.structure import lists_objects_with
from registry.sites.action import Action
from registry.sites.site import Site
from registry.strict_json import JsonObject

_MAX_KIND_CHARACTERS = 80
_NAMES = ("displayName", "name", "title", "identifier", "id")
_VERSIONS = ("specVersion", "ard_version")


def is_ard(raw: JsonObject) -> bool:
    return (
        lists_objects_with(raw.get("entries"), "identifier", "displayName")
        or lists_objects_with(raw.get("agents"), "cardUrl")
        or (_names_ard(raw) and lists_objects_with(raw.get(_holder_of(raw)), "url"))
    )


def _names_ard(raw: JsonObject) -> bool:
    schema = raw.get("$schema")
    return "ard_version" in raw or (
        isinstance(schema, str) and "agenticresourcediscovery" in schema
    )


def _holder_of(raw: JsonObject) -> str:
    """The member with the resources; early drafts and the wild name it otherwise."""
    names = ("entries", "agents", "resources", "capabilities")
    return next((name for name in names if isinstance(raw.get(name), list)), "entries")


def read_ard(catalogue: Reader) -> Document:
    holder = _holder_of(catalogue.members)
    host = catalogue.child("host", "publisher")
    if not catalogue.child(*_VERSIONS).is_present:
        catalogue.child("specVersion").deviate("missing", name="specVersion")
    read = [(entry, _read_entry(entry)) for entry in _objects_in(catalogue, holder)]
    return catalogue.log.conclude(
        format="ard",
        dialect=holder,
        version=catalogue.text(*_VERSIONS),
        site=Site(
            name=_read_name(catalogue, host),
            description=host.text("description") or catalogue.text("description"),
            url=read_address(host, "url") or read_host(host, "identifier", "domain"),
            actions=gather(read),
        ),
        raw=catalogue.members,
        is_judged=False,
        references=tuple(
            dict.fromkeys(call.target for _, action in read for call in action.calls)
        ),
    )


def _objects_in(catalogue: Reader, holder: str) -> Iterator[Reader]:
    for entry in catalogue.items(holder):
        if isinstance(entry.value, dict):
            yield entry
        else:
            entry.expect("an object")


def _read_name(catalogue: Reader, host: Reader) -> str:
    if isinstance(host.value, str):
        return host.as_text()
    return host.text("displayName", "name") or catalogue.text("name")


def _read_entry(entry: Reader) -> Action:
    url = entry.target("url", "cardUrl") or entry.child("data").target(
        "url", "endpoint"
    )
    kind = entry.text("type", "mediaType")[:_MAX_KIND_CHARACTERS] or "resource"
    if url is None and entry.child("data").is_present:
        entry.child("data").deviate("inline_resource")
    elif url is None:
        entry.child("url").deviate("missing", name="url")
    return Action(
        name=entry.text(*_NAMES),
        description=entry.text("description"),
        calls=(entry.call("ard", kind, url),) if url else (),
    )
