"""A swarm of tarpits holds up nobody but itself. How much: crawler.bench.tarpits."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import JSON_TYPES
from crawler.restraint.politeness import Politeness
from registry.errors import Refused
from tests.crawler.net import Handler, HonestSite, Net, Page, read_request

CONNECTIONS = 300
BESIDE = 20  # more than the tarpits hold are at work at once
OF_A_CERTIFICATE = 50


async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"X")
        await writer.drain()
        await asyncio.sleep(1)


async def serve_many(net: Net, handler: Handler, kind: str) -> list[str]:
    names = [f"{kind}-{n}.test" for n in range(CONNECTIONS)]
    for start in range(0, CONNECTIONS, OF_A_CERTIFICATE):
        await net.serve(handler, *names[start : start + OF_A_CERTIFICATE])
    return names


async def fetch_all(
    fetcher: Fetcher, hosts: Sequence[str], at_once: int
) -> dict[str, Counter[str]]:
    """How they ended, by kind."""
    slots = asyncio.Semaphore(at_once)
    ends: dict[str, Counter[str]] = {"good": Counter(), "drip": Counter()}

    async def fetch(host: str) -> None:
        end = "fetched"
        async with slots:
            try:
                await fetcher.fetch(f"https://{host}/", Wanted(accept=JSON_TYPES))
            except Refused as refused:
                end = refused.code
        ends[host.partition("-")[0]][end] += 1

    await asyncio.gather(*map(fetch, hosts))
    return ends


@pytest.mark.slow
async def test_a_swarm_of_tarpits_ends_at_the_deadline_and_all_others_are_fetched(
    net: Net,
) -> None:
    drips = await serve_many(net, drip, "drip")
    good = await serve_many(net, HonestSite({"/": Page()}), "good")
    fetcher = net.fetcher(deadline_s=10, step_timeout_s=10, politeness=Politeness())
    ends = await fetch_all(fetcher, [*drips, *good], CONNECTIONS + BESIDE)
    assert ends == {"good": {"fetched": CONNECTIONS}, "drip": {"deadline": CONNECTIONS}}
    assert fetcher.config.politeness.snapshot()["under_way"] == 0
