"""The process that keeps reports and tables: `python -m registry.reporter`.

It keeps monthly reports and each day's exposure, and tries invariance.

It also drops the bytes of statements that were rejected a week ago.
Any number may run; one at a time has the turn. It reads as the auditor, at a low
priority, and is in nobody's way: searches and the log go on without it.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from functools import partial
from hashlib import sha256

# More threads of BLAS would spin beside serving, at the priority of the process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry import keyring
from registry.db.engine.advisory_lock import (
    EXPOSURE_TURN,
    REPORTS_TURN,
    TRIALS_TURN,
    take_turn,
)
from registry.db.engine.engines import Engine, Role, engine_at
from registry.observability import configure_logging
from registry.process import run_until_stopped
from registry.scheduled_jobs import scheduled_jobs
from registry.settings import Settings
from registry.settings_reader import settings_of_process
from registry.usecases.background import NICENESS, outlasting
from registry.usecases.ids import IdSource
from registry.usecases.registration.submit_registration import drop_rejected_statements
from registry.usecases.reports.keep_exposure import ExposureKeeper
from registry.usecases.reports.keep_report import Keeper
from registry.usecases.reports.try_daily import DailyTrials
from registry.usecases.sites.list_site import make_lister

FIRST_LOOK = timedelta(minutes=2)
"""Time from its start, in which whatever starts beside it has the processor for itself."""


def _trial_secret(key: Ed25519PrivateKey, day: date) -> bytes:
    """Return the day's secret of the trials, which follows from the key of promises."""
    return sha256(key.sign(f"fair-trials-v1 {day}".encode())).digest()


async def report(settings: Settings) -> None:
    """Keep reports and run trials until cancelled."""
    url = settings.database_url
    async with (
        engine_at(url, Role.AUDITOR, pool=2) as auditor,
        engine_at(url, Role.REPORTER, pool=4) as writer,
        scheduled_jobs() as scheduler,
    ):
        _add_hourly_work(scheduler, settings, auditor, writer)
        scheduler.start()
        await asyncio.Event().wait()


def _add_hourly_work(
    scheduler: AsyncIOScheduler, settings: Settings, auditor: Engine, writer: Engine
) -> None:
    ids = IdSource()
    signer = keyring.load_signer(settings.keys, keyring.PROMISE, settings.log_origin)
    keeper = Keeper(
        auditor=auditor,
        writer=writer,
        policy=settings.policy,
        key=signer.private,
        ids=ids,
    )
    exposure = ExposureKeeper(
        auditor=auditor, writer=writer, key=signer.private, ids=ids
    )
    trials = DailyTrials(
        auditor=auditor,
        writer=writer,
        make_lister=partial(
            make_lister, settings.policy, allow_loopback=settings.allow_loopback
        ),
        ids=ids,
        trials=settings.invariance_trials,
        hour=settings.invariance_hour,
        secret_of=partial(_trial_secret, signer.private),
    )
    drop = partial(drop_rejected_statements, writer, ids.clock)
    scheduler.add_job(drop, "interval", hours=1, next_run_time=ids.clock())
    for turn, work in (
        (EXPOSURE_TURN, exposure.keep_missing),
        (REPORTS_TURN, keeper.keep_missing),
        (TRIALS_TURN, trials.make_todays),
    ):
        scheduler.add_job(
            do_in_turn,
            "interval",
            hours=1,
            next_run_time=ids.clock() + FIRST_LOOK,
            misfire_grace_time=None,
            args=(writer, turn, work),
        )


async def do_in_turn(
    engine: Engine, turn: int, work: Callable[[], Awaitable[object]]
) -> None:
    """The work, if nobody else is at it; what the database breaks off is tried again."""
    with outlasting("reporter_interrupted"):
        async with take_turn(engine, turn) as is_ours:
            if is_ours:
                await work()


def main() -> None:
    settings = settings_of_process()
    configure_logging(settings.log_format, settings.log_level)
    os.nice(NICENESS)
    run_until_stopped(report(settings))


if __name__ == "__main__":
    main()
