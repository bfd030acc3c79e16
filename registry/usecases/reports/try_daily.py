"""The daily trials of invariance: run and stored once a day, and reported when they fail."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial

import msgspec
import structlog

from registry.db.engine.engines import Engine
from registry.db.log import entries as log
from registry.db.reports import invariance_runs
from registry.db.reports.invariance_runs import InvarianceRun
from registry.index.sources import digest_of_code
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import POLICY_BY_DIGEST
from registry.records.canonical import digest_of
from registry.records.record import (
    Record,
    trials_commitment_record,
    trials_result_record,
)
from registry.records.seed import commit_secret
from registry.reports.invariance import (
    InvarianceResult,
    digest_swaps,
    result_members,
    seed_of,
)
from registry.usecases.background import in_background
from registry.usecases.ids import IdSource
from registry.usecases.reports.shadow import TrialMaterial
from registry.usecases.reports.trial_materials import cast_shadow, read_trial_material
from registry.usecases.reports.try_invariance import try_invariance
from registry.usecases.sites.list_site import Lister

SALT_BYTES = 16

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTrials:
    """Daily trials. auditor: reads listings, labels and queries. writer: of the reporter.

    trials: of a day; hour: of UTC from which on a day's are made. secret_of: a day's
    secret of 32 bytes, the same each time: nobody chooses it when he knows the sites.
    """

    auditor: Engine
    writer: Engine
    make_lister: Callable[[], Lister]
    ids: IdSource
    trials: int
    hour: int
    secret_of: Callable[[date], bytes]

    async def make_todays(self) -> InvarianceResult | None:
        """Run today's trials; None if not due, made already, or without material."""
        now = self.ids.clock()
        if now.hour < self.hour or not self.trials:
            return None
        async with self.auditor.connect() as connection:
            if await invariance_runs.has_run(connection, now.date()):
                return None
            stored = await invariance_runs.find_material(connection, now.date())
        lister = await asyncio.to_thread(self.make_lister)
        secret = self.secret_of(now.date())
        stored = stored or await self._commit(now, secret, lister)
        if not stored:
            return None
        material = msgspec.json.decode(stored, type=TrialMaterial)
        lister, trials = await asyncio.to_thread(_as_committed, lister, material)
        async with self.auditor.connect() as connection:
            shadow = await cast_shadow(connection, material, lister)
        work = partial(try_invariance, shadow, trials=trials, seed=seed_of(secret))
        result = await in_background(work)
        run = InvarianceRun(
            day=now.date(),
            finished_at=self.ids.clock(),
            code=digest_of_code(),
            swap_salt=self.ids.random_bytes(SALT_BYTES).hex(),
            result=result,
        )
        async with self.writer.begin() as connection:
            if await invariance_runs.save_run(connection, run):
                await log.accept(
                    connection, self._result_record(run, secret), run.finished_at
                )
        _log_outcome(result)
        return result

    async def _commit(self, now: datetime, secret: bytes, lister: Lister) -> bytes:
        """Put on record what is going to be tried; b"" where there is nothing.

        A process that comes second, or again, tries the day that is saved already.
        """
        day = now.date()
        async with self.auditor.connect() as connection:
            material = await read_trial_material(connection, lister, now, self.trials)
        if not material.sites or not material.rankings:
            return b""
        body, committed_at = material.body, self.ids.clock()
        record = trials_commitment_record(
            record_id=self.ids.ulid(),
            at=committed_at,
            day=day,
            commitment=commit_secret(secret),
            material=digest_of(body),
        )
        async with self.writer.begin() as connection:
            if await invariance_runs.save_material(connection, day, body):
                await log.accept(connection, record, committed_at)
        async with self.auditor.connect() as connection:
            return await invariance_runs.find_material(connection, day) or b""

    def _result_record(self, run: InvarianceRun, secret: bytes) -> Record:
        return trials_result_record(
            record_id=self.ids.ulid(),
            at=run.finished_at,
            day=run.day,
            secret=secret,
            result={
                **result_members(run.result),
                "swaps": digest_swaps(run.result.swaps, run.swap_salt),
            },
        )


def _as_committed(lister: Lister, material: TrialMaterial) -> tuple[Lister, int]:
    """Return the lister under the policy committed to, and how many trials to run by it.

    The process may have begun again under another one since. Under that of a former
    release it can run none, which goes on record as well.
    """
    policy = POLICY_BY_DIGEST.get(material.policy, lister.policy)
    if policy == lister.policy:
        return lister, material.trials if policy.digest == material.policy else 0
    encoder = load_encoder(policy)
    return replace(lister, policy=policy, encoder=encoder), material.trials


def _log_outcome(result: InvarianceResult) -> None:
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
