"""The process that publishes the log: `python -m registry.publisher`.

It alone reads the log's signing key. Any number may run; one sequences, the others
wait to take over. It ends with exit code 65 when the stored log is not the one that was
signed: searches go on being recorded, and nothing is published until it is repaired.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from registry import keyring
from registry.db.engine import Role, open_engine
from registry.observability import configure_logging
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, read_settings
from registry.usecases.chance import Chance
from registry.usecases.commit_ahead import commit_ahead
from registry.usecases.sequence import LogDamaged, Sequencer

COMMIT_AHEAD_MINUTES = 5
EXIT_DAMAGED = 65  # EX_DATAERR of sysexits.h

logger = structlog.get_logger()


async def publish(settings: Settings) -> None:
    """Until cancelled. Raises: LogDamaged."""
    engine = open_engine(settings.database_url, Role.PUBLISHER)
    chance = Chance()
    signer = keyring.load_signer(settings.keys, keyring.LOG, settings.log_origin)
    scheduler = AsyncIOScheduler(timezone="UTC")
    scheduler.add_job(
        commit_ahead,
        "interval",
        minutes=COMMIT_AHEAD_MINUTES,
        args=(engine, DEFAULT_POLICY, chance),
    )
    try:
        await commit_ahead(engine, DEFAULT_POLICY, chance)
        scheduler.start()
        await Sequencer(engine, signer, chance.now).run()
    finally:
        if scheduler.running:
            scheduler.shutdown(wait=False)
        await engine.dispose()


async def main() -> int:
    settings = read_settings(os.environ)
    configure_logging(settings.log_format)
    work = asyncio.ensure_future(publish(settings))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, work.cancel)
    try:
        with suppress(asyncio.CancelledError):
            await work
    except LogDamaged as damaged:
        logger.critical("log_damaged", detail=str(damaged))
        return EXIT_DAMAGED
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
