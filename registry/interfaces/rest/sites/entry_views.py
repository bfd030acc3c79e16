"""Views of a site's entry: in short, whole, with its documents and actions."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from registry.formats.document import DocumentOrigin as DeclaredProvenance
from registry.interfaces.rest.wire_model import WireModel, to_second
from registry.sites.action import Parameter
from registry.sites.entry import ClaimConflict, SiteEntry
from registry.sites.place import counts_from
from registry.sites.place_note import PlaceNote
from registry.sites.site import Site
from registry.sites.summary import City, SiteSummary, summary_of

if TYPE_CHECKING:  # the command `lint` shows entries without a database
    from registry.formats.document import StoredDocument


class Provenance(WireModel):
    """The origin of a document as it declares it (AWP §14). synthetic: made by others.

    confidence: 0..1, of a synthetic one; null if undeclared.
    """

    source: str
    generated_by: str = ""
    confidence: float | None = None
    last_verified: str = ""


class DocumentSummary(WireModel):
    format: str
    url: str
    dialect: str
    conformance: str
    provenance: Provenance
    signature: dict[str, Any]
    fetched_at: datetime


class DocumentView(DocumentSummary):
    """A version of a document. content: its JSON, or its text where it is none."""

    version: int
    first_fetched_at: datetime
    retired_at: datetime | None
    semantic_hash: str
    deviations: list[dict[str, Any]]


class DocumentContent(DocumentView):
    content: Any


class CallView(WireModel):
    """A way to call an action, as a document declares it.

    target: the absolute URL, or the name of the script interface. operation: what the
    action is called there. offOrigin: the target lies on another origin.
    """

    format: str
    transport: str
    method: str
    target: str
    operation: str
    off_origin: bool


class ActionView(WireModel):
    """confirmation: whether a person confirms each call. null: undeclared."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    auth_required: bool | None
    sensitivity: str | None
    confirmation: bool | None
    experimental: bool
    deprecated: bool
    calls: tuple[CallView, ...]


class ClaimView(WireModel):
    """The claim of the document of one format, as text."""

    format: str
    value: str


class ConflictView(WireModel):
    """A field on which documents differ; the first claim is the one that counts."""

    field: str
    claims: tuple[ClaimView, ...]


class PlaceMoveView(WireModel):
    """A city, or null, that documents declare since then and that does not count yet.

    counts_from: if it is declared until then.
    """

    location: City | None
    since: datetime
    counts_from: datetime


class SiteView(SiteSummary, frozen=True):
    """The entry of WAB §9.3, and ours. url is the crawled origin.

    status: active, unverified; unlisted, while no document counts; quarantined or
    delisted by the registry. placeSince: since when the location counts, as far as it is
    known; placeMove: another that is declared meanwhile; placeNotes: evidence against
    the location, which no score knows.
    """

    description: str
    languages: tuple[str, ...]
    claimed_url: str | None
    status: str
    conformance: str
    registered_at: datetime
    updated_at: datetime
    changed_at: datetime
    proved_at: datetime
    documents: tuple[DocumentSummary, ...]
    actions: tuple[ActionView, ...]
    conflicts: tuple[ConflictView, ...]
    place_since: datetime | None
    place_move: PlaceMoveView | None
    place_notes: tuple[PlaceNote, ...]


class SitePage(WireModel):
    """Sites in the order of their registration: a list, not a ranking."""

    results: tuple[SiteSummary, ...]
    next_cursor: str | None


class WabProvider(msgspec.Struct):
    name: str
    category: str


class WabMetrics(msgspec.Struct, omit_defaults=True):
    commission_rate: str | None = None
    is_independent: bool | None = None
    direct_benefit: str | None = None


class WabEntry(msgspec.Struct):
    """The registry entry in WAB's own spelling (§9.3)."""

    url: str
    provider: WabProvider
    location: dict[str, str]
    capabilities_summary: tuple[str, ...]
    fairness_metrics: WabMetrics
    trust_level: str
    registered_at: datetime


def _provenance(document: "StoredDocument") -> Provenance:
    return view_provenance(msgspec.convert(document.provenance, DeclaredProvenance))


def view_provenance(provenance: DeclaredProvenance) -> Provenance:
    return msgspec.convert(provenance, Provenance, from_attributes=True)


def view_site(
    entry: SiteEntry,
    documents: Sequence["StoredDocument"],
    place_notes: tuple[PlaceNote, ...],
    cooling_days: int,
) -> SiteView:
    """cooling_days: that a moved place waits."""
    site = entry.site
    return SiteView(
        **msgspec.structs.asdict(summary_of(entry.short)),
        description=site.description,
        languages=site.languages,
        claimed_url=site.url or None,
        status=entry.shown_status,
        conformance=entry.conformance,
        registered_at=to_second(entry.registered_at),
        updated_at=to_second(entry.updated_at),
        changed_at=to_second(entry.changed_at),
        proved_at=to_second(entry.proved_at),
        documents=tuple(
            DocumentSummary.of(document, provenance=_provenance(document))
            for document in documents
        ),
        actions=view_actions(site),
        conflicts=tuple(view_conflict(conflict) for conflict in entry.conflicts),
        place_since=entry.place_since,
        place_move=_place_move(entry, cooling_days),
        place_notes=place_notes,
    )


def _place_move(entry: SiteEntry, cooling_days: int) -> PlaceMoveView | None:
    move, declared = entry.place_move, entry.site.location
    if move is None:
        return None
    city = City(city=declared.city, country=declared.country) if declared else None
    return PlaceMoveView(
        location=city, since=move.since, counts_from=counts_from(move, cooling_days)
    )


def view_document(document: "StoredDocument") -> DocumentView:
    return DocumentView.of(document, **_computed(document))


def view_content(document: "StoredDocument") -> DocumentContent:
    content = _content(document)
    return DocumentContent.of(document, **_computed(document), content=content)


def view_wab_entry(entry: SiteEntry) -> WabEntry:
    site = entry.site
    commission = site.commission_percent
    location = summary_of(entry.short).location
    return WabEntry(
        url=f"https://{entry.host}",
        provider=WabProvider(site.name or entry.host, site.category),
        location=(
            {"city": location.city, "country": location.country} if location else {}
        ),
        capabilities_summary=tuple(action.name for action in site.actions),
        fairness_metrics=WabMetrics(
            commission_rate=None if commission is None else f"{commission:g}%",
            is_independent=site.is_independent,
            direct_benefit=site.direct_benefit or None,
        ),
        trust_level=entry.trust_level,
        registered_at=to_second(entry.registered_at),
    )


def _computed(document: "StoredDocument") -> dict[str, Any]:
    digest = "sha256:" + document.semantic_hash.hex()
    return {"provenance": _provenance(document), "semantic_hash": digest}


def _content(document: "StoredDocument") -> Any:
    try:
        return msgspec.json.decode(document.body.removeprefix(b"\xef\xbb\xbf"))
    except msgspec.DecodeError:
        return document.body.decode(errors="replace")


def view_conflict(conflict: ClaimConflict) -> ConflictView:
    claims = (ClaimView(format=name, value=value) for name, value in conflict.values)
    return ConflictView(field=conflict.field, claims=tuple(claims))


def view_actions(site: Site) -> tuple[ActionView, ...]:
    return msgspec.convert(site.actions, tuple[ActionView, ...], from_attributes=True)
