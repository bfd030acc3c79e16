"""`bench attacks`: what honest clients notice of strangers who ask without end.

An operator searches at a steady pace, alone and beside each attack of the review:
searches at full speed, idle connections, event streams, statements with worthless
signatures; an auditor asks for the report, alone and beside strangers who ask for reports
of ever other windows; owners register sites, alone and beside a stranger's statements for
hosts that drip. Strangers have a process and addresses of their own. Each attack
is held against the quiet time just before it, so that only ratios are told from them.
"""

import asyncio
import json
import time
import urllib.request
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

from registry.bench.figures import tell_figures
from registry.bench.load import Latencies, drive
from registry.bench.scratch import (
    database_url,
    in_process,
    scratch_folder,
    scratch_postgres,
)
from registry.bench.service import (
    PreparedService,
    build_index,
    path_of,
    prepare,
    serving,
)
from registry.bench.strangers.drips import owners_beside_drips, state_for_drips
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.ports import verify_port_is_free
from registry.client import RegistryClient
from registry.identity.keys.private_keys import generate_private_key, public_key_of
from registry.identity.statements.jws import OPERATOR_TYP, sign_compact
from registry.observability import configure_logging
from registry.process import raise_file_limit
from registry.settings import Settings
from registry.strict_json import JsonValue
from registry.terminal.output import json_option, print_progress
from registry.tlog.note import NoteAlgorithm, VerifierKey, format_vkey

PORT = 8193
OPERATOR_CONNECTIONS, OPERATOR_EVERY_S = 4, 0.1
REPORT_EVERY_S = 5.0
FLOODERS = 64
STRANGERS = 12
HELD, SOURCES = 1_100, 100
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"
STREAM = b"GET /v1/changes/events HTTP/1.1\r\nHost: a\r\n\r\n"
STRANGERS_HOST, PADDING = "stranger-of-the-bench.net", 11_000
"""A statement has 16 KiB at most, of base64."""
ASKING, REGISTRATION = (
    ("search", "idle", "stream", "statement", "report"),
    "registration",
)
"""Attacks on who asks, and on who registers."""
START_S = 2.0
LIFETIME_S, DAY_S = 600, 86_400

Honest = Callable[[], Awaitable[Latencies]]
Attack = Callable[[float], tuple[int, int]]


@click.command()
@click.option("--sites", type=click.IntRange(min=1_000), default=20_000)
@click.option("--seconds", type=float, default=30.0, show_default=True)
@click.option(
    *("--attack", "chosen"),
    type=click.Choice((*ASKING, REGISTRATION)),
    multiple=True,
    help="Only this one; may be repeated.",
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True)
@click.option(
    "--limits", type=float, default=1.0, help="Times those of docs/limits.md."
)
@click.option("--port", type=int, default=PORT, show_default=True)
@click.option(
    *("--keep", "data"),
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder to make the registry in, or where it lies from the last time.",
)
@json_option
def attacks(data: Path | None, *, as_json: bool, **given: Any) -> None:
    """Searches, reports and registrations, alone and beside strangers."""
    with scratch_folder(data) as folder:
        figures = asyncio.run(_measure(folder, **given))
    tell_figures(figures, as_json=as_json)


async def _measure(
    folder: Path,
    *,
    sites: int,
    seconds: float,
    workers: int,
    limits: float,
    port: int,
    chosen: Sequence[str],
) -> dict[str, Any]:
    key = generate_private_key("Ed25519")
    auditor = VerifierKey(
        name="auditor.test",
        algorithm=NoteAlgorithm.ED25519,
        public=public_key_of(key).raw,
    )
    settings = settings_or_exit(
        port=port,
        data=folder,
        workers=workers,
        database_url="",
        limits=limits,
        auditors=format_vkey(auditor),
    )
    configure_logging("json")
    verify_port_is_free(settings.host, settings.port)
    figures: dict[str, Any] = {}
    if set(chosen or ASKING) & set(ASKING):
        with scratch_postgres(folder) as server:
            settings_here = replace(settings, database_url=database_url(server))
            prepared = await prepare(settings_here, sites, print_progress)
            await build_index(settings_here)
            async with serving(settings_here):
                keys = [await _register(settings, key), await _register(settings, None)]
                load = _Load(settings.origin, prepared, keys, seconds)
                figures = await load.run([name for name in chosen if name in ASKING])
    if REGISTRATION in (chosen or (REGISTRATION,)):
        figures |= await _registrations(settings, seconds)
    return figures


