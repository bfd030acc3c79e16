"""Times at which this process crawls a site again.

Each process finds the allocation by itself, from a sample of the stored histories, and
keeps it in memory: all find nearly the same from the same rows, none has to be the one
that writes it down, and none waits for another.
"""

from datetime import datetime

import numpy as np
import structlog

from crawler.frontier.allocation import VISITS_PER_DAY, Allocation, allocate
from crawler.frontier.schedule import Draw, next_crawl_at
from registry.db.engine.engines import Engine
from registry.db.frontier import tasks
from registry.sites.change_history import NEVER_VISITED, ChangeHistory, Floats

SAMPLED = 20_000

logger = structlog.get_logger()


class Revisits:
    """visits_per_day: the budget, of a site, in the mean of all; > 0."""

    def __init__(self, visits_per_day: float = VISITS_PER_DAY) -> None:
        self._visits_per_day = visits_per_day
        self.allocation: Allocation = self._allocate(
            np.array([NEVER_VISITED.changes_per_day])
        )

    def next_at(
        self, now: datetime, history: ChangeHistory[float], draw: Draw
    ) -> datetime:
        """draw: a number of [0, 1)."""
        interval = self.allocation.interval(history.changes_per_day)
        return next_crawl_at(now, interval=interval, draw=draw)

    async def renew(self, engine: Engine) -> None:
        """Compute the allocation from a new sample of change histories."""
        async with engine.connect() as connection:
            sampled = await tasks.sample_histories(connection, SAMPLED)
        if not sampled:
            return
        visits, unchanged, gaps = np.array(
            [(site.visits, site.unchanged, site.mean_gap_days) for site in sampled]
        ).T
        rates = ChangeHistory(
            visits=visits, unchanged=unchanged, mean_gap_days=gaps
        ).changes_per_day
        self.allocation = self._allocate(rates)
        logger.info(
            "visits_allocated",
            sites=len(sampled),
            multiplier=self.allocation.multiplier,
        )

    def _allocate(self, changes_per_day: Floats) -> Allocation:
        return allocate(changes_per_day, visits_per_day=self._visits_per_day)
