"""Group commit: the records of concurrent answers become durable together.

One writer task holds one connection. While a batch is being committed the next callers
gather; when it is done they are the next batch. No timer: alone, a record waits for
nobody.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import structlog

from registry.db.engine import DatabaseError, Engine
from registry.db.rankings import RankingToLog, RankingWriter
from registry.errors import Unavailable
from registry.usecases.refusals import LOG_BUSY

MAX_BATCH = 256
MAX_WAITING = 2_000
RETRY_AFTER_S = 1
RECONNECT_PAUSE_S = 0.2
WRITE_TIMEOUT_S = 5.0

logger = structlog.get_logger()


@dataclass(slots=True)
class _Waiting:
    ranking: RankingToLog
    durable: asyncio.Future[None]


class RankingRecorder:
    """Makes rankings durable; `run` is its writer and must be running.

    The queue is bounded: when the database stalls, callers are turned away at once
    instead of piling up, and none of them gets an answer that is not on record.
    """

    def __init__(
        self, engine: Engine, on_batch: Callable[[int], None] = lambda _: None
    ) -> None:
        self._engine = engine
        self._on_batch = on_batch
        self._waiting: list[_Waiting] = []
        self._arrival = asyncio.Event()

    async def record(self, ranking: RankingToLog) -> None:
        """Return once the record is durable. Raises: Unavailable if it is not."""
        if len(self._waiting) >= MAX_WAITING:
            raise Unavailable(LOG_BUSY, retry_after_s=RETRY_AFTER_S)
        durable = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(ranking, durable))
        self._arrival.set()
        await durable

    async def run(self) -> None:
        """Write batches until cancelled, over a new connection after a failure."""
        while True:
            try:
                async with self._engine.connect() as connection:
                    await self._write_batches(RankingWriter(connection))
            except (DatabaseError, OSError) as error:
                logger.warning("record_connection_lost", kind=type(error).__name__)
                self._turn_away(self._take())
                await asyncio.sleep(RECONNECT_PAUSE_S)

    async def _write_batches(self, writer: RankingWriter) -> None:
        while True:
            await self._arrival.wait()
            batch = self._take()
            try:
                async with asyncio.timeout(WRITE_TIMEOUT_S):
                    await writer.write([one.ranking for one in batch])
            except BaseException:
                self._turn_away(batch)
                raise
            self._on_batch(len(batch))
            for one in batch:
                if not one.durable.done():
                    one.durable.set_result(None)

    def _take(self) -> list[_Waiting]:
        batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
        if not self._waiting:
            self._arrival.clear()
        return batch

    def _turn_away(self, batch: list[_Waiting]) -> None:
        for one in batch:
            if not one.durable.done():
                one.durable.set_exception(
                    Unavailable(LOG_BUSY, retry_after_s=RETRY_AFTER_S)
                )