async def _registrations(settings: Settings, seconds: float) -> dict[str, Any]:
    """Measure in a registry of its own, which has a crawler."""
    with scratch_folder() as folder:
        async with owners_beside_drips(
            replace(settings, data=folder), seconds
        ) as owners:
            await owners.register()  # the first visit of each site takes longer
            attack = partial(state_for_drips, settings.origin, seconds + START_S)
            return await _beside(
                REGISTRATION, owners.register, partial(in_process, attack)
            )


async def _register(settings: Settings, key: Any) -> str:
    """Return the header with the API key of a new operator. key: None: any."""
    private = key or generate_private_key("Ed25519")
    public, now = public_key_of(private), int(time.time())
    jwk: dict[str, JsonValue] = {**public.jwk}
    payload: dict[str, JsonValue] = {
        "aud": settings.origin,
        "sub": public.kid,
        "iat": now,
        "exp": now + LIFETIME_S,
        "act": "register",
        "jwk": jwk,
        "name": "bench",
        "contact": "mailto:bench@example.com",
        "api_key": True,
    }
    token = sign_compact(payload, private, typ=OPERATOR_TYP)
    async with RegistryClient(settings.origin) as client:
        answer = await client.state("/v1/operators", token)
    return f"Authorization: Bearer {answer['apiKey']}\r\n"


class _Load:
    """keys: headers of the auditor and of the operator."""

    def __init__(
        self,
        origin: str,
        prepared: PreparedService,
        keys: Sequence[str],
        seconds: float,
    ) -> None:
        self._origin = origin
        self._paths = [path_of(*request) for request in prepared.requests]
        self._auditor, self._operator = keys
        self._seconds = seconds

    async def run(self, chosen: Sequence[str]) -> dict[str, Any]:
        """chosen: names of attacks; empty: all."""
        await self._searches()  # warms up, and leaves rankings to report on
        seconds = self._seconds + START_S
        attacks: dict[str, tuple[Honest, Attack]] = {
            "search": (self._searches, partial(_flood, self._origin, self._paths)),
            "idle": (self._searches, partial(_hold, self._origin, HALF_A_HEAD)),
            "stream": (self._searches, partial(_hold, self._origin, STREAM)),
            "statement": (self._searches, partial(_state, self._origin)),
            "report": (self._reports, partial(_crowd, self._origin)),
        }
        figures: dict[str, Any] = {}
        for name in chosen or attacks:
            honest, attack = attacks[name]
            figures |= await _beside(name, honest, partial(in_process, attack, seconds))
        return figures

    async def _searches(self) -> Latencies:
        return await drive(
            self._origin,
            self._paths,
            connections=OPERATOR_CONNECTIONS,
            duration_s=self._seconds,
            header=self._operator,
            every_s=OPERATOR_EVERY_S,
        )

    async def _reports(self) -> Latencies:
        return await drive(
            self._origin,
            ["/v1/reports/fairness"],
            connections=1,
            duration_s=self._seconds,
            header=self._auditor,
            every_s=REPORT_EVERY_S,
        )


