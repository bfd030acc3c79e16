"""`bench wab`: WebSocket sessions and HTTP clients of the WAB bridge, all at once.

Each opens a session and sends one command after the other; nothing is refused, as the
limits are lifted. Then a flood over both transports is held against the declared limit.

What is judged is right on a machine of any speed: of all sessions no more commands are
under way than are answered in a part of the time that the bridge gives each, and what the
flood may get is known as closely as the instant of a refusal is.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from registry.bench.bridge.wab_clients import BridgeClient, HttpClient, SocketClient
from registry.bench.figures import tell_figures
from registry.bench.scratch import scratch_folder
from registry.bench.search import drained, rankings_on_record
from registry.bench.service import build_index, prepare, scratch_service, serving
from registry.db.engine.engines import engine_at
from registry.interfaces.http.bucket_table import Quota
from registry.interfaces.http.limits import HOLD_UP_S, LIMITS, Kind
from registry.interfaces.wab.dispatcher import TIMEOUT_S
from registry.terminal.output import json_option, print_progress

PORT = 8193
FLOOD_CLIENTS = 4
WAIT_S = TIMEOUT_S / 4
"""Wait of a command, in seconds, for those before it."""
FIRST_UNDER_WAY = 16


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


class Gate:
    """Gate that lets as many be under way at once as ended within the last WAIT_S seconds.

    So each waits about that long (Little's law), however slow the machine is.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.most = self._under_way = 0
        self._clock = clock
        self._ends: deque[float] = deque()
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def passed(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: self._under_way < self._allowed())
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        try:
            yield
        finally:
            async with self._changed:
                self._under_way -= 1
                self._ends.append(self._clock())
                self._changed.notify(2)

    def _allowed(self) -> int:
        since = self._clock() - WAIT_S
        while self._ends and self._ends[0] < since:
            self._ends.popleft()
        return max(FIRST_UNDER_WAY, len(self._ends))


class Ping(NamedTuple):
    """Message of a flood. code: of its error, or "success"."""

    sent_at: float
    ended_at: float
    code: str


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
        service = scratch_service(self.folder, port=self.port, workers=self.workers)
        with service as (settings, _):
            prepared = await prepare(settings, self.sites, print_progress)
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
        tally, gate = _Tally(), Gate()
        ready = asyncio.Barrier(self.sockets + self.clients)
        kinds: list[type[BridgeClient]] = [SocketClient] * self.sockets
        kinds += [HttpClient] * self.clients

        async def converse(number: int, kind: type[BridgeClient]) -> None:
            async with kind.connected(origin) as client:
                async with gate.passed():
                    await client.call("wab.authenticate", {})
                await ready.wait()
                ends_at = time.perf_counter() + self.seconds
                turn = number
                while time.perf_counter() < ends_at:
                    turn += 1
                    data = {"q": requests[turn % len(requests)], "limit": 3}
                    params = {"name": "searchSites", "data": data}
                    async with gate.passed():
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
            "most_under_way": gate.most,
            "commands": tally.commands,
            "errors": sum(tally.errors.values()),
            "error_kinds": dict(tally.errors),
            "median_ms": tally.percentile_ms(0.5),
            "p99_ms": tally.percentile_ms(0.99),
            "elapsed_s": round(time.perf_counter() - started, 1),
        }

    async def _flood(self, origin: str) -> dict[str, Any]:
        """Count what one network gets, over both transports and all processes."""
        pings: list[Ping] = []

        async def send(kind: type[BridgeClient]) -> None:
            async with kind.connected(origin) as client:
                ends_at = time.perf_counter() + self.flood_seconds
                while (sent_at := time.perf_counter()) < ends_at:
                    with suppress(EOFError, ConnectionError):
                        reply = await client.call("wab.ping", {})
                        code = reply.get("error", {}).get("code", "success")
                        pings.append(Ping(sent_at, time.perf_counter(), code))
                        continue
                    await client.reconnect()

        kinds: list[type[BridgeClient]] = [SocketClient, HttpClient]
        kinds *= FLOOD_CLIENTS
        await asyncio.gather(*(send(kind) for kind in kinds))
        return held_against(LIMITS[Kind.MESSAGE].anonymous, pings)


def held_against(quota: Quota, pings: Sequence[Ping]) -> dict[str, Any]:
    """Compare what was let through until the last refusal, when nothing was left.

    Both instants are known to the length of an exchange: the first message's, from which
    on tokens come back, and the refusal's, which is held up afterwards. What is missed is
    missed whatever they were within that.

    Raises: ValueError where nothing was refused, so that nothing was a flood.
    """
    first = min(pings)
    last = max((ping for ping in pings if ping.code == "RATE_LIMITED"), default=None)
    if last is None:
        raise ValueError(f"{len(pings)} messages, and none was refused")
    refused_by = max(last.sent_at, last.ended_at - HOLD_UP_S)
    taken = [ping for ping in pings if ping.code == "success"]
    least_taken = sum(ping.ended_at <= last.sent_at for ping in taken)
    most_taken = sum(ping.sent_at <= refused_by for ping in taken)
    least = quota.burst + quota.per_s * max(0.0, last.sent_at - first.ended_at) - 1
    most = quota.burst + quota.per_s * (refused_by - first.sent_at)
    too_many, too_few = least_taken - most, most_taken - least
    missed = max(too_many, 0.0) + min(too_few, 0.0)
    return {
        "flood_taken": most_taken,
        "flood_refused": len(pings) - len(taken),
        "flood_declared": round(most, 1),
        "limit_missed_percent": round(100 * missed / most, 2),
        "limit_known_to_percent": round(100 * (most - least) / most, 2),
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
