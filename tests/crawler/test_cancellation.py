"""Whatever moment a fetch is cut off at, nothing of it is left behind."""

import asyncio
import random
import socket
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace

import psutil
import pytest

from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import JSON_TYPES
from crawler.restraint.politeness import LIMITS, TOWARDS_OURSELVES, Limit, Politeness
from registry.errors import Refused
from registry.sites.hosts_file import Endpoint
from tests.crawler.net import Handler, HonestSite, Net, Page, read_request, silent

FETCHES = 1200
AT_ONCE = 30
STALL_S = 0.1
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
GOOD = "https://good.test/doc.json"


def slow(draw: Callable[[], float], *, head: bool) -> Handler:
    """Its head, or after that its body, comes in its own time."""

    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await read_request(reader)
        if head:
            await asyncio.sleep(2 * STALL_S * draw())
        writer.write(HEAD)
        for _ in range(10):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0 if head else STALL_S / 10)
        writer.write(b"{}")

    return handle


def full_socket(stack: ExitStack) -> Endpoint:
    """Where the system takes no more connections: a dial just hangs."""
    listening = stack.enter_context(socket.socket())
    listening.bind(("127.0.0.1", 0))
    listening.listen(0)
    for _ in range(2):
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)
        with suppress(BlockingIOError):
            waiting.connect(listening.getsockname())
    return Endpoint(*listening.getsockname())


@asynccontextmanager
async def hosts_of_all_kinds(
    net: Net, draw: Callable[[], float]
) -> AsyncIterator[tuple[Fetcher, Sequence[str]]]:
    """Hosts that stall in the DNS, in connect, TLS, head and body, and good ones."""
    names = await net.serve_addresses(["127.77.0.1"])

    async def look_up(host: str) -> Sequence[str]:
        await asyncio.sleep(STALL_S * draw())
        return await names.look_up(host)

    await net.serve(HonestSite({"/doc.json": Page()}), "good.test", "www.good.test")
    await net.serve(silent, "handshake.test", tls=False)
    await net.serve(slow(draw, head=True), "head.test")
    await net.serve(slow(draw, head=False), "body.test")
    wide = Limit(at_once=AT_ONCE // 4, per_s=1e6, burst=10**6)
    politeness = Politeness(
        replace(TOWARDS_OURSELVES, limits=dict.fromkeys(LIMITS, wide))
    )
    with ExitStack() as stack:
        net.hosts["connect.test"] = full_socket(stack)
        hosts = [*net.hosts, "unmapped.test"]
        fetcher = net.fetcher(look_up=look_up, politeness=politeness)
        yield fetcher, [f"https://{host}/doc.json" for host in hosts]


async def fetch_hastily(fetcher: Fetcher, url: str, cut_s: float, *, hard: bool) -> str:
    """Cut off by a deadline, as a visit is, or hard, as at the end of the process."""
    task = asyncio.ensure_future(fetcher.fetch(url, Wanted(accept=JSON_TYPES)))
    try:
        if hard:
            await asyncio.wait([task], timeout=cut_s)
            task.cancel()
            await task
        else:
            async with asyncio.timeout(cut_s):
                await task
    except (TimeoutError, asyncio.CancelledError):
        return "cut off"
    except Refused as refused:
        return refused.code
    return "fetched"


async def time_of_good_ones(fetcher: Fetcher) -> float:
    """Seconds of as many as are at work at once; a busy machine takes longer."""
    started_s = time.monotonic()
    fetches = (fetcher.fetch(GOOD, Wanted(accept=JSON_TYPES)) for _ in range(AT_ONCE))
    await asyncio.gather(*fetches)
    return time.monotonic() - started_s


async def left_behind(descriptors: int, tasks: int) -> tuple[int, int]:
    """More than there were. The servers, in this process too, take a moment to end."""
    for _ in range(500):
        left = (
            max(0, psutil.Process().num_fds() - descriptors),
            max(0, len(asyncio.all_tasks()) - tasks),
        )
        if left == (0, 0):
            break
        await asyncio.sleep(0.02)
    return left


@pytest.mark.slow
@pytest.mark.skipif(not psutil.POSIX, reason="counts file descriptors")
async def test_fetches_cut_off_at_random_leave_nothing_behind(net: Net) -> None:
    rng = random.Random(7)
    async with hosts_of_all_kinds(net, rng.random) as (fetcher, urls):
        longest_s = max(STALL_S, await time_of_good_ones(fetcher) / 2)
        await asyncio.sleep(STALL_S)
        descriptors = psutil.Process().num_fds()
        tasks = len(asyncio.all_tasks())
        ends: Counter[str] = Counter()
        for _ in range(FETCHES // AT_ONCE):
            fetches = (
                fetch_hastily(
                    fetcher,
                    rng.choice(urls),
                    longest_s * rng.random(),
                    hard=rng.random() < 0.5,
                )
                for _ in range(AT_ONCE)
            )
            ends.update(await asyncio.gather(*fetches))
        assert ends.total() == FETCHES
        assert ends["fetched"] > 0
        assert ends["cut off"] > FETCHES // 4
        assert await left_behind(descriptors, tasks) == (0, 0)
        assert fetcher.config.politeness.snapshot()["under_way"] == 0
        assert await fetcher.fetch(GOOD, Wanted(accept=JSON_TYPES))
