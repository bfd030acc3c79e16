"""Group commit: the records of concurrent answers become durable together.

One writer task holds one connection. While a batch is being committed the next callers
gather; when it is done they are the next batch. No timer: alone, a record waits for
nobody.

Rankings that are counted for an operator have a recorder of their own: their counters
may be locked by another process, and the others do not wait for that.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import structlog

from registry.db.engine.engines import DatabaseError, Engine
from registry.db.log.rankings import RankingRow, RankingWriter, row_of
from registry.errors import Unavailable, root_cause
from registry.records.ranked_answer import AnswerOnRecord
from registry.usecases.refusals import LOG_BUSY

MAX_BATCH = 256
MAX_WAITING = 2_000
RETRY_AFTER_S = 1
RECONNECT_PAUSE_S = 0.2
WRITE_TIMEOUT_S = 5.0

logger = structlog.get_logger()


class _Waiting(NamedTuple):
    """durable: the ranking's number among those of its operator, or None."""

    ranking: RankingRow
    durable: asyncio.Future[int | None]


@dataclass(eq=False)
class RankingRecorder:
    """Makes rankings durable; `run` is its writer and must be running.

    The queue is bounded: when the database stalls, callers are turned away at once
    instead of piling up, and none of them gets an answer that is not on record.
    kind: `CountingWriter` for rankings that are counted for an operator.
    """

    engine: Engine
    on_batch: Callable[[int], None] = lambda _: None
    kind: type[RankingWriter] = RankingWriter
    write_timeout_s: float = WRITE_TIMEOUT_S
    _waiting: list[_Waiting] = field(default_factory=list)
    _arrival: asyncio.Event = field(default_factory=asyncio.Event)
    _is_writing = False
    _ended = False

    async def record(self, ranking: AnswerOnRecord) -> int | None:
        """The ranking's number, if it is counted, once the record is durable.

        Raises: Unavailable if it may not be.
        """
        if self._ended or len(self._waiting) >= MAX_WAITING:
            raise _busy()
        row = row_of(ranking)  # made while the batch before is being committed
        durable: asyncio.Future[int | None] = asyncio.Future()
        self._waiting.append(_Waiting(row, durable))
        self._arrival.set()
        return await durable

    async def run(self) -> None:
        """Write batches until cancelled, over a new connection after a failure."""
        self._ended = False
        try:
            while True:
                try:
                    await self._write_batches()
                except (DatabaseError, OSError) as error:
                    logger.warning("record_connection_lost", kind=root_cause(error))
                    _turn_away(self._take(MAX_WAITING))
                    await asyncio.sleep(RECONNECT_PAUSE_S)
        finally:
            self._ended = True
            _turn_away(self._take(MAX_WAITING))

    async def _write_batches(self) -> None:
        async with self.engine.connect() as connection:
            writer = await self.kind.over(connection)
            writing = asyncio.create_task(self._write_while_they_come(writer))
            try:
                await asyncio.wait({writing})
                writing.result()
            finally:
                await self._end(writing, writer)
                # Whatever ended it, what the connection was doing is unknown.
                await connection.invalidate()

    async def _write_while_they_come(self, writer: RankingWriter) -> None:
        """A task by itself, which nobody cancels while the server is at work."""
        while not writer.is_broken_off:
            await self._arrival.wait()
            await self._write(writer, self._take(MAX_BATCH))

    async def _write(self, writer: RankingWriter, batch: list[_Waiting]) -> None:
        """Write a batch, and wake its callers once their records are durable."""
        loop = asyncio.get_running_loop()
        late = loop.call_later(self.write_timeout_s, writer.break_off)
        self._is_writing = True
        try:
            numbers = await writer.write([waiting.ranking for waiting in batch])
        except BaseException:
            _turn_away(batch)
            raise
        finally:
            self._is_writing = False
            late.cancel()
        for waiting, number in zip(batch, numbers, strict=True):
            if not waiting.durable.done():
                waiting.durable.set_result(number)
        self.on_batch(len(batch))

    async def _end(self, writing: asyncio.Task[None], writer: RankingWriter) -> None:
        """End the writer; a write is broken off where it stands.

        To cancel it instead would wait for the server, and it is the server that hangs.
        """
        if self._is_writing:
            writer.break_off()
        else:
            writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)

    def _take(self, most: int) -> list[_Waiting]:
        batch, self._waiting = self._waiting[:most], self._waiting[most:]
        if not self._waiting:
            self._arrival.clear()
        return batch


def _turn_away(batch: list[_Waiting]) -> None:
    for waiting in batch:
        if not waiting.durable.done():
            waiting.durable.set_exception(_busy())


def _busy() -> Unavailable:
    return Unavailable(LOG_BUSY, retry_after_s=RETRY_AFTER_S)
