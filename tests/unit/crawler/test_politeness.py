import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import pytest

from crawler import refusals
from crawler.discovery.visit import VisitLimits
from crawler.refusals import UnexpectedStatus
from crawler.restraint.breakers import RULES, BreakerRule
from crawler.restraint.politeness import (
    Limit,
    Politeness,
    PolitenessConfig,
    Turn,
    network_of,
)
from crawler.stopwatch import Stopwatch
from registry.errors import Refused
from registry.sites.host import Host

WIDE = Limit(at_once=10**6, per_s=1e9, burst=10**6)
ADDRESS = "8.8.8.8"


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def make(
    *,
    patience_s: float = 0.05,
    opens_at: int = 3,
    clock: Clock | None = None,
    **limits: Limit,
) -> Politeness:
    rule = BreakerRule(opens_at=opens_at, min_open_s=10, max_open_s=10)
    config = PolitenessConfig(
        limits={level: limits.get(level, WIDE) for level in RULES},
        rules=dict.fromkeys(RULES, rule),
        patience_s=patience_s,
    )
    return Politeness(config, draw=lambda: 1.0, monotonic=clock or Clock())


@asynccontextmanager
async def turn_of(
    politeness: Politeness, host: str = "shop.io", domain: str = ""
) -> AsyncIterator[Turn]:
    watch = Stopwatch()
    at = Host(host, domain or host)
    async with watch.running(5), politeness.turn(at, watch) as turn:
        yield turn


async def ask(
    politeness: Politeness,
    host: str = "shop.io",
    *,
    domain: str = "",
    address: str = ADDRESS,
    refused: Refused | None = None,
) -> str:
    """The code of the refusal, or ""."""
    try:
        async with turn_of(politeness, host, domain) as turn:
            await turn.dial(address)
            if refused:
                raise refused
    except Refused as error:
        return error.code
    return ""


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.114.77", "203.0.114.0/24"),
        ("2606:4700:1:2::3", "2606:4700:1::/48"),
    ],
)
def test_neighbouring_addresses_are_one_network(address: str, network: str) -> None:
    assert network_of(address) == network


async def test_thousands_of_names_of_one_address_are_asked_a_few_at_a_time() -> None:
    politeness = make(network=Limit(at_once=5, per_s=1e9, burst=10**6))
    at_once, most = 0, 0

    async def visit(name: str) -> str:
        nonlocal at_once, most
        try:
            async with turn_of(politeness, name) as turn:
                await turn.dial(f"203.0.114.{len(name)}")
                at_once += 1
                most = max(most, at_once)
                await asyncio.sleep(0)
                at_once -= 1
        except Refused as refused:
            return refused.code
        return ""

    names = [f"{'a' * (n % 50)}{n}.io" for n in range(2_000)]
    codes = set(await asyncio.gather(*map(visit, names)))
    assert most == 5
    assert codes == {"", "network_busy"}
    assert politeness.snapshot()["under_way"] == 0


async def test_hosts_of_one_domain_share_its_limit() -> None:
    politeness = make(domain=Limit(at_once=1, per_s=1e9, burst=10**6))
    async with turn_of(politeness, "a.shop.io", "shop.io"):
        assert await ask(politeness, "b.shop.io", domain="shop.io") == "network_busy"
        assert await ask(politeness, "cafe.io") == ""
    assert await ask(politeness, "b.shop.io", domain="shop.io") == ""


async def test_a_rate_is_kept_by_waiting_and_beyond_patience_by_refusing() -> None:
    politeness = make(network=Limit(at_once=9, per_s=40, burst=1))
    codes = await asyncio.gather(*(ask(politeness, f"{n}.io") for n in range(5)))
    assert codes == ["", "", "", "network_busy", "network_busy"]
    assert politeness.snapshot()["refused_network_busy"] == 2


async def test_waiting_of_ours_is_not_the_site_s_time() -> None:
    politeness = make(patience_s=1, network=Limit(at_once=1, per_s=1e9, burst=10**6))
    watch = Stopwatch()
    async with AsyncExitStack() as first:
        await (await first.enter_async_context(turn_of(politeness, "a.io"))).dial(
            ADDRESS
        )

        async def follow() -> None:
            async with (
                watch.running(0.05),
                politeness.turn(Host("b.io", "b.io"), watch) as turn,
            ):
                await turn.dial(ADDRESS)

        following = asyncio.create_task(follow())
        await asyncio.sleep(0.2)
        await first.aclose()
        await following
    assert watch.elapsed_ms < 200
    assert not watch.has_expired


@pytest.mark.parametrize(
    "refused",
    [Refused(refusals.CONNECT), Refused(refusals.DEADLINE), UnexpectedStatus(503)],
)
async def test_a_host_that_keeps_failing_is_left_in_peace(refused: Refused) -> None:
    clock = Clock()
    politeness = make(clock=clock)
    for _ in range(3):
        assert await ask(politeness, refused=refused) == refused.code
    assert await ask(politeness) == "breaker_open"
    assert await ask(politeness, "cafe.io") == ""
    clock.now_s = 10
    assert await ask(politeness) == ""
    assert politeness.snapshot() == {
        "under_way": 0,
        "opened_host": 1,
        "refused_breaker_open": 1,
    }


