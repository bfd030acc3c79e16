"""A site's entry in short, as answers and lists show it."""

import msgspec

from registry.sites.entry import ShortEntry
from registry.sites.identifier import format_site_id


class _Shown(msgspec.Struct, frozen=True, kw_only=True, rename="camel", gc=False):
    """Base of what is shown as it is."""


class Provider(_Shown, frozen=True, gc=False):
    name: str
    category: str


class City(_Shown, frozen=True, gc=False):
    city: str
    country: str


class FairnessMetrics(_Shown, frozen=True, gc=False):
    """commissionRate: percent 0..100; null where the site declared none.

    directBenefit: in its own words, how it benefits.
    """

    commission_rate: float | None
    is_independent: bool | None
    direct_benefit: str | None


class SiteSummary(_Shown, frozen=True, gc=False):
    """A site's entry in short. trustSignatures: as it states them; none is verified."""

    id: str
    host: str
    url: str
    provider: Provider
    location: City | None
    capabilities_summary: tuple[str, ...]
    fairness_metrics: FairnessMetrics
    trust_signatures: tuple[str, ...]
    trust_level: str


def summary_of(entry: ShortEntry) -> SiteSummary:
    has_location = entry.city or entry.country
    return SiteSummary(
        id=format_site_id(entry.site_id),
        host=entry.host,
        url=f"https://{entry.host}",
        provider=Provider(name=entry.name or entry.host, category=entry.category),
        location=(
            City(city=entry.city, country=entry.country) if has_location else None
        ),
        capabilities_summary=entry.action_names,
        fairness_metrics=FairnessMetrics(
            commission_rate=entry.commission_percent,
            is_independent=entry.is_independent,
            direct_benefit=entry.direct_benefit or None,
        ),
        trust_signatures=entry.trust_signatures,
        trust_level=entry.trust_level,
    )
