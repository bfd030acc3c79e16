"""The normalised site: what its documents say, in one shape for every format.

All of it is the site's own claim; what the registry found out itself (control of the
host, quality, freshness) lives elsewhere.
"""

import msgspec

from registry.sites.action import Action


class LocationClaim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A site's claimed location. country: ISO 3166-1 alpha-2, upper case, or ""."""

    city: str = ""
    country: str = ""


class Site(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A host's offer to agents.

    name, description, category: empty where no document has them.
    url: the address the document claims for itself; the crawled origin decides.
    languages: BCP 47 tags. permissions: WAB permission names with their value.
    commission_percent: 0..100; is_independent: None where undeclared. direct_benefit:
    how the owner benefits (WAB §9.5); trust_signatures: attestations of others (§9.6),
    as they are: nobody verifies them here.
    """

    name: str = ""
    description: str = ""
    category: str = ""
    url: str = ""
    location: LocationClaim | None = None
    languages: tuple[str, ...] = ()
    permissions: tuple[tuple[str, bool], ...] = ()
    commission_percent: float | None = None
    is_independent: bool | None = None
    direct_benefit: str = ""
    trust_signatures: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
