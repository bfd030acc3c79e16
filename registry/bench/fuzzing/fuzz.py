"""`bench fuzz`: spoiled requests at REST, ARD, MCP and the WAB bridge, over HTTP and WebSocket.

A fault is a status of 5xx, one that the OpenAPI document does not declare for the call,
an answer that does not come, or a connection that ends without one.
"""

import asyncio
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from registry.app import create_app
from registry.bench.bridge.wab_clients import SocketClient
from registry.bench.figures import tell_figures
from registry.bench.fuzzing.spoiled_requests import FuzzedRequest, Spoiler
from registry.bench.scratch import scratch_folder
from registry.bench.service import build_index, prepare, scratch_service, serving
from registry.interfaces.web.openapi import openapi_document
from registry.settings import Settings
from registry.terminal.output import json_option, print_progress

PORT, SITES = 8194, 2_000
PATIENCE_S = 60.0
FRAMES_SHARE = 10
"""Number of requests of which one goes over the WebSocket."""
MOST_TOLD = 20
ANY_CALL = frozenset({400, 404, 405})
NOT_IN_OPENAPI = ANY_CALL | {200, 202, 304, 401, 403, 406, 408, 409, 410, 413, 415, 429}
"""Statuses of what has a protocol or a document of its own: docs/wab.md, docs/mcp.md."""
_TEMPLATE = re.compile(r"\{[^}]+\}")
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)


@click.command()
@click.option("--requests", type=click.IntRange(min=1), default=100_000)
@click.option("--connections", type=click.IntRange(min=1), default=16)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=2)
@click.option("--port", type=int, default=PORT, show_default=True)
@json_option
def fuzz(*, as_json: bool, **given: Any) -> None:
    """Spoiled requests at all faces. Ends with exit code 1 if one is answered wrongly."""
    with scratch_folder(None) as folder:
        figures = asyncio.run(_Fuzz(folder=folder, **given).measure())
    tell_figures(figures, as_json=as_json)
    if figures["faults"]:
        raise SystemExit(1)


@dataclass(slots=True)
class _Outcome:
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")

    def note(
        self, what: str, elapsed_s: float, fault: str = "", request: str = ""
    ) -> None:
        self.statuses[what] += 1
        self.slowest = max(self.slowest, (round(elapsed_s, 2), request))
        if fault:
            self.faults.append(fault)


class Declared:
    """The statuses that the OpenAPI document has for each call."""

    def __init__(self) -> None:
        described = openapi_document(create_app(Settings()))
        self._rows = [
            (_pattern(path), method.upper(), frozenset(map(int, row["responses"])))
            for path, methods in described["paths"].items()
            for method, row in methods.items()
            if "responses" in row
        ]

    def allows(self, request: FuzzedRequest, status: int) -> bool:
        path = unquote(request.path.partition("?")[0])
        method = "GET" if request.method == "HEAD" else request.method
        rows = [row for row in self._rows if row[0].fullmatch(path)]
        declared = [statuses for _, known, statuses in rows if known == method]
        if declared:
            return status in frozenset({304, 404, 405, 431}).union(*declared)
        return status in (ANY_CALL if rows else NOT_IN_OPENAPI)


