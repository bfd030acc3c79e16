"""A swarm of tarpits holds up nobody but itself. How much: crawler.bench.tarpits."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import JSON_TYPES
from crawler.restraint.politeness import Politeness
from registry.errors import Refused
from tests.crawler.net import Handler, HonestSite, Net, Page, read_request
from tests.waiting import PATIENCE_S

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
    fetchers: Mapping[str, Fetcher], hosts: Sequence[str], at_once: int
) -> dict[str, Counter[str]]:
    """How they ended, by kind, as `fetchers` are."""
    slots = asyncio.Semaphore(at_once)
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in fetchers}

    async def fetch(host: str) -> None:
        end, kind = "fetched", host.partition("-")[0]
        async with slots:
            try:
                await fetchers[kind].fetch(
                    f"https://{host}/", Wanted(accept=JSON_TYPES)
                )
            except Refused as refused:
                end = refused.code
        ends[kind][end] += 1

    await asyncio.gather(*map(fetch, hosts))
    return ends


@pytest.mark.slow
async def test_a_swarm_of_tarpits_ends_at_the_deadline_and_all_others_are_fetched(
    net: Net,
) -> None:
    drips = await serve_many(net, drip, "drip")
    good = await serve_many(net, HonestSite({"/": Page()}), "good")
    politeness = Politeness()
    # On a busy machine an honest answer takes longer than a tarpit may.
    fetchers = {
        kind: net.fetcher(
            deadline_s=seconds, step_timeout_s=seconds, politeness=politeness
        )
        for kind, seconds in (("drip", 10), ("good", PATIENCE_S))
    }
    ends = await fetch_all(fetchers, [*drips, *good], CONNECTIONS + BESIDE)
    assert ends == {"good": {"fetched": CONNECTIONS}, "drip": {"deadline": CONNECTIONS}}
    assert politeness.snapshot()["under_way"] == 0
