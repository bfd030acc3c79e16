import asyncio

import pytest

from crawler.canaries import Canaries, canaries_at
from crawler.probes.outcome import Outcome, ProbeResult
from registry.sites.hosts_file import Endpoint
from tests.crawler.net import HonestSite, Net, Page

URLS = [f"https://canary-{n}.test/" for n in range(3)]
NOWHERE = Endpoint("127.0.0.1", 1)


class Scene:
    """Three canaries, and a probe that takes a second of a clock of its own."""

    def __init__(self, net: Net, site: HonestSite) -> None:
        self.site = site
        self.now_s = 1000.0
        self.canaries = Canaries(
            canaries_at(net.fetcher(), URLS), monotonic=lambda: self.now_s, pause_s=0
        )

    async def probe(self, outcome: Outcome) -> str:
        async def probing() -> ProbeResult:
            self.now_s += 1
            return ProbeResult(outcome=outcome, elapsed_ms=9, code="some")

        result = await self.canaries.vouched(probing())
        if result.outcome == "never_checked":
            assert (result.elapsed_ms, result.code) == (0, "own_line")
        return result.outcome


@pytest.fixture
async def scene(net: Net) -> Scene:
    site = HonestSite({"/": Page()})
    await net.serve(site, *(url.split("/")[2] for url in URLS))
    return Scene(net, site)


async def test_without_canaries_every_result_stands() -> None:
    async def probing() -> ProbeResult:
        return ProbeResult(outcome="unreachable")

    assert (await Canaries().vouched(probing())).outcome == "unreachable"


async def test_what_answers_is_vouched_for_by_one_asking_a_minute(scene: Scene) -> None:
    for _ in range(5):
        assert await scene.probe("alive") == "alive"
        scene.now_s += 10
    assert len(scene.site.paths) == 3
    scene.now_s += 20
    assert await scene.probe("auth_wall") == "auth_wall"
    assert len(scene.site.paths) == 6


async def test_a_failure_is_vouched_for_by_who_was_asked_after_it_began(
    scene: Scene,
) -> None:
    assert await scene.probe("alive") == "alive"
    scene.now_s += 1
    assert await scene.probe("unreachable") == "unreachable"
    assert len(scene.site.paths) == 6


async def test_while_our_own_line_is_down_nothing_counts_for_anyone(
    net: Net, scene: Scene
) -> None:
    reachable = dict(net.hosts)
    net.hosts.update(dict.fromkeys(net.hosts, NOWHERE))
    assert await scene.probe("unreachable") == "never_checked"
    assert await scene.probe("alive") == "never_checked"
    net.hosts.update(reachable)
    scene.now_s += 61
    assert await scene.probe("alive") == "alive"


async def test_most_of_the_canaries_decide(net: Net, scene: Scene) -> None:
    net.hosts["canary-0.test"] = NOWHERE
    assert await scene.probe("unreachable") == "unreachable"
    net.hosts["canary-1.test"] = NOWHERE
    assert await scene.probe("unreachable") == "never_checked"


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("404 Not Found", "unreachable"), ("503 Busy", "never_checked")],
)
async def test_a_canary_that_answers_anything_but_5xx_is_there(
    scene: Scene, status: str, outcome: Outcome
) -> None:
    scene.site.pages["/"] = Page(status=status)
    assert await scene.probe("unreachable") == outcome


async def test_probes_that_fail_together_ask_together(scene: Scene) -> None:
    scene.site.pages["/"].delay_s = 0.05
    outcomes = await asyncio.gather(*(scene.probe("unreachable") for _ in range(20)))
    assert set(outcomes) == {"unreachable"}
    assert len(scene.site.paths) == 3
