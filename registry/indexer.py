"""The process that builds the shared index: `python -m registry.indexer`.

One on each machine that answers searches. It alone needs the ranker's role; the web
processes map what it puts out. Large merges are made by a process that it starts. It
ends with exit code 65 when a file of the index is not what was written; the next process
rebuilds the files.
"""

import os
import sys

# More threads of BLAS would spin beside serving, at the priority of the process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import structlog

from registry.db.engine.engines import Role, engine_at
from registry.index.segments.array_file import FileDamaged
from registry.observability import configure_logging
from registry.process import EXIT_DAMAGED, keep_freed_memory, run_until_stopped
from registry.settings import Settings
from registry.settings_reader import settings_of_process
from registry.usecases.search.build_index import IndexBuilder

FREE_BYTES_HELD = 256 << 20
"""A whole index of a million sites takes about an eighth less CPU so."""

logger = structlog.get_logger()


async def build(settings: Settings) -> None:
    """Keep the index in step until cancelled."""
    async with engine_at(settings.database_url, Role.RANKER, pool=1) as engine:
        await IndexBuilder(engine, settings.index, settings.policy).run()


def main() -> None:
    keep_freed_memory(FREE_BYTES_HELD)
    settings = settings_of_process()
    configure_logging(settings.log_format, settings.log_level)
    try:
        run_until_stopped(build(settings))
    except FileDamaged as damaged:
        logger.critical("index_damaged", detail=str(damaged))
        sys.exit(EXIT_DAMAGED)


if __name__ == "__main__":
    main()
