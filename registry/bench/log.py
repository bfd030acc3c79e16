"""`bench log`: the log under load, from the recorder to the signed checkpoint.

Writers record rankings through the recorders of two processes, as many as the service
has for the web; the publisher, a process of its own, sequences them beside; all share
the machine and its embedded PostgreSQL. Then tables are measured, entries are proved,
and a larger log is verified.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
import psutil

from registry import keyring
from registry.bench import table_sizes
from registry.bench.figures import tell_figures
from registry.bench.load import Latencies
from registry.bench.log_writers import Shift, Written, joined, write_rankings
from registry.bench.scratch import (
    database_url,
    postgres_cpu_s,
    scratch_folder,
    scratch_postgres,
)
from registry.bench.verification import measure_verification
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Engine, engine_at
from registry.db.log import entries as log
from registry.db.schema.migrate import migrate
from registry.settings import Settings, as_environment
from registry.terminal.output import json_option
from registry.usecases.log.log_proofs import prove_leaf
from registry.usecases.log.served_log import ServedLog

WRITERS, PROCESSES = 64, 2
WARM_UP_S = 2.0
START_UP_S = 60.0  # of a writer, at the most
WATCH_PAUSE_S = 0.02
PROOFS = 200
QUEUE = "pending"  # the table that every record passes through


@click.command(name="log")
@click.option("--seconds", type=float, default=60.0, show_default=True)
@click.option("--writers", type=click.IntRange(min=1), default=WRITERS)
@click.option("--processes", type=click.IntRange(min=1), default=PROCESSES)
@click.option("--entries", type=click.IntRange(min=1), default=200_000)
@json_option
def log_bench(
    seconds: float, writers: int, processes: int, entries: int, *, as_json: bool
) -> None:
    """Recording, sequencing, verifying and proving, and the bytes of a ranking.

    Every process has an equal part of the writers. A synthetic log of so many entries
    is verified.
    """
    with scratch_folder() as folder, scratch_postgres(folder) as server:
        figures = asyncio.run(_measure(server, folder, seconds, writers, processes))
    figures |= measure_verification(entries)
    tell_figures(figures, as_json=as_json)


async def _measure(
    server: EmbeddedPostgres, folder: Path, seconds: float, writers: int, processes: int
) -> dict[str, Any]:
    url = database_url(server)
    settings = Settings(data=folder, database_url=url)
    keyring.create_keyring(settings.keys, settings.log_origin)
    async with engine_at(url, pool=4) as owner:
        await migrate(owner)
        shift = Shift(
            database_url=url,
            writers=max(1, writers // processes),
            warm_up_s=WARM_UP_S,
            seconds=seconds,
        )
        async with _publisher(settings, owner) as publisher:
            figures = await _load(server, owner, publisher, shift, processes)
        return {**figures, **await _table_figures(owner), **await _prove(owner)}


@asynccontextmanager
async def _publisher(settings: Settings, owner: Engine) -> AsyncIterator[int]:
    """Run it; yield its process id once its first checkpoint is there."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "registry.publisher"),
        env={**os.environ, **as_environment(settings)},
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        while not await _logged(owner):
            await asyncio.sleep(WATCH_PAUSE_S)
        yield process.pid
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


async def _load(
    server: EmbeddedPostgres,
    owner: Engine,
    publisher: int,
    shift: Shift,
    processes: int,
) -> dict[str, Any]:
    """Measure callers that each wait for one record after the other."""
    start = await _logged(owner)
    async with writing(shift, processes) as results:
        watching = asyncio.create_task(_watch(owner, start, results))
        spent = await _cpu_of_shift(server, publisher, shift)
        written = joined(await results)
        covered = await watching
    count = sum(instant >= written.begins_at for instant in written.at)
    lags = Latencies(lags_of(written.at, covered)[-count:])
    cpu_s = {"writers": written.cpu_s, **spent}
    return {
        "records": count,
        "records_per_s": round(count / shift.seconds),
        "p50_ms": round(written.latencies.percentile_ms(0.5), 2),
        "p99_ms": round(written.latencies.percentile_ms(0.99), 2),
        "turned_away": written.turned_away,
        "unlogged": max(0, len(written.at) - covered[-1][1]),
        "batch_mean": round(sum(written.batches) / len(written.batches), 1),
        "checkpoint_lag_ms_p99": round(lags.percentile_ms(0.99), 1),
        "checkpoint_lag_ms_max": round(lags.percentile_ms(1.0), 1),
        "cpu_us_per_record": {
            name: round(1e6 * spent_s / count) for name, spent_s in cpu_s.items()
        },
    }


