"""What our restraint looks like from the other end of the connection."""

import asyncio
from collections import Counter

from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import JSON_TYPES
from crawler.restraint.breakers import RULES, BreakerRule
from crawler.restraint.politeness import LIMITS, Limit, Politeness, PolitenessConfig
from registry.errors import Refused
from registry.sites.hosts_file import Endpoint
from tests.crawler.net import HOST, HonestSite, Net, Page

WIDE = Limit(at_once=10**6, per_s=1e9, burst=10**6)


def make(*, opens_at: int = 10**6, **limits: Limit) -> Politeness:
    rule = BreakerRule(opens_at=opens_at, min_open_s=60, max_open_s=60)
    return Politeness(
        PolitenessConfig(
            limits={level: limits.get(level, WIDE) for level in LIMITS},
            rules=dict.fromkeys(RULES, rule),
            patience_s=30,
            spare_loopback=False,
        )
    )


async def outcome_of(fetcher: Fetcher, host: str = HOST) -> str:
    try:
        await fetcher.fetch(f"https://{host}/doc.json", Wanted(accept=JSON_TYPES))
    except Refused as refused:
        return refused.code
    return "fetched"


async def test_many_names_that_lead_to_one_victim_ask_it_a_few_at_a_time(
    net: Net,
) -> None:
    victim = HonestSite({"/doc.json": Page(delay_s=0.01)})
    names = [f"{n}.test" for n in range(60)]
    await net.serve(victim, *names)
    narrow = Limit(at_once=4, per_s=1e9, burst=10**6)
    fetcher = net.fetcher(politeness=make(network=narrow), deadline_s=20)
    outcomes = await asyncio.gather(*(outcome_of(fetcher, name) for name in names))
    assert Counter(outcomes) == {"fetched": 60}
    assert victim.most_at_once <= 4


async def test_waiting_for_a_turn_spends_none_of_the_deadline(net: Net) -> None:
    site = HonestSite({"/doc.json": Page(delay_s=0.1)})
    names = [f"{n}.test" for n in range(12)]
    await net.serve(site, *names)
    narrow = Limit(at_once=1, per_s=1e9, burst=10**6)
    # All of them together wait longer than one of them may take.
    fetcher = net.fetcher(politeness=make(network=narrow), deadline_s=1)
    outcomes = await asyncio.gather(*(outcome_of(fetcher, name) for name in names))
    assert Counter(outcomes) == {"fetched": 12}


async def test_a_host_that_asks_to_be_left_alone_is_left_alone(net: Net) -> None:
    site = HonestSite({"/doc.json": Page(status="503 Busy")})
    await net.serve(site)
    fetcher = net.fetcher(politeness=make(opens_at=3))
    outcomes = [await outcome_of(fetcher) for _ in range(6)]
    assert outcomes == ["status"] * 3 + ["breaker_open"] * 3
    assert len(site.paths) == 3


async def test_a_host_that_drips_is_left_alone(net: Net) -> None:
    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X")
            await writer.drain()
            await asyncio.sleep(0.01)

    await net.serve(drip)
    fetcher = net.fetcher(politeness=make(opens_at=2), deadline_s=0.3)
    outcomes = [await outcome_of(fetcher) for _ in range(3)]
    assert outcomes == ["deadline", "deadline", "breaker_open"]


async def test_a_network_that_is_down_is_left_alone_for_all_of_its_names(
    net: Net,
) -> None:
    names = [f"{n}.test" for n in range(4)]
    net.hosts.update(dict.fromkeys(names, Endpoint("127.9.9.9", 1)))
    fetcher = net.fetcher(politeness=make(opens_at=3))
    outcomes = [await outcome_of(fetcher, name) for name in names]
    assert outcomes == ["connect"] * 3 + ["breaker_open"]
    await net.serve(HonestSite({"/doc.json": Page()}))
    assert await outcome_of(fetcher) == "fetched"


async def test_where_redirects_lead_is_asked_with_the_same_restraint(net: Net) -> None:
    moved = Page(
        b"", status="302 Found", headers={"Location": "https://www.shop.test/"}
    )
    await net.serve(HonestSite({"/doc.json": moved}))
    net.hosts["www.shop.test"] = Endpoint("127.9.9.9", 1)
    fetcher = net.fetcher(politeness=make(opens_at=2))
    outcomes = [await outcome_of(fetcher) for _ in range(3)]
    assert outcomes == ["connect", "connect", "breaker_open"]
