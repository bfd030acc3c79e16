"""Facts about a site, beside its actions, that only WAB has members for."""

from registry.sites.site import Site
from registry.strict_json import JsonObject


def site_facts(site: Site) -> JsonObject:
    """Return the members of the extension, in WAB's spelling."""
    facts: JsonObject = {}
    if site.category:
        facts["category"] = site.category
    if site.location:
        place = {"city": site.location.city, "country": site.location.country}
        facts["location"] = {name: text for name, text in place.items() if text}
    if site.commission_percent is not None:
        facts["commission_percent"] = site.commission_percent
    if site.is_independent is not None:
        facts["is_independent"] = site.is_independent
    return facts
