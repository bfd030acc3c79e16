"""Sites in the categories that they had when the window ended."""

from collections.abc import Mapping
from dataclasses import replace

from registry.fairness.window.columns import Sites, number_names


def with_former_categories(sites: Sites, former: Mapping[int, str]) -> Sites:
    """former: of sites whose category has changed since, by their numbers."""
    if not former:
        return sites
    names = [sites.categories[code] for code in sites.category.tolist()]
    for number, name in former.items():
        names[number] = name
    categories, category = number_names(names)
    return replace(sites, category=category, categories=categories)
