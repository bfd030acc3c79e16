"""The daily trials of invariance: made once a day, kept, and told when they fail."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog

from registry.db import invariance_runs
from registry.db.engine import Engine
from registry.db.invariance_runs import InvarianceRun
from registry.fairness.invariance import InvarianceResult
from registry.index.sources import digest_of_code
from registry.usecases.background import in_background
from registry.usecases.chance import Chance
from registry.usecases.list_site import Lister
from registry.usecases.shadow import cast_shadow
from registry.usecases.try_invariance import try_invariance

SEED_BYTES = 6  # JSON carries it exactly

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTrials:
    """auditor: reads listings, labels and queries. writer: of the reporter's role.

    trials: of a day; hour: of UTC from which on a day's are made.
    """

    auditor: Engine
    writer: Engine
    make_lister: Callable[[], Lister]
    chance: Chance
    trials: int
    hour: int

    async def make_todays(self) -> InvarianceResult | None:
        """None where they are not due, made already, or have nothing to try."""
        now = self.chance.now()
        if now.hour < self.hour or not self.trials:
            return None
        async with self.auditor.connect() as connection:
            if await invariance_runs.has_run(connection, now.date()):
                return None
            lister = await asyncio.to_thread(self.make_lister)
            shadow = await cast_shadow(connection, lister, now)
        seed = int.from_bytes(self.chance.random_bytes(SEED_BYTES))
        work = partial(try_invariance, shadow, trials=self.trials, seed=seed)
        found = await in_background(work)
        if not found.trials:
            return None
        run = InvarianceRun(
            day=now.date(),
            finished_at=self.chance.now(),
            code=digest_of_code(),
            result=found,
        )
        async with self.writer.begin() as connection:
            await invariance_runs.save_run(connection, run)
        _tell(found)
        return found


def _tell(found: InvarianceResult) -> None:
    """A violation is an error of ours, and somebody has to look at it."""
    counted = {"trials": found.trials, "violations": found.violations}
    if not found.violations:
        logger.info("invariance_held", **counted)
        return
    logger.error(
        "invariance_violated",
        **counted,
        perturbations=[one.perturbation for one in found.tallies if one.violations],
        rankings=[one.ranking for one in found.examples],
    )
