"""The process that builds the shared index: `python -m registry.indexer`.

One on each machine that answers searches. It alone needs the ranker's role; the web
processes map what it puts out. Large merges are made by a process that it starts.
"""

import os

# More threads of BLAS would spin beside serving, at the priority of the process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from registry.db.engine.engines import Role, engine_at
from registry.observability import configure_logging
from registry.process import keep_freed_memory, run_until_stopped
from registry.settings import Settings
from registry.settings_reader import settings_of_process
from registry.usecases.search.build_index import IndexBuilder

KEPT_BYTES = 256 << 20
"""A whole index of a million sites takes about an eighth less CPU so."""


async def build(settings: Settings) -> None:
    """Keep the index in step until cancelled."""
    async with engine_at(settings.database_url, Role.RANKER, pool=1) as engine:
        await IndexBuilder(engine, settings.index, settings.policy).run()


def main() -> None:
    keep_freed_memory(KEPT_BYTES)
    settings = settings_of_process()
    configure_logging(settings.log_format, settings.log_level)
    run_until_stopped(build(settings))


if __name__ == "__main__":
    main()
