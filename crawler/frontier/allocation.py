"""Allocation of visits to sites, so that the registry as a whole is freshest.

With f visits a day, evenly apart, a site that changes λ times a day is found as it is
for the share (f/λ)(1 - e^(-λ/f)) of the time. The sum over all sites, for a given number
of visits in all, is largest where one more visit is worth the same everywhere:

    (1 - (1 + r) e^(-r)) / λ = μ    with r = λ/f    (μ: `Allocation.multiplier`)

Where λμ >= 1 no visit is worth that: such a site changes before anybody reads what was
fetched, and its visits do more for others. So changing often does not buy visits without
end (Cho and Garcia-Molina, "Effective page refresh policies for Web crawlers", 2003).
Pure.
"""

import math
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

import numpy as np

from registry.sites.change_history import NEVER_VISITED, Floats

MIN_RECRAWL = timedelta(hours=6)
MAX_RECRAWL = timedelta(days=7)
VISITS_PER_DAY = 1.0
"""The budget: of a site, in the mean of all sites."""

_DAY = timedelta(days=1)
_FEWEST, _MOST = _DAY / MAX_RECRAWL, _DAY / MIN_RECRAWL
_SMALLEST, _LARGEST = math.log(1e-6), math.log(1e6)  # ln μ, days
_HALVINGS = 60  # beyond 40: where λμ nears 1, visits hang on its last digits

# r is found in a table of what it is worth, exact to four digits.
_CHANGES_PER_VISIT = np.geomspace(1e-5, 300.0, 1000)
_WORTH = -np.expm1(-_CHANGES_PER_VISIT) - _CHANGES_PER_VISIT * np.exp(
    -_CHANGES_PER_VISIT
)
_LN_CHANGES_PER_VISIT, _LN_WORTH = np.log(_CHANGES_PER_VISIT), np.log(_WORTH)


@dataclass(frozen=True, slots=True)
class Allocation:
    """multiplier: what the last visit of each site is worth, μ, in days; > 0."""

    multiplier: float

    def visits_per_day(self, changes_per_day: Floats) -> Floats:
        """changes_per_day: each > 0. Within the bounds of the recrawl interval."""
        worth = changes_per_day * self.multiplier
        ratio = np.exp(np.interp(np.log(worth), _LN_WORTH, _LN_CHANGES_PER_VISIT))
        wanted = np.where(worth < 1, changes_per_day / ratio, 0.0)
        visits: Floats = np.clip(wanted, _FEWEST, _MOST)
        return visits

    @lru_cache(maxsize=4096)  # noqa: B019 - a number a site of few allocations
    def interval(self, changes_per_day: float) -> timedelta:
        """Return the time between two visits. changes_per_day > 0."""
        visits = self.visits_per_day(np.array([changes_per_day]))
        return _DAY / float(visits[0])


def allocate(
    changes_per_day: Floats, *, visits_per_day: float = VISITS_PER_DAY
) -> Allocation:
    """The allocation that spends the budget on sites with these rates, or all it may.

    changes_per_day: of each site or of a fair sample, each > 0, at least one.
    visits_per_day: of a site, in the mean.
    """
    rates = np.sort(changes_per_day)  # the table is read faster in its order
    smallest, largest = _SMALLEST, _LARGEST
    for _ in range(_HALVINGS):
        middle = (smallest + largest) / 2
        spent = Allocation(math.exp(middle)).visits_per_day(rates).mean()
        if spent > visits_per_day:
            smallest = middle
        else:
            largest = middle
    return Allocation(math.exp(largest))


USUAL = allocate(np.array([NEVER_VISITED.changes_per_day]))
"""Allocation as long as nothing is known of any site."""
