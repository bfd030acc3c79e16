"""Material of a profile: all that it is computed from, for anyone who recomputes it.

Whole seconds since 1970 stand for instants, in a profile and here.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

import msgspec

from registry.errors import RegistryError
from registry.formats.document import StoredDocument
from registry.identity.keys.jwk import parse_jwk
from registry.identity.statements.declarations import Declarations
from registry.ranking.profile import Profile, encode_profile, make_profiles
from registry.ranking.quality import (
    NEWEST,
    NOT_COUNTED,
    ProbeFigures,
    StoredProbe,
    quality,
    summarise_probes,
)
from registry.records.generation import digest_profile
from registry.reports.archive.declared_rows import ArchivedDocument
from registry.sites.entry import SiteEntry
from registry.sites.host import parse_host
from registry.sites.identifier import format_site_id, parse_site_id
from registry.sites.place import Place, PlaceMove, PlaceState, decide_place
from registry.sites.site import LocationClaim
from registry.usecases.sites.parse_site import (
    FetchedBody,
    ParsedSite,
    Registrant,
    parse_site,
)
from registry.usecases.sites.site_profiler import SiteProfiler, subject_of

MAKES_NONE = (RegistryError, ValueError, OverflowError, OSError)
"""Errors of a material that makes no profile."""


class DocumentMaterial(msgspec.Struct, rename="camel", kw_only=True):
    """body: as it was fetched."""

    url: str
    content_type: str
    fetched_at: int
    body: bytes


class ProbeMaterial(msgspec.Struct, array_like=True):
    observed_at: int
    outcome: str
    elapsed_ms: int


class DeclaredMaterial(msgspec.Struct, rename="camel", kw_only=True):
    """Declarations of the last statement, which count where documents are silent."""

    category: str | None
    location: LocationClaim | None
    commission_percent: float | None
    is_independent: bool | None

    @property
    def declarations(self) -> Declarations:
        return Declarations(**msgspec.structs.asdict(self))


class PlaceMaterial(msgspec.Struct, rename="camel", kw_only=True):
    """A city, 0 for none, that counts or is declared since an instant, if it is known."""

    geonames_id: int
    since: int | None


class ProfileMaterial(msgspec.Struct, rename="camel", kw_only=True):
    """Material of a listed site's profile.

    changed_at: the last change that counts for freshness. allow_loopback: of a registry
    for development. place: that counts. place_move: that is declared and waits.
    keys: that the site was proved by, as JWKs. probes: the newest first.
    """

    id: str
    host: str
    changed_at: int
    allow_loopback: bool
    place: PlaceMaterial
    place_move: PlaceMaterial | None
    declared: DeclaredMaterial
    keys: tuple[dict[str, str], ...]
    documents: tuple[DocumentMaterial, ...]
    probes: tuple[ProbeMaterial, ...]


def material_of(
    entry: SiteEntry,
    declarations: Declarations,
    *,
    documents: Iterable[StoredDocument | FetchedBody],
    keys: Iterable[dict[str, str]],
    probes: Iterable[StoredProbe],
    allow_loopback: bool,
) -> ProfileMaterial:
    """probes: the newest first."""
    return ProfileMaterial(
        id=format_site_id(entry.site_id),
        host=entry.host,
        changed_at=_seconds(entry.changed_at),
        allow_loopback=allow_loopback,
        place=_place_material(entry.place, entry.place_since),
        place_move=_move_material(entry.place_move),
        declared=_declared(declarations),
        keys=tuple(keys),
        documents=tuple(map(_document, documents)),
        probes=tuple(
            ProbeMaterial(_seconds(probe.observed_at), probe.outcome, probe.elapsed_ms)
            for probe in probes
        ),
    )


def _place_material(place: Place | None, since: datetime | None) -> PlaceMaterial:
    return PlaceMaterial(
        geonames_id=place.geonames_id if place else 0,
        since=_seconds(since) if since else None,
    )


def _move_material(move: PlaceMove | None) -> PlaceMaterial | None:
    if move is None:
        return None
    return PlaceMaterial(geonames_id=move.geonames_id, since=_seconds(move.since))


def _declared(declarations: Declarations) -> DeclaredMaterial:
    names = DeclaredMaterial.__struct_fields__
    return DeclaredMaterial(**{name: getattr(declarations, name) for name in names})


def _document(stored: StoredDocument | FetchedBody) -> DocumentMaterial:
    return DocumentMaterial(
        url=stored.url,
        content_type=stored.content_type,
        fetched_at=_seconds(stored.fetched_at),
        body=stored.body,
    )


def unprobed_profiles(
    materials: Iterable[ProfileMaterial], profiler: SiteProfiler
) -> list[Profile]:
    """Make profiles without probes, all at once, which takes a fifth less.

    Raises: RegistryError, ValueError where one of the materials makes no profile.
    """
    entries = [entry_of(material, profiler) for material in materials]
    subjects = [subject_of(*entry, ProbeFigures()) for entry in entries]
    return make_profiles(subjects, encoder=profiler.encoder, policy=profiler.policy)


def find_profile(
    material: ProfileMaterial,
    profiler: SiteProfiler,
    digest: bytes,
    bare: Profile | None = None,
) -> Profile | None:
    """Make the profile with that digest from its material; None where it gives another.

    A probe may have been counted since: the figures are tried as of each. bare: the
    profile without probes, if it was made before.
    Raises: RegistryError, ValueError where the material makes no profile.
    """
    bare = bare or unprobed_profiles([material], profiler)[0]
    for figures in figures_of(material):
        factor = quality(figures, profiler.policy)
        profile = replace(bare, probes=figures, quality=factor)
        if digest_profile(encode_profile(profile)) == digest:
            return profile
    return None


def oldest_left_out(material: ProfileMaterial, profile: Profile) -> datetime | None:
    """Return when the oldest probe was made that counts, and not yet in the profile."""
    newest = profile.probes.observed_at or _instant(0)
    counting = (own for own in material.probes if own.outcome not in NOT_COUNTED)
    instants = [_instant(probe.observed_at) for probe in counting]
    return min((at for at in instants if at > newest), default=None)


def figures_of(material: ProfileMaterial) -> Iterator[ProbeFigures]:
    """Yield the figures after each probe, the newest first, and those before the first."""
    results = [
        StoredProbe(
            observed_at=_instant(probe.observed_at),
            outcome=probe.outcome,
            elapsed_ms=probe.elapsed_ms,
        )
        for probe in material.probes
    ]
    for newest in range(len(results) + 1):
        yield summarise_probes(results[newest : newest + NEWEST])


def entry_of(
    material: ProfileMaterial, profiler: SiteProfiler
) -> tuple[SiteEntry, frozenset[str]]:
    """Make the entry that a profile is made of, and the formats of its documents.

    Raises: RegistryError, ValueError where the material makes none.
    """
    bodies = bodies_of(material.documents)
    now = max(body.fetched_at for body in bodies)
    registrant = Registrant(
        site_url=f"https://{material.host}/",
        declarations=material.declared.declarations,
        pinned=[parse_jwk(jwk) for jwk in material.keys],
        allow_loopback=material.allow_loopback,
    )
    parsed = parse_site(bodies, registrant, now=now)
    entry = SiteEntry(
        site_id=parse_site_id(material.id),
        host=material.host,
        registrable_domain=parse_host(
            material.host, test_hosts=True
        ).registrable_domain,
        status="active",
        seq=0,
        site=parsed.site,
        **_place_of(material, parsed, now, profiler)._asdict(),
        conformance="strict" if parsed.is_strict else "tolerated",
        semantic_hash=parsed.meaning,
        registered_at=now,
        updated_at=now,
        changed_at=_instant(material.changed_at),
        proved_at=now,
        proof_source="",
    )
    return entry, frozenset(document.format for document in parsed.documents)


def _place_of(
    material: ProfileMaterial, parsed: ParsedSite, now: datetime, profiler: SiteProfiler
) -> PlaceState:
    """Return the place as it is stated. now: when the documents were fetched last.

    Raises: ValueError where what they declare by then does not leave it so.
    """
    counting, move = material.place, material.place_move
    stated = PlaceState(
        profiler.gazetteer.place_of(counting.geonames_id),
        None if counting.since is None else _instant(counting.since),
        PlaceMove(geonames_id=move.geonames_id, since=_instant(move.since or 0))
        if move
        else None,
    )
    declared = profiler.gazetteer.locate(parsed.site.location)
    days = profiler.policy.place_cooling_days
    if decide_place(stated, declared, now, cooling_days=days) != stated:
        raise ValueError("its place is not the one that its documents leave it")
    return stated


def bodies_of(
    documents: Iterable[DocumentMaterial | ArchivedDocument],
) -> list[FetchedBody]:
    """Return the documents as they were fetched."""
    return [
        FetchedBody(
            url=document.url,
            body=document.body,
            content_type=document.content_type,
            fetched_at=_instant(document.fetched_at),
        )
        for document in documents
    ]


def _seconds(at: datetime) -> int:
    return int(at.timestamp())


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
