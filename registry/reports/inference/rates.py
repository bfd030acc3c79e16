"""Rates of events where each trial stands alone, with their 95% intervals.

Sources: Katz et al. 1978, Walter 1975, Wilson 1927, Hanley & Lippman-Hand 1983.
"""

import math
from dataclasses import dataclass

Z_95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """low <= high; either may be infinite."""

    low: float
    high: float


def katz_rate_ratio(
    hits: int, trials: int, other_hits: int, other_trials: int
) -> tuple[float, Interval]:
    """Return the ratio and its interval (Katz et al. 1978).

    The ends are exp(ln RR ± 1.96 · √(1/a - 1/n + 1/b - 1/m)).
    Where a group has no hit the logarithm has no bound: half a hit is added to both
    (Walter 1975), and the interval stays wide but finite.
    """
    check_count(hits, trials)
    check_count(other_hits, other_trials)
    a, n, b, m = map(float, (hits, trials, other_hits, other_trials))
    if 0 in (hits, other_hits):
        a, n, b, m = a + 0.5, n + 0.5, b + 0.5, m + 0.5
    log_ratio = math.log((a / n) / (b / m))
    spread = Z_95 * math.sqrt(max(0.0, 1 / a - 1 / n + 1 / b - 1 / m))
    interval = Interval(
        low=math.exp(log_ratio - spread), high=math.exp(log_ratio + spread)
    )
    return math.exp(log_ratio), interval


def proportion_interval(hits: int, trials: int) -> Interval:
    """Wilson's score interval (1927): sound for small counts, and inside 0..1."""
    check_count(hits, trials)
    share, z = hits / trials, Z_95
    scale = 1 + z * z / trials
    middle = (share + z * z / (2 * trials)) / scale
    spread = (
        z / scale * math.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    )
    return Interval(low=max(0.0, middle - spread), high=min(1.0, middle + spread))


def rule_of_three(trials: int) -> float:
    """Upper 95% bound on a rate of which no case was seen in that many trials."""
    if trials < 1:
        raise ValueError("a bound needs at least one trial")
    return min(1.0, 3 / trials)


def check_count(hits: int, trials: int) -> None:
    if not 0 <= hits <= trials or trials < 1:
        raise ValueError(f"{hits} of {trials} is no proportion")
