"""Freshness: the time since the last change of the site's capabilities.

FULL·exp(-days/scale), never below the floor; falls as the days pass. The change is the
registry's own observation of a semantic change, so that reformatting brings nothing.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt

from registry.ranking.decay import decay_table, look_up
from registry.ranking.policy import Policy

Integers = npt.NDArray[np.int64]
SECONDS_PER_DAY = 86_400
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def seconds_of(at: datetime) -> int:
    """Return whole seconds since 1970; at: aware."""
    return (at - _EPOCH) // timedelta(seconds=1)


def days_between(changed_s: Integers, now_s: int) -> Integers:
    """Return whole days; a change ahead of the clock counts as of today."""
    return np.maximum(now_s - changed_s, 0) // SECONDS_PER_DAY


def freshnesses(days: Integers, policy: Policy) -> Integers:
    """Return freshness_floor..FULL for each site."""
    table = decay_table(policy.freshness_scale_days, policy.freshness_floor)
    return look_up(table, days)
