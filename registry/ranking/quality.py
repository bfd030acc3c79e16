"""Quality: a site's responses to the registry's own probes.

A weighted sum of the share of right answers, the share of any answer, and speed
(half / (half + median)). Only rates enter, never counts: a confidence bound or a
shrinkage would let the number of observations, and so traffic, move the score. A site
with too few probes for a rate has the same prior as every other.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from registry.ranking.policy import FULL, Policy

QUALITY_WINDOW = timedelta(days=30)
"""Length of the window, which ends with the newest probe: figures follow from probes."""
NEWEST = 2000
"""Probes that count at most, the newest of them."""
ANSWERED = frozenset({"alive", "auth_wall", "wrong_protocol", "mismatch"})
# Neither the owner's wish nor our own restraint is downtime.
NOT_COUNTED = frozenset({"blocked_by_robots", "never_checked"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProbe:
    observed_at: datetime
    outcome: str
    elapsed_ms: int


class ProbeFigures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The registry's probes of a site within its window.

    answers: probes that got any answer; successes: a right one. 0 <= successes <=
    answers <= probes. median_ms: of the answers; None without one. observed_at: the
    newest probe, None without one.
    """

    probes: int = 0
    answers: int = 0
    successes: int = 0
    median_ms: int | None = None
    observed_at: datetime | None = None


def summarise_probes(results: Sequence[StoredProbe]) -> ProbeFigures:
    """Return the figures of the window. results: the newest first, by whole seconds."""
    if not results:
        return ProbeFigures()
    since = results[0].observed_at.replace(microsecond=0) - QUALITY_WINDOW
    counted = [
        probe
        for probe in results
        if probe.outcome not in NOT_COUNTED and probe.observed_at >= since
    ]
    answered = [probe for probe in counted if probe.outcome in ANSWERED]
    times = [probe.elapsed_ms for probe in answered]
    return ProbeFigures(
        probes=len(counted),
        answers=len(answered),
        successes=sum(probe.outcome == "alive" for probe in counted),
        median_ms=round(statistics.median(times)) if times else None,
        observed_at=counted[0].observed_at.replace(microsecond=0) if counted else None,
    )


def quality(figures: ProbeFigures, policy: Policy) -> int:
    """Return 0..FULL; rises with the rates, falls with the response time."""
    if figures.probes < policy.quality_probes_min:
        return policy.quality_prior
    parts = (
        policy.quality_success_bp * FULL * figures.successes // figures.probes
        + policy.quality_uptime_bp * FULL * figures.answers // figures.probes
        + policy.quality_speed_bp * _speed(figures.median_ms, policy.quality_half_ms)
    )
    return parts // FULL


def _speed(median_ms: int | None, half_ms: int) -> int:
    if median_ms is None:
        return 0
    return FULL * half_ms // (half_ms + median_ms)
