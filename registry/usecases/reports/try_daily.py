"""The daily trials of invariance: made once a day, kept, and told when they fail."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import structlog

from registry.db.engine.engines import Engine
from registry.db.reports import invariance_runs
from registry.db.reports.invariance_runs import InvarianceRun
from registry.index.sources import digest_of_code
from registry.reports.invariance import InvarianceResult
from registry.usecases.background import in_background
from registry.usecases.ids import IdSource
from registry.usecases.reports.shadow import cast_shadow
from registry.usecases.reports.try_invariance import try_invariance
from registry.usecases.sites.list_site import Lister

SEED_BYTES = 6  # JSON carries it exactly

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTrials:
    """Daily trials. auditor: reads listings, labels and queries. writer: of the reporter.

    trials: of a day; hour: of UTC from which on a day's are made.
    """

    auditor: Engine
    writer: Engine
    make_lister: Callable[[], Lister]
    ids: IdSource
    trials: int
    hour: int

    async def make_todays(self) -> InvarianceResult | None:
        """Run today's trials; None if not due, made already, or without material."""
        now = self.ids.clock()
        if now.hour < self.hour or not self.trials:
            return None
        async with self.auditor.connect() as connection:
            if await invariance_runs.has_run(connection, now.date()):
                return None
            lister = await asyncio.to_thread(self.make_lister)
            shadow = await cast_shadow(connection, lister, now)
        seed = int.from_bytes(self.ids.random_bytes(SEED_BYTES))
        work = partial(try_invariance, shadow, trials=self.trials, seed=seed)
        result = await in_background(work)
        if not result.trials:
            return None
        run = InvarianceRun(
            day=now.date(),
            finished_at=self.ids.clock(),
            code=digest_of_code(),
            result=result,
        )
        async with self.writer.begin() as connection:
            await invariance_runs.save_run(connection, run)
        _tell(result)
        return result


def _tell(result: InvarianceResult) -> None:
    """A violation is an error of ours, and somebody has to look at it."""
    counted = {"trials": result.trials, "violations": result.violations}
    if not result.violations:
        logger.info("invariance_held", **counted)
        return
    logger.error(
        "invariance_violated",
        **counted,
        perturbations=[
            tally.perturbation for tally in result.tallies if tally.violations
        ],
        rankings=[example.ranking for example in result.examples],
    )
