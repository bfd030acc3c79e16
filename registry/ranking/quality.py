"""Quality: a site's responses to the registry's own probes.

A weighted sum of the share of right answers, the share of any answer, and speed
(half / (half + median)). Only rates enter, never counts: a confidence bound or a
shrinkage would let the number of observations, and so traffic, move the score. A site
with too few probes for a rate has the same prior as every other.
"""

from datetime import datetime

import msgspec

from registry.ranking.policy import FULL, Policy


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
