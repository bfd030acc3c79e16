"""A site's entry in the registry: its own claims beside the registry's findings."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from registry.sites.place import Place, PlaceMove, PlaceState
from registry.sites.site import LocationClaim, Site

Conformance = Literal["strict", "tolerated"]
SiteStatus = Literal["active", "unverified", "withdrawn"]
TrustLevel = Literal["verified", "unverified", "quarantined"]
Unlisted = Literal["documents_missing", "documents_expired"]
"""Reason that keeps a site unlisted against its owner's wish: no valid document, or
only an expired one."""
Moderated = Literal["quarantined", "delisted"]
"""Measures of the registry that keep a site out of answers, for a time or for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimConflict:
    """A field with different values in a site's documents.

    field: of the site, or `actions/{name}/…`. values: format and claim, as text, the
    one that stands first.
    """

    field: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortEntry:
    """Summary of an entry for lists and answers.

    city, country: the gazetteer's, else as the site claims them, or "".
    commission_percent: 0..100; is_independent: None where undeclared.
    """

    site_id: int
    host: str
    name: str
    category: str
    city: str
    country: str
    action_names: tuple[str, ...]
    commission_percent: float | None
    is_independent: bool | None
    direct_benefit: str
    trust_signatures: tuple[str, ...]
    trust_level: TrustLevel


_SHOWN = ["name", "category", "commission_percent", "is_independent"]
_SHOWN += ["direct_benefit", "trust_signatures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteEntry:
    """A registered site; listed unless status, unlisted_for or moderated forbid it.

    seq: of the last accepted statement. changed_at: the last semantic change seen.
    proof_source: the source of its keys. semantic_hash: 32 bytes.
    """

    site_id: int
    host: str
    registrable_domain: str
    status: SiteStatus
    seq: int
    site: Site
    conflicts: tuple[ClaimConflict, ...] = ()
    place: Place | None
    place_since: datetime | None = None
    place_move: PlaceMove | None = None
    conformance: Conformance
    semantic_hash: bytes
    registered_at: datetime
    updated_at: datetime
    changed_at: datetime
    proved_at: datetime
    proof_source: str
    unlisted_for: Unlisted | None = None
    moderated: Moderated | None = None

    @property
    def is_listed(self) -> bool:
        is_wanted = self.status in {"active", "unverified"}
        return is_wanted and self.unlisted_for is None and self.moderated is None

    @property
    def place_state(self) -> PlaceState:
        return PlaceState(self.place, self.place_since, self.place_move)

    @property
    def shown_status(self) -> str:
        """The status for outsiders, which also tells if the site is not listed."""
        if self.moderated is not None and self.status != "withdrawn":
            return self.moderated
        is_withheld = self.status in {"active", "unverified"} and not self.is_listed
        return "unlisted" if is_withheld else self.status

    @property
    def trust_level(self) -> TrustLevel:
        return trust_level(self.status, self.unlisted_for, self.moderated)

    @property
    def short(self) -> ShortEntry:
        site = self.site
        city, country = shown_place(self.place, site.location)
        return ShortEntry(
            site_id=self.site_id,
            host=self.host,
            city=city,
            country=country,
            action_names=tuple(action.name for action in site.actions),
            **{name: getattr(site, name) for name in _SHOWN},
            trust_level=self.trust_level,
        )


def trust_level(
    status: str, unlisted_for: str | None, moderated: str | None
) -> TrustLevel:
    if moderated is not None:
        return "quarantined"
    is_verified = status == "active" and unlisted_for is None
    return "verified" if is_verified else "unverified"


def shown_place(place: Place | None, claim: LocationClaim | None) -> tuple[str, str]:
    """Return city and country, by the gazetteer, else as the site claims, or ""."""
    if place is not None:
        return place.name, place.country
    return (claim.city, claim.country) if claim is not None else ("", "")
