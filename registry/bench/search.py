"""`bench search`: ranked answers from the socket to the durable record.

The real service, but for its crawlers, over a synthetic registry; all on this machine, the
load generator too. Before it starts, the indexer builds the index from the database.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click
import psutil

from registry.bench import table_sizes
from registry.bench.figures import tell_figures
from registry.bench.load import Latencies, drive
from registry.bench.scratch import (
    postgres_cpu_s,
    scratch_folder,
)
from registry.bench.service import (
    LIMIT,
    PreparedService,
    build_index,
    memory_mb,
    path_of,
    prepare,
    scratch_service,
    serving,
)
from registry.db.engine.embedded import EmbeddedPostgres
from registry.db.engine.engines import Engine, engine_at
from registry.db.log import entries as log
from registry.ranking.rank_score import SHOWN
from registry.terminal.output import json_option, print_progress

PORT = 8191
CHECKED = 50
WARM_UP_S = 3.0
DRAIN_S = 60.0
WATCH_PAUSE_S = 0.1
DETAILS = ("full", "brief")
_STORED = ("entry", "ranking")


@click.command()
@click.option("--sites", type=click.IntRange(min=1_000), default=20_000)
@click.option("--seconds", type=float, default=20.0, show_default=True)
@click.option("--connections", type=click.IntRange(min=1), default=8)
@click.option("--workers", type=click.IntRange(min=1), default=2)
@click.option("--port", type=int, default=PORT, show_default=True)
@click.option(
    "--turns",
    type=int,
    default=0,
    help="Turns of both details, full and brief, after that; each a fifth as long.",
)
@click.option(
    *("--keep", "data"),
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to make the registry in, or where it lies from the last time.",
)
@json_option
def search(data: Path | None, *, as_json: bool, **given: Any) -> None:
    """Searches of synthetic sites, answered once their records are durable.

    Ends with exit code 1 if an answer fails, or one is not on record.
    """
    with scratch_folder(data) as folder:
        figures = asyncio.run(_Bench(folder=folder, **given).measure())
    tell_figures(figures, as_json=as_json)
    if figures["failures"] or figures["unrecorded"]:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    folder: Path
    sites: int
    seconds: float
    connections: int
    workers: int
    port: int
    turns: int

    async def measure(self) -> dict[str, Any]:
        service = scratch_service(self.folder, port=self.port, workers=self.workers)
        with service as (settings, server):
            prepared = await prepare(settings, self.sites, print_progress)
            indexed = await build_index(settings)
            started = time.perf_counter()
            async with (
                engine_at(settings.database_url, pool=2) as owner,
                serving(settings),
            ):
                ready_s = round(time.perf_counter() - started, 1)
                figures = await self._load(settings.origin, server, owner, prepared)
                figures |= await self._compare_details(
                    settings.origin, server, prepared
                )
                return {
                    **figures,
                    "ready_s": ready_s,
                    "web_mb": _web_mb(),
                    "index_built": indexed and asdict(indexed),
                }

    async def _load(
        self,
        origin: str,
        server: EmbeddedPostgres,
        owner: Engine,
        prepared: PreparedService,
    ) -> dict[str, Any]:
        paths = [path_of(*request) for request in prepared.requests]
        checked = await asyncio.to_thread(_check, origin, paths[:CHECKED])
        fresh = paths[CHECKED:]
        await self._drive(origin, fresh[::-1], WARM_UP_S)
        await drained(owner)
        before = await rankings_on_record(owner)
        spent = _CpuTimes.now(server)
        latencies = await self._drive(origin, fresh, self.seconds)
        figures = {
            "sites": self.sites,
            "connections": self.connections,
            "workers": self.workers,
            "rps": round(latencies.per_second),
            "p50_ms": round(latencies.percentile_ms(0.5), 2),
            "p99_ms": round(latencies.percentile_ms(0.99), 2),
            "answers": len(latencies.seconds),
            "failures": latencies.failures,
            "fewer_than_limit": latencies.incomplete,
            "checked": checked,
            "cpu_ms": spent.since(server, len(latencies.seconds)),
            "drain_s": round(await drained(owner), 1),
        }
        rankings = await rankings_on_record(owner)
        return {
            **figures,
            "unrecorded": len(latencies.seconds) - (rankings - before),
            "bytes_per_ranking": round(await _bytes(owner) / max(1, rankings)),
        }

    async def _compare_details(
        self, origin: str, server: EmbeddedPostgres, prepared: PreparedService
    ) -> dict[str, Any]:
        """Return the medians of the turns, of searches for ten results in either detail."""
        columns: dict[str, list[float]] = {}
        paths = [path_of(*request) for request in prepared.requests]
        for turn in range(2 * self.turns):
            detail = DETAILS[turn % 2]
            targets = [f"{path}&detail={detail}" for path in paths]
            targets = [path.replace(f"limit={LIMIT}", "limit=10") for path in targets]
            spent = _CpuTimes.now(server)
            latencies = await self._drive(origin, targets, self.seconds / 5, b"")
            cpu_ms = spent.since(server, len(latencies.seconds))
            for name, figure in (
                ("rps", latencies.per_second),
                ("web_cpu_ms", cpu_ms["web"]),
                ("cpu_ms", sum(cpu_ms.values())),
                ("failures", latencies.failures),
            ):
                columns.setdefault(f"{detail}_{name}", []).append(figure)
        return {name: round(median(column), 3) for name, column in columns.items()}

    async def _drive(
        self,
        origin: str,
        paths: Sequence[str],
        seconds: float,
        expected: bytes = f'"rank":{LIMIT},'.encode(),
    ) -> Latencies:
        return await drive(
            origin,
            paths,
            connections=self.connections,
            duration_s=seconds,
            expected=expected,
        )


def _check(origin: str, paths: Sequence[str]) -> int:
    """Read answers through; return how many have results. Raises: click.ClickException."""
    answered = 0
    for path in paths:
        with urllib.request.urlopen(origin + path) as answer:  # noqa: S310 — our own
            results = json.load(answer)["results"]
        scores = [SHOWN.shown_score(result["score"]) for result in results]
        in_order = scores == sorted(scores, reverse=True)
        ranks = [result["rank"] for result in results] == list(
            range(1, len(results) + 1)
        )
        sums = all(
            result["score"]
            == sum(factor["contribution"] for factor in result["factors"].values())
            for result in results
        )
        if not (in_order and ranks and sums):
            raise click.ClickException(f"a wrong answer to {path}")
        answered += bool(results)
    if not answered:
        raise click.ClickException(f"no results for any of {len(paths)} requests")
    return answered


# --- effort ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CpuTimes:
    """Seconds of CPU of each part until now."""

    parts: dict[str, float]

    @classmethod
    def now(cls, server: EmbeddedPostgres) -> "_CpuTimes":
        parts = {"load": _own_s(psutil.Process()), "postgres": postgres_cpu_s(server)}
        for child in psutil.Process().children(recursive=True):
            name = _part_of(child)
            if name is not None:
                parts[name] = parts.get(name, 0.0) + _own_s(child)
        return cls(parts)

    def since(self, server: EmbeddedPostgres, answers: int) -> dict[str, float]:
        """Return milliseconds an answer, by part."""
        now = _CpuTimes.now(server).parts
        return {
            name: round(1000 * (spent - self.parts.get(name, 0.0)) / max(1, answers), 3)
            for name, spent in now.items()
        }


def _web_mb() -> dict[str, list[int]]:
    """Return the memory of each web process, the parent of workers among them."""
    children = psutil.Process().children(recursive=True)
    sizes = [memory_mb(child) for child in children if _part_of(child) == "web"]
    return {
        "own": [own for own, _ in sizes],
        "mapped": [mapped for _, mapped in sizes],
    }


def _own_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _part_of(process: psutil.Process) -> str | None:
    try:
        arguments = " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return None
    for name, mark in (
        ("web", "granian"),
        ("web", "multiprocessing"),
        ("publisher", "registry.publisher"),
        ("indexer", "registry.indexer"),
    ):
        if mark in arguments:
            return name
    return None


async def drained(owner: Engine) -> float:
    """Wait until the sequencer has logged all records; return the seconds."""
    started = time.perf_counter()
    while time.perf_counter() - started < DRAIN_S:
        async with owner.connect() as connection:
            if (await log.read_times(connection)).oldest_pending is None:
                break
        await asyncio.sleep(WATCH_PAUSE_S)
    return time.perf_counter() - started


async def rankings_on_record(owner: Engine) -> int:
    async with owner.connect() as connection:
        return (await table_sizes.count_records(connection)).get("ranking", 0)


async def _bytes(owner: Engine) -> int:
    async with owner.connect() as connection:
        sizes = await table_sizes.table_bytes(connection)
    return sum(sizes.get(name, 0) for name in _STORED)