async def _beside(
    name: str, honest: Honest, attack: Callable[[], tuple[int, int]]
) -> dict[str, Any]:
    quiet = await honest()
    attacking = asyncio.create_task(asyncio.to_thread(attack))
    await asyncio.sleep(START_S)  # of a process
    attacked = await honest()
    answered, refused = await attacking
    ratio = attacked.percentile_ms(0.99) / quiet.percentile_ms(0.99)
    return {
        **_figures(name, quiet),
        **_figures(f"attacked_{name}", attacked),
        f"{name}_p99_ratio": round(ratio, 2),
        f"{name}_strangers_answered": answered,
        f"{name}_strangers_refused": refused,
    }


def _figures(name: str, latencies: Latencies) -> dict[str, Any]:
    return {
        f"{name}_answers": len(latencies.seconds),
        f"{name}_failures": latencies.failures,
        f"{name}_p50_ms": round(latencies.percentile_ms(0.5), 1),
        f"{name}_p99_ms": round(latencies.percentile_ms(0.99), 1),
    }


def _flood(origin: str, paths: Sequence[str], seconds: float) -> tuple[int, int]:
    """Search at full speed from one address; return answers and refusals."""
    latencies = asyncio.run(
        drive(
            origin,
            paths[::-1],
            connections=FLOODERS,
            duration_s=seconds,
            source="127.0.0.2",
        )
    )
    return len(latencies.seconds), latencies.refused


def _hold(origin: str, beginning: bytes, seconds: float) -> tuple[int, int]:
    """Open connections that say no more than a beginning; return those held, and ended."""
    raise_file_limit(2 * HELD)
    address = urlsplit(origin)

    async def hold(number: int) -> bool:
        source = (f"127.0.2.{number % SOURCES + 1}", 0)
        try:
            reader, writer = await asyncio.open_connection(
                address.hostname, address.port, local_addr=source
            )
            writer.write(beginning)
            async with asyncio.timeout(seconds):
                while await reader.read(4_096):
                    pass
        except TimeoutError:
            return True
        except OSError:
            pass
        return False

    async def hold_all() -> list[bool]:
        return await asyncio.gather(*map(hold, range(HELD)))

    held = sum(asyncio.run(hold_all()))
    return held, HELD - held


def _state(origin: str, seconds: float) -> tuple[int, int]:
    """Send statements of full size that the site has not signed; return taken, refused."""
    challenge = urllib.request.Request(  # noqa: S310 — our own
        f"{origin}/v1/challenges",
        json.dumps({"host": STRANGERS_HOST}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(challenge) as answer:  # noqa: S310 — our own
        payload = json.load(answer)["payload"]
    payload |= {
        "docs": [{"url": f"https://{STRANGERS_HOST}/agent-bridge.json"}],
        "iat": int(time.time()),
        "exp": int(time.time()) + LIFETIME_S,
        "pad": "x" * PADDING,
    }
    latencies = asyncio.run(
        drive(
            origin,
            ["/v1/registrations"],
            connections=FLOODERS,
            duration_s=seconds,
            header="Content-Type: application/jose\r\n",
            source="127.0.0.3",
            body=sign_compact(payload, generate_private_key("Ed25519")).encode(),
        )
    )
    return latencies.failures - latencies.refused, latencies.refused


def _crowd(origin: str, seconds: float) -> tuple[int, int]:
    """Ask for reports from many addresses, each time of another window."""

    async def ask(number: int) -> Latencies:
        day_ago = time.time() - DAY_S
        starts = [time.gmtime(day_ago - second) for second in range(3_600)]
        paths = [
            time.strftime("/v1/reports/fairness?from=%Y-%m-%dT%H:%M:%SZ", start)
            for start in starts
        ]
        source = f"127.0.1.{number}"
        return await drive(
            origin, paths, connections=1, duration_s=seconds, source=source
        )

    async def all_of_them() -> list[Latencies]:
        return await asyncio.gather(*map(ask, range(STRANGERS)))

    crowd = asyncio.run(all_of_them())
    return (
        sum(len(latencies.seconds) for latencies in crowd),
        sum(latencies.refused for latencies in crowd),
    )
