"""Test of whether samples are fair draws, by the greatest key that each took.

Keys are uniform: of m drawn from n the greatest has the distribution of the m-th least of
n uniform numbers. Fisher's sum (1925) over many draws follows a gamma distribution, whose
tail Chernoff (1952) bounds: an upper bound of the chance, at any number of draws.
"""

from collections.abc import Sequence
from math import exp, log
from typing import NamedTuple

LEAST = 1e-15  # of a chance: what rounding leaves of 1


class SampleDraw(NamedTuple):
    """Draw of `drawn` of `eligible` sites. greatest: the greatest key taken, in 0..1."""

    greatest: float
    drawn: int
    eligible: int


def chance_of(draws: Sequence[SampleDraw]) -> float:
    """Return at most how often fair draws take keys as great, or as small, as these."""
    greater = list(map(_chance_of_greater, draws))
    sums = (
        -sum(log(max(LEAST, chance)) for chance in chances)
        for chances in (greater, [1 - chance for chance in greater])
    )
    return min(1.0, 2 * min(_tail_of_gamma(len(draws), total) for total in sums))


def _chance_of_greater(draw: SampleDraw) -> float:
    """Return how often the key is greater: fewer than `drawn` of all are below this one."""
    odds = draw.greatest / max(LEAST, 1 - draw.greatest)
    term, total = (1 - draw.greatest) ** draw.eligible, 0.0
    for number in range(draw.drawn):
        total += term
        term *= (draw.eligible - number) / (number + 1) * odds
    return min(1.0, total)


def _tail_of_gamma(shape: int, total: float) -> float:
    """Bound the chance that a gamma variable of this shape is at least `total`."""
    if total <= shape:
        return 1.0
    return exp(shape - total + shape * log(total / shape))
