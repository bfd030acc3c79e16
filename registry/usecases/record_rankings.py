"""Group commit: the records of concurrent answers become durable together.

One writer task holds one connection. While a batch is being committed the next callers
gather; when it is done they are the next batch. No timer: alone, a record waits for
nobody.

Rankings that are counted for an operator have a recorder of their own: their counters
may be locked by another process, and the others do not wait for that.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from registry.db.engine import DatabaseError, Engine
from registry.db.rankings import (
    RankingRow,
    RankingToLog,
    RankingWriter,
    pack_ranking,
)
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
    """durable: the ranking's number among those of its operator, or None."""

    ranking: RankingRow
    durable: asyncio.Future[int | None]


class RankingRecorder:
    """Makes rankings durable; `run` is its writer and must be running.

    The queue is bounded: when the database stalls, callers are turned away at once
    instead of piling up, and none of them gets an answer that is not on record.
    """

    def __init__(
        self,
        engine: Engine,
        on_batch: Callable[[int], None] = lambda _: None,
        *,
        kind: type[RankingWriter] = RankingWriter,
        write_timeout_s: float = WRITE_TIMEOUT_S,
    ) -> None:
        """kind: `CountingWriter` for rankings that are counted for an operator."""
        self._engine = engine
        self._kind = kind
        self._on_batch = on_batch
        self._write_timeout_s = write_timeout_s
        self._waiting: list[_Waiting] = []
        self._arrival = asyncio.Event()
        self._ended = False

    async def record(self, ranking: RankingToLog) -> int | None:
        """The ranking's number, if it is counted, once the record is durable.

        Raises: Unavailable if it may not be.
        """
        if self._ended or len(self._waiting) >= MAX_WAITING:
            raise _busy()
        packed = pack_ranking(ranking)  # while the batch before is being committed
        durable: asyncio.Future[int | None] = asyncio.Future()
        self._waiting.append(_Waiting(packed, durable))
        self._arrival.set()
        return await durable

    async def run(self) -> None:
        """Write batches until cancelled, over a new connection after a failure."""
        try:
            while True:
                try:
                    await self._write_batches()
                except (DatabaseError, OSError) as error:
                    logger.warning("record_connection_lost", kind=type(error).__name__)
                    _turn_away(self._take(MAX_WAITING))
                    await asyncio.sleep(RECONNECT_PAUSE_S)
        finally:
            self._ended = True
            _turn_away(self._take(MAX_WAITING))

    async def _write_batches(self) -> None:
        async with self._engine.connect() as connection:
            writer = await self._kind.over(connection)
            try:
                while True:
                    await self._arrival.wait()
                    await self._write(writer, self._take(MAX_BATCH))
            finally:
                # Whatever ended it, what the connection was doing is unknown.
                await connection.invalidate()

    async def _write(self, writer: RankingWriter, batch: list[_Waiting]) -> None:
        """Nobody is told of a record that is not durable."""
        writing = asyncio.ensure_future(writer.write([one.ranking for one in batch]))
        try:
            numbers = await _end_in_time(writing, writer, self._write_timeout_s)
        except BaseException:
            _turn_away(batch)
            raise
        self._on_batch(len(batch))
        for one, number in zip(batch, numbers, strict=True):
            if not one.durable.done():
                one.durable.set_result(number)

    def _take(self, most: int) -> list[_Waiting]:
        batch, self._waiting = self._waiting[:most], self._waiting[most:]
        if not self._waiting:
            self._arrival.clear()
        return batch


async def _end_in_time(
    writing: asyncio.Future[Sequence[int | None]],
    writer: RankingWriter,
    timeout_s: float,
) -> Sequence[int | None]:
    """Wait for the write; break it off when it is late or nobody waits any more.

    To cancel it instead would wait for the server, and it is the server that hangs.
    """
    try:
        await asyncio.wait({writing}, timeout=timeout_s)
    finally:
        if not writing.done():
            writer.abort()
            await asyncio.wait({writing})
    return writing.result()


def _turn_away(batch: list[_Waiting]) -> None:
    for one in batch:
        if not one.durable.done():
            one.durable.set_exception(_busy())


def _busy() -> Unavailable:
    return Unavailable(LOG_BUSY, retry_after_s=RETRY_AFTER_S)
