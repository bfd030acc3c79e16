"""`bench wab`: WebSocket sessions and HTTP clients of the WAB bridge, all at once.

Each opens a session and sends one command after the other; nothing is refused, as the
limits are lifted. Then a flood over both transports is held against the declared limit.
"""

import asyncio
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from registry.bench.bridge.wab_clients import BridgeClient, HttpClient, SocketClient
from registry.bench.scratch import database_url, scratch_folder, scratch_postgres
from registry.bench.search import drained, rankings_on_record
from registry.bench.service import UNLIMITED, build_index, prepare, serving
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.ports import verify_port_is_free
from registry.db.engine.engines import engine_at
from registry.interfaces.http.limits import LIMITS, Kind
from registry.observability import configure_logging
from registry.terminal.output import json_option, tell, tell_figures

PORT = 8193
MINUTE_S = 60.0
FLOOD_CLIENTS = 4


@click.command()
@click.option("--sites", type=click.IntRange(min=1_000), default=20_000)
@click.option("--sockets", type=click.IntRange(min=1), default=500)
@click.option("--clients", type=click.IntRange(min=1), default=64)
@click.option("--seconds", type=float, default=20.0, show_default=True)
@click.option("--flood-seconds", type=float, default=20.0, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=2)
@click.option("--port", type=int, default=PORT, show_default=True)
@json_option
def wab(*, as_json: bool, **given: Any) -> None:
    """Sessions of the WAB bridge at once, and what a flood gets of its limit.

    Ends with exit code 1 if a command fails, a search is not on record once, or the limit
    is missed by more than 1%.
    """
    with scratch_folder(None) as folder:
        figures = asyncio.run(_Bench(folder=folder, **given).measure())
    tell_figures(figures, as_json=as_json)
    is_whole = not (figures["errors"] or figures["unrecorded"])
    if not is_whole or abs(figures["limit_missed_percent"]) > 1:
        raise SystemExit(1)


@dataclass(slots=True)
class _Tally:
    commands: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def percentile_ms(self, share: float) -> float:
        ranked = sorted(self.seconds) or [float("nan")]
        return round(1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))], 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    folder: Path
    sites: int
    sockets: int
    clients: int
    seconds: float
    flood_seconds: float
    workers: int
    port: int

    async def measure(self) -> dict[str, Any]:
        settings = settings_or_exit(
            port=self.port,
            data=self.folder,
            workers=self.workers,
            database_url="",
            limits=UNLIMITED,
        )
        configure_logging("json")
        verify_port_is_free(settings.host, settings.port)
        with scratch_postgres(self.folder) as server:
            settings = replace(settings, database_url=database_url(server))
            prepared = await prepare(settings, self.sites, tell)
            await build_index(settings)
            requests = [words for words, _ in prepared.requests[:1_000]]
            async with (
                serving(settings),
                engine_at(settings.database_url, pool=1) as owner,
            ):
                before = await rankings_on_record(owner)
                load = await self._load(settings.origin, requests)
                await drained(owner)
                recorded = await rankings_on_record(owner) - before
                load["unrecorded"] = load["commands"] - load["errors"] - recorded
            async with serving(replace(settings, limits=1.0)):
                flood = await self._flood(settings.origin)
        return {**load, **flood}

    async def _load(self, origin: str, requests: list[str]) -> dict[str, Any]:
        """All hold a session at the same time; who is ready waits for the others."""
        tally, ready = _Tally(), asyncio.Barrier(self.sockets + self.clients)
        kinds: list[type[BridgeClient]] = [SocketClient] * self.sockets
        kinds += [HttpClient] * self.clients

        async def converse(number: int, kind: type[BridgeClient]) -> None:
            async with kind.connected(origin) as client:
                await client.call("wab.authenticate", {})
                await ready.wait()
                ends_at = time.perf_counter() + self.seconds
                turn = number
                while time.perf_counter() < ends_at:
                    turn += 1
                    data = {"q": requests[turn % len(requests)], "limit": 3}
                    params = {"name": "searchSites", "data": data}
                    await _timed(client, "wab.executeAction", params, tally)

        started = time.perf_counter()
        outcomes = await asyncio.gather(
            *(converse(number, kind) for number, kind in enumerate(kinds)),
            return_exceptions=True,
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                tally.errors[type(outcome).__name__] += 1
        return {
            "sockets": self.sockets,
            "http_clients": self.clients,
            "commands": tally.commands,
            "errors": sum(tally.errors.values()),
            "error_kinds": dict(tally.errors),
            "median_ms": tally.percentile_ms(0.5),
            "p99_ms": tally.percentile_ms(0.99),
            "elapsed_s": round(time.perf_counter() - started, 1),
        }

    async def _flood(self, origin: str) -> dict[str, Any]:
        """Count what one network gets, over both transports and all processes."""
        quota = LIMITS[Kind.MESSAGE].anonymous
        counts: Counter[str] = Counter()
        span: list[float] = []

        async def send(kind: type[BridgeClient]) -> None:
            async with kind.connected(origin) as client:
                ends_at = time.perf_counter() + self.flood_seconds
                while time.perf_counter() < ends_at:
                    with suppress(EOFError, ConnectionError):
                        reply = await client.call("wab.ping", {})
                        counts[reply.get("error", {}).get("code", "success")] += 1
                        span.append(time.perf_counter())
                        continue
                    await client.reconnect()

        kinds: list[type[BridgeClient]] = [SocketClient, HttpClient]
        kinds *= FLOOD_CLIENTS
        await asyncio.gather(*(send(kind) for kind in kinds))
        declared = quota.burst + quota.per_s * (span[-1] - span[0])
        missed = 100 * (counts["success"] - declared) / declared
        return {
            "flood_taken": counts["success"],
            "flood_refused": counts["RATE_LIMITED"],
            "flood_declared": round(declared, 1),
            "limit_missed_percent": round(missed, 2),
        }


async def _timed(
    client: BridgeClient, method: str, params: dict[str, Any], tally: _Tally
) -> None:
    started = time.perf_counter()
    reply = await client.call(method, params)
    tally.seconds.append(time.perf_counter() - started)
    tally.commands += 1
    if reply["type"] != "success":
        tally.errors[reply["error"]["code"]] += 1