@asynccontextmanager
async def writing(
    shift: Shift, processes: int
) -> AsyncIterator[asyncio.Future[list[Written]]]:
    """Start all writers; yield the future of their results."""
    context = get_context("spawn")
    ready, results = context.Barrier(processes + 1), context.Queue()
    arguments = (shift, ready, results)
    started = [
        context.Process(target=write_rankings, args=arguments, daemon=True)
        for _ in range(processes)
    ]
    for process in started:
        process.start()
    try:
        await asyncio.to_thread(ready.wait, START_UP_S)
        yield asyncio.gather(*(asyncio.to_thread(results.get) for _ in started))
    finally:
        for process in started:
            process.terminate()


def lags_of(at: Sequence[float], covered: Sequence[tuple[float, int]]) -> list[float]:
    """Return the seconds from each durable record to a checkpoint that covers it.

    at: of each record, ascending. covered: instants, ascending, and the count of records
    that a checkpoint covered then; in the end all. The n-th durable is taken for the
    n-th logged, so a lag is too long by a pause of the watch at most.
    """
    lags: list[float] = []
    for instant, count in covered:
        lags.extend(instant - durable for durable in at[len(lags) : count])
    return lags


async def _watch(
    owner: Engine, start: int, writing: asyncio.Future[list[Written]]
) -> list[tuple[float, int]]:
    """Note how many records a checkpoint covers, until it covers all."""
    covered: list[tuple[float, int]] = []
    while True:
        ended = writing.done()
        covered.append((time.monotonic(), await _logged(owner) - start))
        if ended and await _is_published(owner):
            return [*covered, (time.monotonic(), await _logged(owner) - start)]
        await asyncio.sleep(WATCH_PAUSE_S)


async def _cpu_of_shift(
    server: EmbeddedPostgres, publisher: int, shift: Shift
) -> dict[str, float]:
    """Return the CPU seconds of the processes beside the writers."""
    await asyncio.sleep(shift.warm_up_s)
    before = _cpu_s(server, publisher)
    await asyncio.sleep(shift.seconds)
    after = _cpu_s(server, publisher)
    return {name: after[name] - before[name] for name in before}


async def _is_published(owner: Engine) -> bool:
    async with owner.connect() as connection:
        return (await log.read_times(connection)).oldest_pending is None


async def _logged(owner: Engine) -> int:
    async with owner.connect() as connection:
        newest = await log.latest_checkpoint(connection)
    return newest.size if newest else 0


def _cpu_s(server: EmbeddedPostgres, publisher: int) -> dict[str, float]:
    times = psutil.Process(publisher).cpu_times()
    return {"publisher": times.user + times.system, "postgres": postgres_cpu_s(server)}


async def _table_figures(owner: Engine) -> dict[str, Any]:
    """Return bytes a ranking, indexes and all, dead rows swept up.

    The queue is apart: its size does not grow with the number of rankings.
    """
    await table_sizes.sweep(owner)
    async with owner.connect() as connection:
        count = (await table_sizes.count_records(connection))["ranking"]
        tables = await table_sizes.table_bytes(connection)
    queue = tables.pop(QUEUE)
    return {
        "bytes_per_ranking": round(sum(tables.values()) / count),
        "bytes_by_table": {
            name: round(size / count)
            for name, size in sorted(tables.items())
            if size / count >= 1
        },
        "queue_mb": round(queue / 1e6, 1),
    }


async def _prove(owner: Engine) -> dict[str, Any]:
    """Measure proofs by tiles that are read anew, and by cached ones."""
    return {
        "proof_ms": await _proof_ms(ServedLog(owner, cache_bytes=0)),
        "proof_kept_ms": await _proof_ms(ServedLog(owner)),
    }


async def _proof_ms(served: ServedLog) -> float:
    """Return the mean of proofs from all over the log."""
    newest = await served.checkpoint()
    size = newest.size if newest else 0
    indexes = range(0, size, max(1, size // PROOFS))
    begun = time.monotonic()
    for index in indexes:
        await prove_leaf(served, index, size)
    return round(1000 * (time.monotonic() - begun) / len(indexes), 2)
