"""`bench log`: the log under load, from the recorder to the signed checkpoint.

Writers put rankings on record through the recorder of the web processes; the publisher,
a process of its own, sequences them beside; both share the machine and its embedded
PostgreSQL. Then the log is read and verified, and what is stored is weighed.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import psutil

from registry import keyring
from registry.cli.bench.load import Latencies
from registry.cli.bench.log_rankings import Stock
from registry.cli.bench.scratch import scratch_folder, scratch_postgres
from registry.cli.output import json_option, tell_figures
from registry.db import log, weight
from registry.db.embedded import EmbeddedPostgres
from registry.db.engine import Connection, Engine, Role, open_engine
from registry.db.migrate import migrate
from registry.errors import Unavailable
from registry.settings import Settings, as_environment
from registry.tlog.checkpoint import Checkpoint
from registry.tlog.follow import CHECKPOINT_PATH, follow_log
from registry.tlog.note import VerifierKey, parse_vkey
from registry.tlog.proof import inclusion_runs, prove_inclusion
from registry.tlog.tiles import Bundle, HashRun, encode_bundle, parse_tile_path
from registry.usecases.chance import Chance
from registry.usecases.record_rankings import RankingRecorder

WRITERS = 16
WARM_UP_S = 2.0
WATCH_PAUSE_S = 0.02
DRAIN_S = 30.0
PROOFS = 200
RETRY_PAUSE_S = 0.05


@dataclass(slots=True)
class Acknowledged:
    """at: when each record was, by the monotonic clock, in order."""

    latencies: Latencies = field(default_factory=Latencies)
    at: list[float] = field(default_factory=list)
    turned_away: int = 0


@click.command(name="log")
@click.option("--seconds", type=float, default=60.0, show_default=True)
@click.option("--writers", type=click.IntRange(min=1), default=WRITERS)
@json_option
def log_bench(seconds: float, writers: int, *, as_json: bool) -> None:
    """Recording, sequencing, verifying and proving, and the bytes of a ranking."""
    with scratch_folder() as folder, scratch_postgres(folder) as server:
        found = asyncio.run(_measure(server, folder, seconds, writers))
    tell_figures(found, as_json=as_json)


async def _measure(
    server: EmbeddedPostgres, folder: Path, seconds: float, writers: int
) -> dict[str, Any]:
    url = server.url().render_as_string(hide_password=False)
    settings = Settings(data=folder, database_url=url)
    keyring.create_keyring(settings.keys, settings.log_origin)
    owner = open_engine(url, pool=4)
    try:
        await migrate(owner)
        async with _publisher(settings, owner) as publisher:
            found = await _load(server, owner, publisher, seconds, writers)
        vkey = parse_vkey(keyring.load_vkey(settings.keys, keyring.LOG))
        return {**found, **await _weigh(owner), **await _read(owner, vkey)}
    finally:
        await owner.dispose()


@asynccontextmanager
async def _publisher(settings: Settings, owner: Engine) -> AsyncIterator[int]:
    """Its process id, once its first checkpoint is there."""
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
    seconds: float,
    writers: int,
) -> dict[str, Any]:
    """What `writers` callers get, who each wait for one record after the other."""
    stock = Stock.make(Chance())
    engine = open_engine(server.url(), Role.API, pool=1)
    batches: list[int] = []
    recorder = RankingRecorder(engine, batches.append)
    running = asyncio.create_task(recorder.run())
    try:
        await _write(recorder, stock, writers, WARM_UP_S)
        batches.clear()
        start = await _drained(owner)
        cpu = _cpu_s(server, publisher)
        done = Acknowledged()
        lags, _ = await asyncio.gather(
            _watch(owner, done, start, seconds),
            _write(recorder, stock, writers, seconds, done),
        )
        spent = [now - then for now, then in zip(_cpu_s(server, publisher), cpu)]  # noqa: B905
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        await engine.dispose()
    count = len(done.at)
    names = ("writer", "publisher", "postgres")
    return {
        "records": count,
        "records_per_s": round(count / seconds),
        "p50_ms": round(done.latencies.percentile_ms(0.5), 2),
        "p99_ms": round(done.latencies.percentile_ms(0.99), 2),
        "turned_away": done.turned_away,
        "batch_mean": round(sum(batches) / len(batches), 1),
        "checkpoint_lag_ms_p99": round(lags.percentile_ms(0.99), 1),
        "checkpoint_lag_ms_max": round(lags.percentile_ms(1.0), 1),
        "cpu_us_per_record": {
            name: round(1e6 * one / count)
            for name, one in zip(names, spent, strict=True)
        },
    }


async def _write(
    recorder: RankingRecorder,
    stock: Stock,
    writers: int,
    seconds: float,
    done: Acknowledged | None = None,
) -> None:
    done = done or Acknowledged()
    deadline = time.monotonic() + seconds

    async def write(number: int) -> None:
        while (begun := time.monotonic()) < deadline:
            number += writers
            try:
                await recorder.record(stock.take(number))
            except Unavailable:
                done.turned_away += 1
                await asyncio.sleep(RETRY_PAUSE_S)
                continue
            now = time.monotonic()
            done.latencies.seconds.append(now - begun)
            done.at.append(now)

    await asyncio.gather(*(write(number) for number in range(writers)))


async def _watch(
    owner: Engine, done: Acknowledged, start: int, seconds: float
) -> Latencies:
    """How long each record, once acknowledged, was not below a checkpoint.

    The n-th acknowledged is taken for the n-th logged; too long by a look at most.
    """
    lags, deadline = Latencies(), time.monotonic() + seconds + DRAIN_S
    ends = time.monotonic() + seconds
    while (now := time.monotonic()) < deadline:
        covered = await _logged(owner) - start
        while len(lags.seconds) < min(covered, len(done.at)):
            lags.seconds.append(now - done.at[len(lags.seconds)])
        if now > ends and len(lags.seconds) == len(done.at):
            return lags
        await asyncio.sleep(WATCH_PAUSE_S)
    raise TimeoutError("the log did not catch up")


async def _drained(owner: Engine) -> int:
    """The size of the log once nothing waits for it."""
    while await _pending(owner):
        await asyncio.sleep(WATCH_PAUSE_S)
    return await _logged(owner)


async def _pending(owner: Engine) -> int:
    async with owner.connect() as connection:
        return await log.count_pending(connection)


async def _logged(owner: Engine) -> int:
    async with owner.connect() as connection:
        newest = await log.latest_checkpoint(connection)
    return newest.size if newest else 0


def _cpu_s(server: EmbeddedPostgres, publisher: int) -> tuple[float, float, float]:
    times = psutil.Process(publisher).cpu_times()
    return time.process_time(), times.user + times.system, server.cpu_s()


async def _weigh(owner: Engine) -> dict[str, Any]:
    """Bytes of all tables and indexes of the log, dead rows swept up, by ranking."""
    await weight.sweep(owner)
    async with owner.connect() as connection:
        count = (await log.count_records(connection))["ranking"]
        tables = await weight.table_bytes(connection)
    return {
        "bytes_per_ranking": round(sum(tables.values()) / count),
        "bytes_by_table": {
            name: round(size / count)
            for name, size in sorted(tables.items())
            if size / count >= 1
        },
    }


async def _read(owner: Engine, key: VerifierKey) -> dict[str, Any]:
    """Every entry verified over what is stored, and proofs of some of them."""
    async with owner.connect() as connection:
        begun = time.monotonic()
        head = await _verify(connection, key)
        verified = time.monotonic()
        indexes = range(0, head.size, max(1, head.size // PROOFS))
        for index in indexes:
            await _prove(connection, index, head.size)
        proved = time.monotonic()
    return {
        "verified_entries": head.size,
        "verify_entries_per_s": round(head.size / (verified - begun)),
        "proof_ms": round(1000 * (proved - verified) / len(indexes), 2),
    }


async def _verify(connection: Connection, key: VerifierKey) -> Checkpoint:
    reading = follow_log(key)
    path = next(reading)
    while True:
        try:
            path = reading.send(await _part(connection, path))
        except StopIteration as ended:
            checkpoint: Checkpoint = ended.value.checkpoint
            return checkpoint


async def _part(connection: Connection, path: str) -> bytes:
    """What the log serves at the path."""
    if path == CHECKPOINT_PATH:
        newest = await log.latest_checkpoint(connection)
        return newest.note.encode() if newest else b""
    part = parse_tile_path(path)
    if isinstance(part, Bundle):
        return encode_bundle(await log.read_bodies(connection, part.first, part.width))
    return b"".join(await _hashes(connection, part.run))


async def _hashes(connection: Connection, run: HashRun) -> list[bytes]:
    return await log.read_hashes(connection, run.level, run.first, run.count)


async def _prove(connection: Connection, index: int, size: int) -> None:
    runs = {run: await _hashes(connection, run) for run in inclusion_runs(index, size)}
    prove_inclusion(index, size, runs.__getitem__)
