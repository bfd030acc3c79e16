"""The process that publishes the log: `python -m registry.publisher`.

It alone reads the log's signing key. Any number may run; one sequences, the others
wait to take over. It ends with exit code 65 when the stored log is not the one that was
signed: nothing is published, and soon nothing promised, until it is repaired.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import structlog

from registry import keyring
from registry.db.engine.engines import DatabaseError, Engine, Role, engine_at
from registry.db.log import old_checkpoints, partitions
from registry.errors import root_cause
from registry.index.sources import digest_of_code
from registry.observability import configure_logging
from registry.process import EXIT_DAMAGED, run_until_stopped
from registry.scheduled_jobs import scheduled_jobs
from registry.settings import Settings
from registry.settings_reader import settings_of_process
from registry.tlog.note import parse_vkey
from registry.usecases.background import outlasting
from registry.usecases.ids import Clock, IdSource
from registry.usecases.log.commit_ahead import commit_ahead
from registry.usecases.log.continuity import Continuity, LogDamaged
from registry.usecases.log.sequence import Sequencer
from registry.usecases.log.served_log import WitnessPolicy

COMMIT_AHEAD_MINUTES = 5
FRESH_CHECKPOINTS = timedelta(days=7, hours=1)
"""All of them stay for a week; the database refuses to drop younger ones."""
RETRY_PAUSE_S = 0.5

logger = structlog.get_logger()


async def publish(settings: Settings) -> None:
    """Publish the log until cancelled. Raises: LogDamaged."""
    ids = IdSource()
    signer = keyring.load_signer(settings.keys, keyring.LOG, settings.log_origin)
    retiring = keyring.load_retiring_signer(settings.keys, settings.log_origin)
    async with (
        engine_at(settings.database_url, Role.PUBLISHER) as engine,
        scheduled_jobs() as scheduler,
    ):
        prepare = partial(add_partitions, engine, ids.clock)
        commit = partial(commit_ahead, engine, settings.policy, digest_of_code(), ids)
        scheduler.add_job(commit, "interval", minutes=COMMIT_AHEAD_MINUTES)
        scheduler.add_job(prepare, "interval", hours=1)
        scheduler.add_job(partial(thin_out, engine, ids.clock), "interval", hours=1)
        await prepare()
        await _commit_first(commit)
        scheduler.start()
        continuity = continuity_of(settings)
        await Sequencer(engine, signer, ids.clock, retiring, continuity).run()


def continuity_of(settings: Settings) -> Continuity:
    """Return what is known here of the log outside the database."""
    folder, name = settings.keys, settings.log_origin
    retiring = keyring.load_retiring_signer(folder, name)
    signers = (keyring.load_signer(folder, keyring.LOG, name), retiring)
    keys = [signer.verifier_key for signer in signers if signer]
    keys += map(parse_vkey, keyring.load_former_vkeys(folder))
    policy = WitnessPolicy(settings.witness_list, settings.witness_quorum)
    file = settings.data / "log" / "checkpoint"
    return Continuity(file, keys, settings.log_files, policy)


async def thin_out(engine: Engine, clock: Clock) -> None:
    """Leave of the checkpoints of more than a week ago those of each hour's end."""
    with outlasting("thinning_interrupted"):
        async with engine.begin() as connection:
            before = clock() - FRESH_CHECKPOINTS
            await old_checkpoints.thin_checkpoints(connection, before)


async def add_partitions(engine: Engine, clock: Clock) -> None:
    """Make the months and leaves ahead for which the tables need a part."""
    with outlasting("partitioning_interrupted"):
        async with engine.begin() as connection:
            await partitions.add_partitions(connection, clock())


async def _commit_first(commit: Callable[[], Awaitable[None]]) -> None:
    """Commit ahead once the database is there; nothing can be ranked before."""
    while True:
        try:
            await commit()
        except (DatabaseError, OSError) as error:
            logger.warning("commit_ahead_interrupted", kind=root_cause(error))
            await asyncio.sleep(RETRY_PAUSE_S)
        else:
            return


def main() -> None:
    settings = settings_of_process()
    configure_logging(settings.log_format, settings.log_level)
    try:
        run_until_stopped(publish(settings))
    except LogDamaged as damaged:
        logger.critical("log_damaged", detail=str(damaged))
        sys.exit(EXIT_DAMAGED)


if __name__ == "__main__":
    main()