async def test_a_network_opens_by_several_domains_and_for_all_of_them() -> None:
    politeness = make()
    for n in range(3):
        await ask(politeness, f"{n}.io", refused=Refused(refusals.TIMEOUT))
    assert await ask(politeness, "cafe.io") == "breaker_open"
    assert await ask(politeness, "cafe.io", address="9.9.9.9") == ""


async def test_a_name_that_does_not_resolve_says_nothing_of_a_network() -> None:
    politeness = make()
    for n in range(3):
        with pytest.raises(Refused):
            async with turn_of(politeness, f"{n}.shop.io", "shop.io"):
                raise Refused(refusals.DNS_FAILED)
    assert "opened_domain" in politeness.snapshot()
    assert "opened_network" not in politeness.snapshot()


async def test_an_address_that_fails_is_noted_though_the_next_one_answers() -> None:
    politeness = make(opens_at=2)
    for host in ("a.io", "b.io"):
        async with turn_of(politeness, host) as turn:
            await turn.dial("8.8.8.8")
            await turn.dial("9.9.9.9")
    assert await ask(politeness, "c.io", address="8.8.8.8") == "breaker_open"
    assert await ask(politeness, "c.io", address="9.9.9.9") == ""


async def test_who_comes_while_one_tries_waits_for_the_outcome() -> None:
    clock = Clock()
    politeness = make(clock=clock, patience_s=1)
    for _ in range(3):
        await ask(politeness, refused=Refused(refusals.CONNECT))
    clock.now_s = 10
    async with turn_of(politeness):
        others = [asyncio.create_task(ask(politeness)) for _ in range(4)]
        await asyncio.sleep(0.05)
        assert not any(other.done() for other in others)
    assert await asyncio.gather(*others) == [""] * 4


async def test_who_waits_for_a_trial_that_fails_is_refused() -> None:
    clock = Clock()
    politeness = make(clock=clock, patience_s=1)
    for _ in range(3):
        await ask(politeness, refused=Refused(refusals.CONNECT))
    clock.now_s = 10
    tries = turn_of(politeness)
    await tries.__aenter__()
    other = asyncio.create_task(ask(politeness))
    await asyncio.sleep(0.05)
    await tries.__aexit__(Refused, Refused(refusals.CONNECT), None)
    assert await other == "breaker_open"


async def test_who_is_cancelled_while_waiting_leaves_its_place() -> None:
    politeness = make(patience_s=5, domain=Limit(at_once=1, per_s=1e9, burst=10**6))
    async with turn_of(politeness):
        waiting = [asyncio.create_task(ask(politeness)) for _ in range(5)]
        await asyncio.sleep(0.05)
        for item in waiting:
            item.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert await ask(politeness) == ""
    assert politeness.snapshot() == {"under_way": 0}


async def test_being_cancelled_is_no_failure_but_a_deadline_is() -> None:
    politeness = make(opens_at=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.02), turn_of(politeness):
            await asyncio.sleep(1)
    assert await ask(politeness) == ""
    watch = Stopwatch()
    with pytest.raises(TimeoutError):
        async with (
            watch.running(0.02),
            politeness.turn(Host("shop.io", "shop.io"), watch),
        ):
            await asyncio.sleep(1)
    assert await ask(politeness) == "breaker_open"


async def test_loopback_is_no_network_to_be_protected() -> None:
    politeness = make(network=Limit(at_once=1, per_s=1e9, burst=10**6))
    async with turn_of(politeness, "a.io") as turn:
        await turn.dial("127.0.0.1")
        assert await ask(politeness, "b.io", address="127.0.0.1") == ""
        assert await ask(politeness, "b.io", address="::1") == ""


CRAWLERS = [1, 2, 3, 4, 8, 16, 32]


@pytest.mark.parametrize("crawlers", CRAWLERS)
def test_crawlers_with_their_shares_keep_together_to_the_whole(crawlers: int) -> None:
    whole = PolitenessConfig()
    share = whole.shared_by(crawlers)
    for level, limit in whole.limits.items():
        own = share.limits[level]
        assert own.per_s * crawlers == pytest.approx(limit.per_s)
        # A host has at most four jobs at a time, wherever they are done.
        at_work = min(crawlers, 4) if level == "host" else crawlers
        if crawlers <= limit.at_once:
            assert own.at_once * at_work <= limit.at_once
        assert own.at_once >= 1


@pytest.mark.parametrize("crawlers", CRAWLERS)
def test_a_share_lets_a_visit_end_and_one_failure_open_nothing(crawlers: int) -> None:
    share = PolitenessConfig().shared_by(crawlers)
    for limit in share.limits.values():
        assert limit.burst >= VisitLimits().requests
    for rule in share.rules.values():
        assert rule.opens_at >= 2


async def test_a_network_is_asked_as_much_by_many_crawlers_as_by_one() -> None:
    """Requests under way to one address, each crawler with as many as it may."""

    async def under_way(crawlers: int, share_of: int) -> int:
        config = replace(PolitenessConfig().shared_by(share_of), patience_s=0.0)
        async with AsyncExitStack() as stack:
            entered = 0
            for number in range(crawlers):
                politeness = Politeness(config)
                for n in range(50):
                    turn = turn_of(politeness, f"{number}-{n}.io")
                    begun = await stack.enter_async_context(turn)
                    try:
                        await begun.dial(ADDRESS)
                    except Refused:
                        break
                    entered += 1
            return entered

    alone = await under_way(1, 1)
    assert await under_way(4, 4) == alone
    assert await under_way(4, 1) == 4 * alone, "the control: without shares"
