"""The process that asks the witnesses: `python -m crawler.witnesses`.

It reads checkpoints and hashes, posts them to the addresses that the operator has set,
and stores what comes back once it is verified. Any number may run; one works, the others
wait to take over. Without witnesses in the settings it ends at once.
"""

import sys

from crawler.__main__ import make_resolver
from crawler.cosigning import Cosigning
from crawler.http.fetch import Fetcher, FetcherConfig
from crawler.restraint.politeness import TOWARDS_OURSELVES, Politeness
from registry.db.engine.engines import Role, engine_at
from registry.observability import configure_logging
from registry.process import run_until_stopped
from registry.settings import Settings
from registry.settings_reader import settings_of_process
from registry.usecases.log.filed_log import FiledLog

POOL = 4


async def cosign(settings: Settings) -> None:
    """Run until cancelled."""
    fetcher = Fetcher(
        FetcherConfig(
            user_agent=settings.user_agent,
            resolver=make_resolver(settings),
            # The circuits are for strangers; who is asked here was asked for.
            politeness=Politeness(TOWARDS_OURSELVES),
            ca_file=settings.ca_file,
        )
    )
    async with engine_at(settings.database_url, Role.COSIGNER, pool=POOL) as engine:
        await Cosigning(
            engine,
            fetcher,
            settings.witness_list,
            quorum=settings.witness_quorum,
            filed=FiledLog(settings.log_files) if settings.log_files else None,
        ).run()


def main() -> None:
    settings = settings_of_process()
    configure_logging(settings.log_format, settings.log_level)
    if not settings.witness_list:
        sys.exit("no witnesses are set: FAIR_REGISTRY_WITNESSES is empty")
    run_until_stopped(cosign(settings))


if __name__ == "__main__":
    main()
