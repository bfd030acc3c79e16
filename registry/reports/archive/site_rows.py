"""The sites of an archive with the labels that counted at the window's end."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from registry.reports.archive.duck import column_types, read_rows
from registry.reports.window.observation import Independence, SiteDisclosure, Size
from registry.sites.identifier import format_site_id, parse_site_id

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck


class ArchivedSite(msgspec.Struct, kw_only=True):
    """A `SiteDisclosure` as archived. Instants: UTC; the type with a zone needs pytz."""

    site_id: int
    size: Size
    independence: Independence
    commission_percent: float | None
    domain: str | None
    category: str | None
    registered_at: datetime | None


TYPES = column_types(ArchivedSite, size="VARCHAR", independence="VARCHAR")


def site_rows(disclosures: Iterable[SiteDisclosure]) -> Iterator[ArchivedSite]:
    for site in disclosures:
        at = site.registered_at
        stored = {
            "site_id": parse_site_id(site.site_id),
            "registered_at": at and at.astimezone(UTC).replace(tzinfo=None),
        }
        yield ArchivedSite(**{**asdict(site), **stored})


def read_sites(duck: "Duck") -> list[SiteDisclosure]:
    """Return sites in the order of the file, that of their numbers. Raises: Refused."""
    return [
        SiteDisclosure(
            site_id=format_site_id(row.site_id),
            size=row.size,
            independence=row.independence,
            commission_percent=row.commission_percent,
            domain=row.domain or "",
            category=row.category or "",
            registered_at=row.registered_at and row.registered_at.replace(tzinfo=UTC),
        )
        for row in read_rows(duck, "sites", ArchivedSite)
    ]
