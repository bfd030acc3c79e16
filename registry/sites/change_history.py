"""Estimate of a site's rate of change from the visits to it.

The arithmetic is the same for one site, in floats, and for many, in arrays of one shape.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Number = TypeVar("Number", float, Floats)

VISIT_DECAY = 0.95
"""Weight of a visit relative to the next: about the last twenty make the estimate."""

_PRIOR_UNCHANGED = 0.5
"""Prior: one more visit, a day after another, before which the site changed by half.

Without it a site that was never seen to change would count as one that never changes,
and wait for its next visit as long as allowed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeHistory(Generic[Number]):
    """Decayed counts of a site's visits after the first; 0 <= unchanged <= visits.

    mean_gap_days: between a visit and the one before it.
    """

    visits: Number
    unchanged: Number
    mean_gap_days: Number

    @property
    def changes_per_day(self) -> Number:
        """Estimate λ = -ln((X + 0.5) / (n + 0.5)) / I; > 0. X of n visits saw no change.

        The halves keep it finite and nearly unbiased for few visits (Cho and
        Garcia-Molina, "Estimating frequency of change", 2003, 4.2).
        """
        visits = self.visits + 1
        gap_days = (self.visits * self.mean_gap_days + 1) / visits
        share: Number = (self.unchanged + _PRIOR_UNCHANGED + 0.5) / (visits + 0.5)
        rate: Number = -np.log(share) / gap_days
        return rate

    def after(self, gap_days: Number, unchanged: Number) -> "ChangeHistory[Number]":
        """Add a visit. gap_days > 0. unchanged: 1 if nothing changed, else 0."""
        decayed = self.visits * VISIT_DECAY
        return ChangeHistory(
            visits=decayed + 1,
            unchanged=self.unchanged * VISIT_DECAY + unchanged,
            mean_gap_days=(decayed * self.mean_gap_days + gap_days) / (decayed + 1),
        )


NEVER_VISITED = ChangeHistory(visits=0.0, unchanged=0.0, mean_gap_days=0.0)
