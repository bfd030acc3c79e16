"""The sites of an archive with the labels that counted at the window's end."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from registry.archive.instants import instant_of, spell_naive
from registry.archive.refusals import ARCHIVE_DAMAGED
from registry.errors import Refused
from registry.fairness.window.columns import INDEPENDENCES, SIZES
from registry.fairness.window.observation import Independence, SiteDisclosure, Size
from registry.sites.identifier import parse_site_id, spell_site_id

if TYPE_CHECKING:
    from registry.archive.duck import Duck

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
    for one in disclosures:
        at = one.registered_at
        yield {
            "site_id": parse_site_id(one.site_id),
            "size": one.size,
            "independence": one.independence,
            "commission_percent": one.commission_percent,
            "domain": one.domain,
            "category": one.category,
            "registered_at": None if at is None else spell_naive(at),
        }


def read_sites(duck: "Duck") -> list[SiteDisclosure]:
    """In the order of the file, which is that of the sites' numbers. Raises: Refused."""
    found = []
    for row in duck.execute(_SELECT).fetchall():
        site_id, size, independence, commission, domain, category, registered_us = row
        if size not in SIZES or independence not in INDEPENDENCES or site_id is None:
            raise Refused(ARCHIVE_DAMAGED, f"site {site_id} has labels of another kind")
        found.append(
            SiteDisclosure(
                site_id=spell_site_id(site_id),
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
    return found
