"""The sites of an archive with the labels that counted at the window's end."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from registry.errors import Refused
from registry.reports.archive.instants import format_naive, instant_of
from registry.reports.archive.refusals import ARCHIVE_DAMAGED
from registry.reports.window.columns import INDEPENDENCES, SIZES
from registry.reports.window.observation import Independence, SiteDisclosure, Size
from registry.sites.identifier import format_site_id, parse_site_id

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

TYPES: Mapping[str, str] = {
    "site_id": "BIGINT",
    "size": "VARCHAR",
    "independence": "VARCHAR",
    "commission_percent": "DOUBLE",
    "domain": "VARCHAR",
    "category": "VARCHAR",
    "registered_at": "TIMESTAMP",
}
_SELECT = """
    SELECT site_id, size, independence, commission_percent, domain, category,
        epoch_us(registered_at) FROM sites
"""


def site_lines(disclosures: Iterable[SiteDisclosure]) -> Iterable[dict[str, object]]:
    for site in disclosures:
        at = site.registered_at
        yield {
            **{name: getattr(site, name) for name in TYPES},
            "site_id": parse_site_id(site.site_id),
            "registered_at": None if at is None else format_naive(at),
        }


def read_sites(duck: "Duck") -> list[SiteDisclosure]:
    """Return sites in the order of the file, that of their numbers. Raises: Refused."""
    sites = []
    for row in duck.execute(_SELECT).fetchall():
        site_id, size, independence, commission, domain, category, registered_us = row
        if size not in SIZES or independence not in INDEPENDENCES or site_id is None:
            raise Refused(ARCHIVE_DAMAGED, f"site {site_id} has labels of another kind")
        sites.append(
            SiteDisclosure(
                site_id=format_site_id(site_id),
                size=cast("Size", size),
                independence=cast("Independence", independence),
                commission_percent=commission,
                domain=domain or "",
                category=category or "",
                registered_at=None
                if registered_us is None
                else instant_of(registered_us),
            )
        )
    return sites