def _pattern(path: str) -> re.Pattern[str]:
    parts = map(re.escape, _TEMPLATE.split(path))
    return re.compile("[^/]+".join(parts), re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fuzz:
    folder: Path
    requests: int
    connections: int
    seed: int
    workers: int
    port: int

    async def measure(self) -> dict[str, Any]:
        service = scratch_service(self.folder, port=self.port, workers=self.workers)
        with service as (settings, _):
            await prepare(settings, SITES, print_progress)
            await build_index(settings)
            async with serving(settings):
                return await self._send_all(settings.origin)

    async def _send_all(self, origin: str) -> dict[str, Any]:
        outcome, declared = _Outcome(), Declared()
        frames = self.requests // FRAMES_SHARE
        spoiler = Spoiler(self.seed)
        requests = islice(spoiler.requests(), self.requests - frames)
        started = time.perf_counter()
        await asyncio.gather(
            *(
                _send_requests(origin, requests, declared, outcome)
                for _ in range(self.connections)
            ),
            _send_frames(origin, islice(Spoiler(-self.seed).frames(), frames), outcome),
        )
        return {
            "requests": sum(outcome.statuses.values()),
            "faults": len(outcome.faults),
            "first_faults": outcome.faults[:MOST_TOLD],
            "answers": dict(sorted(outcome.statuses.items())),
            "slowest_s": outcome.slowest[0],
            "slowest": outcome.slowest[1],
            "elapsed_s": round(time.perf_counter() - started, 1),
        }


async def _send_requests(
    origin: str,
    requests: Iterator[FuzzedRequest],
    declared: Declared,
    outcome: _Outcome,
) -> None:
    line = _Line(origin)
    for request in requests:
        started = time.perf_counter()
        text = f"{request.method} {request.path[:120]!r} {request.body[:120]!r}"
        try:
            async with asyncio.timeout(PATIENCE_S):
                status = await line.ask(request)
        except (OSError, EOFError, TimeoutError) as error:
            kind = type(error).__name__
            outcome.note(kind, time.perf_counter() - started, f"{kind}: {text}")
            line.close()
        else:
            is_fault = status >= 500 or not declared.allows(request, status)
            fault = f"{status}: {text} {dict(request.headers)}" if is_fault else ""
            elapsed_s = time.perf_counter() - started
            outcome.note(str(status), elapsed_s, fault, request=text)


class _Line:
    """A keep-alive connection, opened anew where the server has ended it."""

    def __init__(self, origin: str) -> None:
        self._address = urlsplit(origin)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: FuzzedRequest) -> int:
        """Return the status. Raises: OSError, EOFError on a fresh connection."""
        was_open = self._streams is not None
        try:
            return await self._ask(request)
        except (OSError, EOFError):
            self.close()
            if not was_open:
                raise
        return await self._ask(request)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, request: FuzzedRequest) -> int:
        if self._streams is None:
            host, port = self._address.hostname, self._address.port
            self._streams = await asyncio.open_connection(host, port)
        reader, writer = self._streams
        writer.write(_encode(request, self._address.netloc))
        status, goes_on = await _read(reader, request.method)
        if not goes_on:
            self.close()
        return status


def _encode(request: FuzzedRequest, host: str) -> bytes:
    headers: Mapping[str, str] = {
        "Host": host,
        **request.headers,
        "Content-Length": str(len(request.body)),
    }
    lines = [f"{request.method} {request.path} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + request.body


async def _read(reader: asyncio.StreamReader, method: str) -> tuple[int, bool]:
    """Return the status, and whether the connection goes on."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    if method != "HEAD" and length:
        await reader.readexactly(int(length[1]))
    is_whole = method == "HEAD" or length is not None or b" 304 " in head[:16]
    goes_on = is_whole and b"\r\nconnection: close" not in head.lower()
    return int(head[9:12]), goes_on


async def _send_frames(origin: str, frames: Iterator[bytes], outcome: _Outcome) -> None:
    """Send texts over one WebSocket after the other; each has its reply, or a close."""
    client: SocketClient | None = None
    for frame in frames:
        started = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_S):
                if client is None:
                    client = SocketClient(origin)
                    await client.reconnect()
                reply = await client.exchange(frame)
        except EOFError:
            outcome.note("socket closed", time.perf_counter() - started)
            client = None
        except (OSError, TimeoutError) as error:
            kind = type(error).__name__
            fault = f"socket {kind}: {frame[:120]!r}"
            outcome.note(f"socket {kind}", time.perf_counter() - started, fault)
            client = None
        else:
            code = reply.get("error", {}).get("code", "success")
            is_fault = code in {"BRIDGE_ERROR", "TIMEOUT", "EXECUTION_FAILED"}
            fault = f"{code}: {frame[:200]!r}" if is_fault else ""
            outcome.note(f"socket {code}", time.perf_counter() - started, fault)
