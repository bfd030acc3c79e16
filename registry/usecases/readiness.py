"""Readiness of a registry: what it answers is there, and what keeps it true works.

A registry without a crawler or an index builder goes on answering, with what was true
once. So both show that they work: crawlers in the database, wherever they run; the index
builder of this machine in the folder of its index.
"""

from collections.abc import Iterator

from registry.db.engine.engines import Engine, reading
from registry.db.frontier import heartbeats
from registry.errors import Problem, RegistryError, Unavailable
from registry.usecases.refusals import NOT_READY, PART_SILENT
from registry.usecases.search.answer_search import Searcher

SILENCE_S = 20.0
"""Time without a heartbeat, which comes every two seconds, after which a part counts as
dead. Shorter than the time after which `serve` replaces a part that hangs."""

RETRY_AFTER_S = 1


class Readiness:
    """engine: of the API's role. crawls: this registry is meant to have a crawler."""

    def __init__(self, engine: Engine, searcher: Searcher, *, crawls: bool) -> None:
        self._engine = reading(engine)
        self._searcher = searcher
        self._crawls = crawls

    async def verify(self) -> None:
        """Raises: Unavailable, with one cause for each part that is silent."""
        if not await self._searcher.is_ready():
            raise Unavailable(NOT_READY, retry_after_s=RETRY_AFTER_S)
        silences = {"indexer": self._searcher.follower.builder_silence_s()}
        if self._crawls:
            async with self._engine.connect() as connection:
                silences["crawler"] = await heartbeats.silence_s(
                    connection, heartbeats.CRAWLER
                )
        if causes := tuple(_silent_parts(silences)):
            detail = "; ".join(f"{cause.pointer}: {cause.detail}" for cause in causes)
            raise Unavailable(
                PART_SILENT, detail, retry_after_s=RETRY_AFTER_S, causes=causes
            )


def _silent_parts(silences: dict[str, float | None]) -> Iterator[Problem]:
    for part, silence_s in silences.items():
        if silence_s is None:
            detail = "none has shown work yet"
        elif silence_s > SILENCE_S:
            detail = f"none has shown work for {silence_s:.0f} s"
        else:
            continue
        yield RegistryError(PART_SILENT, detail, pointer=part).problem
