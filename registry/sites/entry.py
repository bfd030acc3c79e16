"""A site's entry in the registry: its own claims beside what the registry found."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from registry.sites.place import Place
from registry.sites.site import Site

SiteStatus = Literal["active", "unverified", "quarantined", "withdrawn"]
TrustLevel = Literal["verified", "unverified", "quarantined"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A field that documents state differently.

    field: of the site, or `actions/{name}/…`. values: format and claim, as text, the
    one that stands first.
    """

    field: str
    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteEntry:
    """A listed site.

    seq: of the last accepted statement. changed_at: the last semantic change seen.
    proof_source: where its keys were found. semantic_hash: 32 bytes.
    """

    site_id: int
    host: str
    registrable_domain: str
    status: SiteStatus
    seq: int
    site: Site
    conflicts: tuple[Conflict, ...] = ()
    place: Place | None
    conformance: Literal["strict", "tolerated"]
    semantic_hash: bytes
    registered_at: datetime
    updated_at: datetime
    changed_at: datetime
    proved_at: datetime
    proof_source: str

    @property
    def trust_level(self) -> TrustLevel:
        match self.status:
            case "active":
                return "verified"
            case "quarantined":
                return "quarantined"
            case _:
                return "unverified"
