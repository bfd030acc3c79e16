"""A small load generator: keep-alive HTTP/1.1 GETs over plain sockets.

A client library would spend more time than what is measured.
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


@dataclass(slots=True)
class Latencies:
    """Seconds a request; other than 200 count as failures, and so do broken connections.

    incomplete: answers of 200 that lack what was looked for.
    """

    seconds: list[float] = field(default_factory=list)
    failures: int = 0
    incomplete: int = 0
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
    origin: str,
    paths: Sequence[str],
    *,
    connections: int,
    duration_s: float,
    expected: bytes = b"",
) -> Latencies:
    """Each connection asks one path after the other, as fast as it is answered.

    They start at evenly spaced paths. expected: what a whole answer holds.
    """
    found = Latencies()
    address = urlsplit(origin)
    requests = [
        f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode()
        for path in paths
    ]
    started = time.perf_counter()
    loop = asyncio.get_running_loop()
    asking = []
    for number in range(connections):
        first = number * len(requests) // connections
        turned = islice(cycle(requests), first, None)
        one = _Asking(turned, started + duration_s, found, expected, loop)
        host, port = address.hostname or "", address.port or 80
        await loop.create_connection(partial(_itself, one), host, port)
        asking.append(one.ended)
    await asyncio.gather(*asking)
    found.elapsed_s = time.perf_counter() - started
    return found


def _itself(asking: "_Asking") -> "_Asking":
    return asking


class _Asking(asyncio.Protocol):
    """One connection. deadline: after which nothing is asked any more."""

    def __init__(
        self,
        requests: Iterator[bytes],
        deadline: float,
        found: Latencies,
        expected: bytes,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.ended: asyncio.Future[None] = loop.create_future()
        self._requests = requests
        self._deadline = deadline
        self._found = found
        self._expected = expected
        self._answer = bytearray()
        self._whole = 0  # bytes of the answer, once its head is there
        self._asked_at = 0.0

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.Transport):
            raise TypeError("not a stream")
        self._transport = transport
        self._ask()

    @override
    def data_received(self, data: bytes) -> None:
        self._answer += data
        if not self._whole:
            head = self._answer.find(_HEAD_END)
            if head < 0:
                return
            length = _LENGTH.search(self._answer, 0, head + 2)
            self._whole = head + len(_HEAD_END) + (int(length[1]) if length else 0)
        if len(self._answer) >= self._whole:
            self._count()
            self._ask()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if not self.ended.done():
            self._found.failures += 1
            self.ended.set_result(None)

    def _ask(self) -> None:
        self._answer.clear()
        self._whole = 0
        self._asked_at = time.perf_counter()
        if self._asked_at < self._deadline:
            self._transport.write(next(self._requests))
        else:
            self.ended.set_result(None)
            self._transport.close()

    def _count(self) -> None:
        if not self._answer.startswith(_OK):
            self._found.failures += 1
            return
        self._found.seconds.append(time.perf_counter() - self._asked_at)
        if self._answer.find(self._expected) < 0:
            self._found.incomplete += 1
