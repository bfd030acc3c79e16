"""A small load generator: keep-alive HTTP/1.1 GETs over plain sockets.

A client library would take more time than the service that is measured.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import cycle, islice
from urllib.parse import urlsplit

from typing_extensions import override

_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)
_HEAD_END = b"\r\n\r\n"
_OK = b"HTTP/1.1 200 "
_REFUSED = (b"HTTP/1.1 429 ", b"HTTP/1.1 503 ")


@dataclass(slots=True)
class Latencies:
    """Seconds a request; statuses but 200, and broken connections, are failures.

    refused: those of 429 and 503.
    incomplete: answers of 200 without the expected bytes.
    """

    seconds: list[float] = field(default_factory=list)
    failures: int = 0
    refused: int = 0
    incomplete: int = 0
    elapsed_s: float = 0.0

    def percentile_ms(self, share: float) -> float:
        """Return the nearest rank; share: 0..1."""
        if not self.seconds:
            return float("nan")
        ranked = sorted(self.seconds)
        return 1000 * ranked[min(len(ranked) - 1, int(share * len(ranked)))]

    @property
    def per_second(self) -> float:
        return len(self.seconds) / self.elapsed_s if self.elapsed_s else 0.0


async def drive(
    origin: str,
    paths: Sequence[str],
    *,
    connections: int,
    duration_s: float,
    expected: bytes = b"",
    header: str = "",
    source: str | None = None,
    every_s: float = 0.0,
    body: bytes = b"",
) -> Latencies:
    """Request one path after the other over each connection, without pause.

    They start at evenly spaced paths. expected: bytes of a whole answer. header: a line
    that is sent too; with a body it is a POST. source: the address to ask from. every_s: instead of no pause, the
    time from one request of a connection to its next, from which it is then measured.
    """
    latencies = Latencies()
    address = urlsplit(origin)
    method = "POST" if body else "GET"
    header += f"Content-Length: {len(body)}\r\n" if body else ""
    requests = [
        f"{method} {path} HTTP/1.1\r\nHost: {address.netloc}\r\n{header}\r\n".encode()
        + body
        for path in paths
    ]
    started = time.perf_counter()
    loop = asyncio.get_running_loop()
    ended = []
    for number in range(connections):
        first = number * len(requests) // connections
        turned = islice(cycle(requests), first, None)
        until = started + duration_s
        protocol = partial(
            _Client, turned, until, latencies, expected, loop, every_s=every_s
        )
        host, port = address.hostname or "", address.port or 80
        _, client = await loop.create_connection(
            protocol, host, port, local_addr=(source, 0) if source else None
        )
        ended.append(client.ended)
    await asyncio.gather(*ended)
    latencies.elapsed_s = time.perf_counter() - started
    return latencies


class _Client(asyncio.Protocol):
    """A connection that sends no more requests after the deadline."""

    def __init__(
        self,
        requests: Iterator[bytes],
        deadline: float,
        latencies: Latencies,
        expected: bytes,
        loop: asyncio.AbstractEventLoop,
        *,
        every_s: float,
    ) -> None:
        self.ended: asyncio.Future[None] = loop.create_future()
        self._requests = requests
        self._deadline = deadline
        self._latencies = latencies
        self._expected = expected
        self._answer = bytearray()
        self._length = 0  # of the answer, once its head is there
        self._sent_at = 0.0
        self._loop = loop
        self._every_s = every_s

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("not a stream")
        self._transport = transport
        self._sent_at = time.perf_counter() - self._every_s
        self._send()

    @override
    def data_received(self, data: bytes) -> None:
        self._answer += data
        if not self._length:
            head = self._answer.find(_HEAD_END)
            if head < 0:
                return
            length = _LENGTH.search(self._answer, 0, head + 2)
            self._length = head + len(_HEAD_END) + (int(length[1]) if length else 0)
        if len(self._answer) >= self._length:
            self._count()
            self._send()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self._latencies.failures += 1
            self.ended.set_result(None)

    def _send(self) -> None:
        self._answer.clear()
        self._length = 0
        now = time.perf_counter()
        self._sent_at = self._sent_at + self._every_s if self._every_s else now
        if max(now, self._sent_at) >= self._deadline:
            self.ended.set_result(None)
            self._transport.close()
        elif self._sent_at > now:
            self._loop.call_later(self._sent_at - now, self._write)
        else:
            self._write()

    def _write(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(next(self._requests))

    def _count(self) -> None:
        if not self._answer.startswith(_OK):
            self._latencies.failures += 1
            self._latencies.refused += self._answer.startswith(_REFUSED)
            return
        self._latencies.seconds.append(time.perf_counter() - self._sent_at)
        if self._answer.find(self._expected) < 0:
            self._latencies.incomplete += 1
