"""How often a site changes, estimated from what the visits to it found.

The arithmetic is the same for one site, in floats, and for many, in arrays of one shape.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Number = TypeVar("Number", float, Floats)

REMEMBERED = 0.95
"""What each visit counts of what the next one does: the last twenty are the estimate."""

_PRIOR_UNCHANGED = 0.5
"""Beside its own visits a site has one that it half changed before, a day after another.

Without it a site that was never seen to change would count as one that never does, and
wait for its next visit as long as that may take.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeHistory(Generic[Number]):
    """visits: after an earlier one, the older the less they count; 0 <= unchanged <= visits.

    mean_gap_days: between a visit and the one before it.
    """

    visits: Number
    unchanged: Number
    mean_gap_days: Number

    @property
    def changes_per_day(self) -> Number:
        """λ = -ln((X + 0.5) / (n + 0.5)) / I, for X visits of n without a change; > 0.

        The halves keep it finite and nearly unbiased for few visits (Cho and
        Garcia-Molina, "Estimating frequency of change", 2003, 4.2).
        """
        visits = self.visits + 1
        gap_days = (self.visits * self.mean_gap_days + 1) / visits
        share: Number = (self.unchanged + _PRIOR_UNCHANGED + 0.5) / (visits + 0.5)
        rate: Number = -np.log(share) / gap_days
        return rate

    def after(self, gap_days: Number, unchanged: Number) -> "ChangeHistory[Number]":
        """With one more visit. gap_days > 0. unchanged: 1 if nothing changed, else 0."""
        kept = self.visits * REMEMBERED
        return ChangeHistory(
            visits=kept + 1,
            unchanged=self.unchanged * REMEMBERED + unchanged,
            mean_gap_days=(kept * self.mean_gap_days + gap_days) / (kept + 1),
        )


NEVER_VISITED = ChangeHistory(visits=0.0, unchanged=0.0, mean_gap_days=0.0)
