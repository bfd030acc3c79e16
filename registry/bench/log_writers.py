"""Writers of `bench log`: web processes without the web.

Each records synthetic rankings through a recorder of its own, a caller one after the
other. Instants are of the monotonic clock, which all processes share.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier

from registry.bench.load import Latencies
from registry.bench.synthetic.rankings import Stock
from registry.db.engine.engines import Role, engine_at
from registry.errors import Unavailable
from registry.records.ranked_answer import AnswerOnRecord
from registry.usecases.ids import IdSource
from registry.usecases.search.record_rankings import RankingRecorder

RETRY_PAUSE_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """writers: callers at a time. The first warm_up_s are not counted."""

    database_url: str
    writers: int
    warm_up_s: float
    seconds: float


@dataclass(slots=True)
class Written:
    """Records of one process; all but `at` count from begins_at, after the warm-up.

    at: when each record was durable. batches: records in each. cpu_s: of this process.
    """

    begins_at: float
    at: list[float] = field(default_factory=list)
    latencies: Latencies = field(default_factory=Latencies)
    batches: list[int] = field(default_factory=list)
    turned_away: int = 0
    cpu_s: float = 0.0

    def begin(self) -> None:
        """Forget the warm-up."""
        self.latencies.seconds.clear()
        self.batches.clear()
        self.turned_away = 0
        self.cpu_s = time.process_time()


def write_rankings(shift: Shift, ready: Barrier, results: "Queue[Written]") -> None:
    """Write as one process of several, which begin together once `ready`."""
    stock = Stock.make(IdSource())
    ready.wait()
    results.put(asyncio.run(_write(shift, stock)))


def joined(parts: Sequence[Written]) -> Written:
    """Join the records of several processes, `at` ascending."""
    return Written(
        begins_at=min(part.begins_at for part in parts),
        at=sorted(at for part in parts for at in part.at),
        latencies=Latencies([s for part in parts for s in part.latencies.seconds]),
        batches=[size for part in parts for size in part.batches],
        turned_away=sum(part.turned_away for part in parts),
        cpu_s=sum(part.cpu_s for part in parts),
    )


async def _write(shift: Shift, stock: Stock) -> Written:
    written = Written(begins_at=time.monotonic() + shift.warm_up_s)
    ends_at = written.begins_at + shift.seconds
    async with _recording(shift.database_url, written) as recorder:
        callers = [
            asyncio.create_task(_call(recorder, mine, ends_at, written))
            for mine in stock.shares(shift.writers)
        ]
        await asyncio.sleep(shift.warm_up_s)
        written.begin()
        await asyncio.gather(*callers)
    written.cpu_s = time.process_time() - written.cpu_s
    return written


@asynccontextmanager
async def _recording(url: str, written: Written) -> AsyncIterator[RankingRecorder]:
    async with engine_at(url, Role.API, pool=1) as engine:
        recorder = RankingRecorder(engine, written.batches.append)
        running = asyncio.create_task(recorder.run())
        try:
            yield recorder
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def _call(
    recorder: RankingRecorder,
    rankings: Iterator[AnswerOnRecord],
    ends_at: float,
    written: Written,
) -> None:
    while (begun := time.monotonic()) < ends_at:
        try:
            await recorder.record(next(rankings))
        except Unavailable:
            written.turned_away += 1
            await asyncio.sleep(RETRY_PAUSE_S)
            continue
        now = time.monotonic()
        written.latencies.seconds.append(now - begun)
        written.at.append(now)
