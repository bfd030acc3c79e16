"""Sums of the noise in daily exposure: a lie within the noise of each cell adds up.

Noise of many cells is as far from zero as the root of their number, and a drift in one
direction as their number.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist

from registry.reports.exposure_table import MINIMUM, NOISE, UNIT, SiteCounts, SiteRow

DEVIATIONS = 6
"""Deviations beyond which one sum of a thousand million fair ones is."""
_NORMAL = NormalDist()
_NEVER = 1e-15


@dataclass(frozen=True, slots=True)
class NoiseSums:
    """terms: of cells, in deviations, by what they are of, their amount and direction."""

    terms: dict[tuple[str, str, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(
        self, subjects: Iterable[str], row: SiteRow | None, own: SiteCounts, erased: int
    ) -> None:
        """Add a cell. row: None where it is left out; its noise was less than that.

        own: exact counts. erased: rankings that the row may count besides. subjects: to
        each of which it belongs.
        """
        excess = _excess(row, own.appearances + erased) if row else None
        shown = row.appearances if row else MINIMUM - 1
        lack = (own.appearances - shown) / NOISE.appearances
        more = row.attention - own.attention if row else 0
        for subject in subjects:
            if row and excess is not None:
                weight = (more - UNIT * erased) / NOISE.attention
                self.terms[subject, "appearances", "more"].append(excess)
                self.terms[subject, "attention", "more"].append(weight)
                self.terms[subject, "attention", "less"].append(-more / NOISE.attention)
            if own.appearances >= MINIMUM:
                self.terms[subject, "appearances", "less"].append(lack)

    def differences(self) -> Iterator[str]:
        """Yield the sums of two cells or more that noise does not give."""
        for (subject, amount, word), terms in sorted(self.terms.items()):
            far = sum(terms) / sqrt(len(terms))
            if len(terms) > 1 and far > DEVIATIONS:
                cells = f"{len(terms)} cells together have {word} {amount}"
                yield f"{subject}: {cells} than the archive, by {far:.1f} deviations"


def _excess(row: SiteRow, most: int) -> float:
    """Return the noise of a row as a normal deviate, of those that were not left out.

    Rows below the minimum are: of a site near it only those with more noise are seen.
    """
    shown, least = (
        _NORMAL.cdf((most - amount) / NOISE.appearances)
        for amount in (row.appearances, MINIMUM - 0.5)
    )
    return -_NORMAL.inv_cdf(min(max(shown / least, _NEVER), 1 - _NEVER))
