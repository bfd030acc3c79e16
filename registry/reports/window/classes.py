"""Classes of sites: what a report compares, and to which class each site belongs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from registry.reports.arrays import Floats, Integers
from registry.reports.window.columns import INDEPENDENCES, SIZES, SiteColumns

AGES: Mapping[str, float] = {"under30Days": 30, "under90Days": 90, "under1Year": 365}
"""The days since registration, at the window's end, that a class ends before."""

OLDER = "older"
UNKNOWN = "unknown"
CATEGORY = "category"
OTHER_CATEGORIES = "(other)"
NO_CATEGORY = "(none)"
CATEGORIES_MAX = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """code: one per site, an index into names. Every site is in exactly one class.

    joined: further classes, each of several names.
    """

    dimension: str
    names: tuple[str, ...]
    code: Integers
    joined: Mapping[str, tuple[str, ...]]

    @property
    def kinds(self) -> dict[str, tuple[str, ...]]:
        """Names of each class, the joined ones among them."""
        return {**self.joined, **{name: (name,) for name in self.names}}


def classify(sites: SiteColumns, end_day: float) -> tuple[Classes, ...]:
    """end_day: of the window, in days since 1970."""
    return (*classify_declared(sites), _by_age(sites, end_day), by_category(sites))


def classify_declared(sites: SiteColumns) -> tuple[Classes, ...]:
    """The items of §9.7. Micro and small together are its "small"."""
    return (
        Classes(
            dimension="size",
            names=SIZES,
            code=sites.size.astype(np.int64),
            joined={"smallBusiness": ("micro", "small")},
        ),
        Classes(
            dimension="independence",
            names=INDEPENDENCES,
            code=sites.independence.astype(np.int64),
            joined={},
        ),
    )


def by_category(sites: SiteColumns) -> Classes:
    """The categories of most sites; those of all others together are one class."""
    counts = np.bincount(sites.category, minlength=len(sites.categories))
    names = [name or NO_CATEGORY for name in sites.categories]
    named, code = fold_names(names, counts.tolist(), CATEGORIES_MAX)
    return Classes(
        dimension=CATEGORY, names=named, code=code[sites.category], joined={}
    )


def fold_names(
    names: Sequence[str], counts: Sequence[int], most: int
) -> tuple[tuple[str, ...], Integers]:
    """The names that count most, in order, and the last class for all others.

    Returns the classes and, for each name, the index of its class.
    """
    order = sorted(range(len(names)), key=lambda index: (-counts[index], names[index]))
    largest = sorted(order[:most], key=lambda index: names[index])
    folded = len(names) > most
    code = np.full(max(1, len(names)), len(largest), np.int64)
    code[largest] = np.arange(len(largest))
    named = tuple(names[index] for index in largest)
    return (*named, OTHER_CATEGORIES) if folded or not named else named, code


def _by_age(sites: SiteColumns, end_day: float) -> Classes:
    """Return the classes by age (a site that registered after the window's end is one)."""
    names = (*AGES, OLDER, UNKNOWN)
    days: Floats = end_day - sites.registered_day
    code = np.searchsorted(list(AGES.values()), days, side="right")
    return Classes(
        dimension="age",
        names=names,
        code=np.where(np.isnan(days), len(names) - 1, code),
        joined={},
    )
