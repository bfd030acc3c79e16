"""Facts about a site, beside its actions, that only WAB has members for."""

from registry.formats.extension import stated
from registry.sites.site import Site
from registry.strict_json import JsonObject


def site_facts(site: Site) -> JsonObject:
    """Return the members of the extension, in WAB's spelling."""
    return stated(
        category=site.category,
        location=location_members(site),
        commission_percent=site.commission_percent,
        is_independent=site.is_independent,
    )


def location_members(site: Site) -> JsonObject:
    """Return city and country, as far as they are declared."""
    place = site.location
    return stated(city=place.city, country=place.country) if place else {}
