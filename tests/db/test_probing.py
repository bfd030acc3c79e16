"""What a probe and a proof leave behind, and what our own restraint does not."""

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from crawler.canaries import Canaries
from crawler.http.exchange import Wanted
from crawler.probes import bridge
from crawler.restraint.politeness import LIMITS, Limit, Politeness, PolitenessConfig
from crawler.robots.robots_cache import RobotsCache
from registry.db.sites import listed_sites as sites
from registry.interfaces.rest.sites.lint import last_probe
from tests.crawler.net import HonestSite, Net, Page
from tests.db.scene import Scene, wab
from tests.db.test_visiting import DOCUMENT, Visited
from tests.unit.crawler.test_bridge import RESULTS, response


@pytest.fixture
async def visited(scene: Scene, net: Net) -> Visited:
    return await Visited(scene, net).open()


async def visited_bridge(scene: Scene, net: Net) -> Visited:
    """A site whose document names a bridge over HTTP; it answers its ping alone."""
    visited = Visited(scene, net)
    http = {"enabled": True, "base_url": "/api/wab"}
    document = json.dumps(wab(transport={"http": http})).encode()
    visited.server.pages[DOCUMENT] = Page(document)
    visited.server.pages["/api/wab/ping"] = Page(response(RESULTS["ping"]))
    await visited.open()
    for kind in ("crawl", "probe", "prove"):
        await visited.visit(kind)
        scene.clock.advance(minutes=10)
    return visited


async def failing_canary() -> bool:
    return False


async def test_a_document_of_another_format_is_a_mismatch_that_answers(
    visited: Visited,
) -> None:
    visited.server.pages[DOCUMENT] = Page(b'{"hello":"world"}')
    await visited.visit("probe")
    outcome = await visited.outcome("probe")
    assert outcome["result"] == "mismatch"
    last = last_probe(outcome)
    assert last.url.endswith(DOCUMENT)
    assert last.got.startswith(f"mismatch: {last.url}: ")
    assert last.wanted == "304, or 200 with a document of the format wab"
    figures = (await visited.profile()).probes
    assert (figures.probes, figures.answers, figures.successes) == (1, 1, 0)


@pytest.mark.parametrize("status", ["200 OK", "503 Busy"])
async def test_while_the_canaries_fail_no_probe_counts(
    visited: Visited, status: str
) -> None:
    visited.context = replace(visited.context, canaries=Canaries([failing_canary]))
    visited.server.pages[DOCUMENT].status = status
    await visited.visit("probe")
    outcome = await visited.outcome("probe")
    assert (outcome["result"], outcome["code"]) == ("never_checked", "own_line")
    assert (await visited.profile()).probes.probes == 0


async def test_a_bridge_is_pinged_and_at_each_proof_asked_what_it_can(
    scene: Scene, net: Net
) -> None:
    visited = await visited_bridge(scene, net)
    assert (await visited.outcome("probe"))["result"] == "alive"
    by_command = (await visited.outcome("prove"))["bridge"]
    assert {name: item["result"] for name, item in by_command.items()} == {
        "ping": "alive",
        **dict.fromkeys(("discover", "actions", "context"), "wrong_protocol"),
    }
    query = [path for path in visited.server.paths if path.startswith("/api/wab")]
    assert query == ["/api/wab/ping", *(f"/api/wab/{name}" for name in bridge.METHODS)]


@pytest.mark.parametrize("kind", ["crawl", "prove", "probe"])
async def test_what_we_do_not_ask_is_no_failure_of_the_site(
    visited: Visited, net: Net, kind: str
) -> None:
    nothing = Limit(at_once=1, per_s=1e-9, burst=1)
    config = PolitenessConfig(limits=dict.fromkeys(LIMITS, nothing), patience_s=0)
    fetcher = net.fetcher(politeness=Politeness(config))
    visited.context = replace(
        visited.context, fetcher=fetcher, robots=RobotsCache(fetcher)
    )
    await fetcher.fetch(
        f"https://{visited.owner.host.name}/robots.txt", Wanted(accept=["*/*"])
    )
    for _ in range(4):
        await visited.visit(kind)  # type: ignore[arg-type]
    outcome = await visited.outcome(kind)  # type: ignore[arg-type]
    assert outcome["code"] == "network_busy"
    entry = await visited.scene.entry(visited.owner)
    assert entry.status == "active"
    assert (await visited.profile()).probes.probes == 0
    async with visited.scene.crawler.connect() as connection:
        assert await sites.keys_of(connection, entry.site_id)


async def test_listing_that_rests_on_a_bystander_is_neither_probed_nor_confirmed(
    visited: Visited, net: Net
) -> None:
    page = replace(visited.server.pages[DOCUMENT])
    bystander = HonestSite({DOCUMENT: page})
    await net.serve(bystander, "bystander.test")
    url = f"https://bystander.test{DOCUMENT}"
    entry = await visited.scene.entry(visited.owner)
    await visited.scene.sql(
        "UPDATE registry.document SET url = :url, etag = '\"1\"' WHERE site_id = :id",
        url=url,
        id=entry.site_id,
    )
    await visited.visit("probe")
    assert bystander.paths == []
    await visited.visit("crawl")
    assert (await visited.document()).url == f"https://{entry.host}{DOCUMENT}"


async def probe_due_at(visited: Visited) -> datetime:
    due_at: datetime = (await visited.outcome("probe"))["nextDueAt"]
    return due_at


async def test_accepted_statement_of_a_listed_site_brings_no_probe(
    visited: Visited,
) -> None:
    """The first registration does; from then on the probes keep their own clock."""
    assert await probe_due_at(visited) == visited.scene.clock()
    await visited.visit("probe")
    due_at = await probe_due_at(visited)
    assert due_at > visited.scene.clock()
    for act in ("update", "register"):
        visited.scene.clock.advance(minutes=1)
        assert (await visited.scene.play(visited.owner, act=act)).status == "active"
        assert await probe_due_at(visited) == due_at


async def test_site_that_withdraws_and_returns_finds_its_clock_going_on(
    visited: Visited,
) -> None:
    await visited.visit("probe")
    probed_at = visited.scene.clock()
    visited.scene.clock.advance(minutes=100)
    for act in ("withdraw", "register"):
        await visited.scene.play(visited.owner, act=act)
    assert await probe_due_at(visited) == probed_at + timedelta(hours=2)
