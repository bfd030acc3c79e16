"""SiteColumns in the categories that they had when the window ended."""

from collections.abc import Mapping
from dataclasses import replace

from registry.reports.window.columns import SiteColumns, number_names


def with_former_categories(
    sites: SiteColumns, former: Mapping[int, str]
) -> SiteColumns:
    """Return the sites as they were. former: changed categories, by sites' numbers."""
    if not former:
        return sites
    names = [sites.categories[code] for code in sites.category.tolist()]
    for number, name in former.items():
        names[number] = name
    categories, category = number_names(names)
    return replace(sites, category=category, categories=categories)
