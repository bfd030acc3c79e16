import asyncio

from crawler.canaries import Canaries
from crawler.resolve import Endpoint
from tests.crawler.net import HonestSite, Net, Page

URLS = [f"https://canary-{n}.test/" for n in range(3)]
NOWHERE = Endpoint("127.0.0.1", 1)


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


async def open_canaries(net: Net, count: int = 3) -> tuple[HonestSite, Canaries, Clock]:
    site, clock = HonestSite({"/": Page()}), Clock()
    await net.serve(site, *(url.split("/")[2] for url in URLS))
    canaries = Canaries(net.fetcher(), URLS[:count], monotonic=clock, pause_s=0)
    return site, canaries, clock


async def test_without_canaries_every_probe_is_recorded(net: Net) -> None:
    canaries = Canaries(net.fetcher())
    assert await canaries.vouch(began_s=0, failed=True)


async def test_what_answers_is_vouched_for_by_one_asking_a_minute(net: Net) -> None:
    site, canaries, clock = await open_canaries(net)
    for _ in range(5):
        clock.now_s += 10
        assert await canaries.vouch(began_s=clock.now_s, failed=False)
    assert len(site.paths) == 3
    clock.now_s += 21
    assert await canaries.vouch(began_s=clock.now_s, failed=False)
    assert len(site.paths) == 6


async def test_a_failure_is_vouched_for_by_who_was_asked_after_it_began(
    net: Net,
) -> None:
    site, canaries, clock = await open_canaries(net)
    assert await canaries.vouch(began_s=clock.now_s, failed=False)
    began_s = clock.now_s + 1
    clock.now_s += 2
    assert await canaries.vouch(began_s=began_s, failed=True)
    assert len(site.paths) == 6
    assert await canaries.vouch(began_s=began_s, failed=True)
    assert len(site.paths) == 6


async def test_while_our_own_line_is_down_nothing_is_recorded_for_anyone(
    net: Net,
) -> None:
    _, canaries, clock = await open_canaries(net)
    reachable = dict(net.hosts)
    net.hosts.update(dict.fromkeys(net.hosts, NOWHERE))
    assert not await canaries.vouch(began_s=clock.now_s, failed=True)
    assert not await canaries.vouch(began_s=clock.now_s, failed=False)
    net.hosts.update(reachable)
    clock.now_s += 61
    assert await canaries.vouch(began_s=clock.now_s, failed=False)


async def test_most_of_the_canaries_decide(net: Net) -> None:
    _, canaries, clock = await open_canaries(net)
    net.hosts["canary-0.test"] = NOWHERE
    assert await canaries.vouch(began_s=clock.now_s, failed=True)
    net.hosts["canary-1.test"] = NOWHERE
    clock.now_s += 1
    assert not await canaries.vouch(began_s=clock.now_s, failed=True)


async def test_a_canary_that_answers_anything_but_5xx_is_there(net: Net) -> None:
    site, canaries, clock = await open_canaries(net, 1)
    for status, sound in [("404 Not Found", True), ("503 Busy", False)]:
        site.pages["/"] = Page(status=status)
        clock.now_s += 1
        assert await canaries.vouch(began_s=clock.now_s, failed=True) is sound


async def test_probes_that_fail_together_ask_together(net: Net) -> None:
    site, canaries, clock = await open_canaries(net, 1)
    site.pages["/"].delay_s = 0.05
    vouched = await asyncio.gather(
        *(canaries.vouch(began_s=clock.now_s, failed=True) for _ in range(20))
    )
    assert all(vouched)
    assert len(site.paths) == 1
