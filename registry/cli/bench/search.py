"""`bench search`: ranked answers from the socket to the durable record.

The real service, but for its crawlers, over a made-up registry; all on this machine, the
load generator too. Before it starts, the indexer builds the index from the database.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import click
import psutil

from registry.cli.bench.indexing import make_index, memory_mb
from registry.cli.bench.load import Latencies, drive
from registry.cli.bench.scratch import scratch_folder, scratch_postgres
from registry.cli.bench.search_corpus import (
    LIMIT,
    OtherSites,
    Prepared,
    path_of,
    prepare,
    serving,
)
from registry.cli.output import json_option, tell, tell_figures
from registry.cli.serve import verify_port_is_free
from registry.cli.settings import settings_or_exit
from registry.db import log, weight
from registry.db.embedded import EmbeddedPostgres
from registry.db.engine import Engine, engine_at
from registry.observability import configure_logging

PORT = 8191
CHECKED = 50
WARM_UP_S = 3.0
DRAIN_S = 60.0
WATCH_PAUSE_S = 0.1
_STORED = ("entry", "opening", "eligible_sample")


@click.command()
@click.option("--sites", type=click.IntRange(min=1_000), default=20_000)
@click.option("--seconds", type=float, default=20.0, show_default=True)
@click.option("--connections", type=click.IntRange(min=1), default=8)
@click.option("--workers", type=click.IntRange(min=1), default=2)
@click.option("--port", type=int, default=PORT, show_default=True)
@click.option(
    *("--keep", "data"),
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to make the registry in, or where it lies from the last time.",
)
@json_option
def search(data: Path | None, *, as_json: bool, **given: Any) -> None:
    """Searches of made-up sites, whose records are durable before they are answered.

    Ends with exit code 1 if an answer fails, or one is not on record.
    """
    with scratch_folder(data) as folder:
        try:
            found = asyncio.run(_Bench(folder=folder, **given).measure())
        except OtherSites as other:
            raise click.ClickException(f"{folder}: {other}") from other
    tell_figures(found, as_json=as_json)
    if found["failures"] or found["unrecorded"]:
        raise SystemExit(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    folder: Path
    sites: int
    seconds: float
    connections: int
    workers: int
    port: int

    async def measure(self) -> dict[str, Any]:
        settings = settings_or_exit(
            port=self.port,
            data=self.folder,
            workers=self.workers,
            database_url="",
        )
        configure_logging("json")
        verify_port_is_free(settings.host, settings.port)
        with scratch_postgres(self.folder) as server:
            url = server.url().render_as_string(hide_password=False)
            settings = replace(settings, database_url=url)
            prepared = await prepare(settings, self.sites, tell)
            indexed = await make_index(settings)
            started = time.perf_counter()
            async with engine_at(url, pool=2) as owner, serving(settings):
                ready_s = round(time.perf_counter() - started, 1)
                found = await self._load(settings.origin, server, owner, prepared)
                return {
                    **found,
                    "ready_s": ready_s,
                    "web_mb": _web_mb(),
                    "index_built": indexed and asdict(indexed),
                }

    async def _load(
        self, origin: str, server: EmbeddedPostgres, owner: Engine, prepared: Prepared
    ) -> dict[str, Any]:
        paths = [path_of(*request) for request in prepared.requests]
        checked = await asyncio.to_thread(_check, origin, paths[:CHECKED])
        fresh = paths[CHECKED:]
        await self._drive(origin, fresh[::-1], WARM_UP_S)
        await _drained(owner)
        before = await _rankings(owner)
        spent = _Spent.now(server)
        found = await self._drive(origin, fresh, self.seconds)
        figures = {
            "sites": self.sites,
            "connections": self.connections,
            "workers": self.workers,
            "rps": round(found.per_second),
            "p50_ms": round(found.percentile_ms(0.5), 2),
            "p99_ms": round(found.percentile_ms(0.99), 2),
            "answers": len(found.seconds),
            "failures": found.failures,
            "fewer_than_limit": found.incomplete,
            "checked": checked,
            "cpu_ms": spent.since(server, len(found.seconds)),
            "drain_s": round(await _drained(owner), 1),
        }
        rankings = await _rankings(owner)
        return {
            **figures,
            "unrecorded": len(found.seconds) - (rankings - before),
            "bytes_per_ranking": round(await _bytes(owner) / max(1, rankings)),
        }

    async def _drive(
        self, origin: str, paths: Sequence[str], seconds: float
    ) -> Latencies:
        return await drive(
            origin,
            paths,
            connections=self.connections,
            duration_s=seconds,
            expected=f'"rank":{LIMIT},'.encode(),
        )


def _check(origin: str, paths: Sequence[str]) -> int:
    """How many answers were read through. Raises: AssertionError."""
    for path in paths:
        with urllib.request.urlopen(origin + path) as answer:  # noqa: S310 — our own
            told = json.load(answer)
        results = told["results"]
        scores = [one["score"] for one in results]
        in_order = scores == sorted(scores, reverse=True)
        ranks = [one["rank"] for one in results] == list(range(1, len(results) + 1))
        sums = all(
            one["score"]
            == sum(factor["contribution"] for factor in one["factors"].values())
            for one in results
        )
        if not (results and in_order and ranks and sums):
            raise click.ClickException(f"a wrong answer to {path}")
    return len(paths)


# --- what it took ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Spent:
    """Seconds of CPU of each part, so far."""

    parts: dict[str, float]

    @classmethod
    def now(cls, server: EmbeddedPostgres) -> "_Spent":
        parts = {"load": _own_s(psutil.Process()), "postgres": server.cpu_s()}
        for child in psutil.Process().children(recursive=True):
            name = _part_of(child)
            if name is not None:
                parts[name] = parts.get(name, 0.0) + _own_s(child)
        return cls(parts)

    def since(self, server: EmbeddedPostgres, answers: int) -> dict[str, float]:
        """Milliseconds an answer."""
        now = _Spent.now(server).parts
        return {
            name: round(1000 * (spent - self.parts.get(name, 0.0)) / max(1, answers), 3)
            for name, spent in now.items()
        }


def _web_mb() -> dict[str, list[int]]:
    """Of each web process, that before its fork too."""
    children = psutil.Process().children(recursive=True)
    found = [memory_mb(one) for one in children if _part_of(one) == "web"]
    return {
        "own": [own for own, _ in found],
        "mapped": [mapped for _, mapped in found],
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


async def _drained(owner: Engine) -> float:
    """Seconds until the sequencer has logged all that waits."""
    started = time.perf_counter()
    while time.perf_counter() - started < DRAIN_S:
        async with owner.connect() as connection:
            if not await log.count_pending(connection):
                break
        await asyncio.sleep(WATCH_PAUSE_S)
    return time.perf_counter() - started


async def _rankings(owner: Engine) -> int:
    async with owner.connect() as connection:
        return (await log.count_records(connection)).get("ranking", 0)


async def _bytes(owner: Engine) -> int:
    async with owner.connect() as connection:
        found = await weight.table_bytes(connection)
    return sum(found.get(name, 0) for name in _STORED)
