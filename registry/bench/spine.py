"""`bench spine`: registration and search on the demo town, over sockets."""

import asyncio
import time
from typing import Any
from urllib.parse import urlencode

import click

from registry.bench.figures import tell_figures
from registry.bench.load import Latencies, drive
from registry.bench.scratch import scratch_folder
from registry.bench.service import UNLIMITED
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.serve import running_service, until_ready
from registry.cli.town import beside_town, register_site
from registry.client import RegistryClient
from registry.demo.requests import OTHERS, SHOWN
from registry.demo.town.server import Town
from registry.observability import configure_logging
from registry.settings import Settings
from registry.terminal.output import json_option

PORT = 8190
CONNECTIONS = 8


@click.command()
@click.option("--seconds", type=float, default=10.0, show_default=True)
@click.option("--port", type=int, default=PORT, show_default=True)
@json_option
def spine(seconds: float, port: int, *, as_json: bool) -> None:
    """Registration and search on the demo town, from socket to durable record."""
    with scratch_folder() as folder:
        settings = settings_or_exit(
            port=port,
            data=folder,
            allow_loopback=True,
            database_url="",
            limits=UNLIMITED,
        )
        configure_logging("json")
        figures = asyncio.run(_measure(settings, seconds))
    tell_figures(figures, as_json=as_json)
    if figures["failures"]:
        raise SystemExit(1)


async def _measure(settings: Settings, seconds: float) -> dict[str, Any]:
    town = Town.build(settings.data / "town")
    async with town.open():
        settings = beside_town(settings, town)
        started = time.perf_counter()
        async with running_service(settings) as service:
            await until_ready(service.origin)
            ready_s = time.perf_counter() - started
            waits = await _register(service.origin, town)
            return {
                "ready_s": round(ready_s, 2),
                **_seconds("register", waits),
                **await _load(service.origin, seconds),
            }


async def _register(origin: str, town: Town) -> list[float]:
    """Seconds from submission to decision, one site after the other; honest sites."""
    waits = []
    async with RegistryClient(origin) as client:
        for site in town.sites:
            if site.story == "honest":
                decided, seconds = await register_site(client, town, site)
                if decided["status"] == "active":
                    waits.append(seconds)
    return waits


async def _load(origin: str, seconds: float) -> dict[str, Any]:
    """The same connections ask for a bare answer and for ranked, recorded ones."""
    paths = [f"/v1/search?{urlencode(query)}" for query in (*SHOWN, *OTHERS)]
    await drive(origin, paths, connections=1, duration_s=min(1.0, seconds))
    floor = await drive(origin, ["/health/live"], connections=1, duration_s=seconds / 4)
    alone = await drive(origin, paths, connections=1, duration_s=seconds / 2)
    many = await drive(origin, paths, connections=CONNECTIONS, duration_s=seconds / 2)
    return {
        "floor_p50_ms": round(floor.percentile_ms(0.5), 3),
        **_milliseconds("search", alone),
        "search_over_floor": round(
            alone.percentile_ms(0.5) / floor.percentile_ms(0.5), 2
        ),
        **_milliseconds(f"search_{CONNECTIONS}", many),
        "failures": floor.failures + alone.failures + many.failures,
    }


def _seconds(name: str, waits: list[float]) -> dict[str, Any]:
    ranked = sorted(waits)
    return {
        f"{name}_sites": len(ranked),
        f"{name}_p50_s": round(ranked[len(ranked) // 2], 3),
        f"{name}_max_s": round(ranked[-1], 3),
    }


def _milliseconds(name: str, latencies: Latencies) -> dict[str, Any]:
    return {
        f"{name}_per_s": round(latencies.per_second),
        f"{name}_p50_ms": round(latencies.percentile_ms(0.5), 2),
        f"{name}_p99_ms": round(latencies.percentile_ms(0.99), 2),
    }
