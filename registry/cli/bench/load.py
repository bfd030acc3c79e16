"""A small load generator: keep-alive HTTP/1.1 GETs over plain sockets.

A client library would spend more time than what is measured.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass(slots=True)
class Latencies:
    """Seconds a request; other than 200 count as failures."""

    seconds: list[float] = field(default_factory=list)
    failures: int = 0
    elapsed_s: float = 0.0

    def percentile_ms(self, share: float) -> float:
        """share: 0..1; the nearest rank."""
        if not self.seconds:
            return float("nan")
        ranked = sorted(self.seconds)
        return 1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))]

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.elapsed_s if self.elapsed_s else 0.0


async def drive(
    origin: str, paths: Sequence[str], *, connections: int, duration_s: float
) -> Latencies:
    """Each connection asks one path after the other, as fast as it is answered."""
    found = Latencies()
    started = time.perf_counter()
    deadline = started + duration_s
    async with asyncio.TaskGroup() as group:
        for number in range(connections):
            turned = [*paths[number % len(paths) :], *paths[: number % len(paths)]]
            group.create_task(_connection(origin, turned, deadline, found))
    found.elapsed_s = time.perf_counter() - started
    return found


async def _connection(
    origin: str, paths: Sequence[str], deadline: float, found: Latencies
) -> None:
    address = urlsplit(origin)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        position = 0
        while (asked_at := time.perf_counter()) < deadline:
            path = paths[position % len(paths)]
            writer.write(
                f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
            )
            status = await _read_answer(reader)
            if status == 200:
                found.seconds.append(time.perf_counter() - asked_at)
            else:
                found.failures += 1
            position += 1
    finally:
        writer.close()


async def _read_answer(reader: asyncio.StreamReader) -> int:
    """The status, the body read to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status_line, *lines = head.split("\r\n")
    headers = {
        name.strip().lower(): value.strip()
        for name, _, value in (line.partition(":") for line in lines if line)
    }
    if "content-length" in headers:
        await reader.readexactly(int(headers["content-length"]))
    elif headers.get("transfer-encoding") == "chunked":
        while size := int(await reader.readline(), 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    return int(status_line.split(" ")[1])
