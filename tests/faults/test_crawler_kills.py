"""Kill crawlers in the middle of their work: each host is visited all the same, in time,
and whoever lost a lease writes nothing.
"""

import asyncio
import random
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from registry.db.engine import Engine, Role
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.list_site import Lister
from tests.crawler.net import Net
from tests.db.scene import Clock, Scene
from tests.faults.crawlers import (
    PAUSE_S,
    Crawlers,
    Ledger,
    SlowHosts,
    completed_twice,
    until,
)

pytestmark = pytest.mark.slow

HOSTS, CRAWLERS, KILLS = 30, 4, 50
LEASE = timedelta(seconds=2)
INTERVAL = timedelta(seconds=4)  # between two visits of a host
DELAY_S = 0.3


@dataclass
class Stage:
    """A registry's database with sites that are due, their hosts, and crawlers to come."""

    folder: Path
    url: URL
    scene: Scene
    hosts: SlowHosts
    ledger: Ledger
    ca_file: Path
    hosts_file: Path
    all_hosts: set[str]

    async def crawlers(self, *, at_once: int, interval: timedelta) -> Crawlers:
        return await Crawlers.open(
            self.folder,
            self.url,
            ca_file=self.ca_file,
            hosts_file=self.hosts_file,
            crawl_at_once=at_once,
            crawl_lease_s=round(LEASE.total_seconds()),
            probe_interval_s=round(interval.total_seconds()),
        )

    async def make_due(self, sites: int) -> None:
        """One visit of each of so many sites, at random moments of an interval."""
        spread = INTERVAL if sites > 1 else timedelta()
        await self.scene.sql("UPDATE registry.task SET due_at = 'infinity'")
        await self.scene.sql(
            """
            UPDATE registry.task SET due_at = now() + random() * CAST(:spread AS interval)
            WHERE kind = 'probe' AND site_id IN
                (SELECT site_id FROM registry.site ORDER BY site_id LIMIT :sites)
            """,
            spread=spread,
            sites=sites,
        )


@pytest.fixture(scope="module")
async def stage(
    tmp_path_factory: pytest.TempPathFactory,
    database: URL,
    engines: dict[Role, Engine],
    owner: Engine,
    gazetteer: Gazetteer,
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("crawlers")
    lister = Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)
    scene = Scene(engines, owner, lister, Clock(datetime.now(UTC)))
    owners = [await scene.register() for _ in range(HOSTS)]
    net, hosts = Net(folder), SlowHosts(DELAY_S)
    port = await net.serve(hosts, *(one.host.name for one in owners))
    hosts_file = folder / "hosts"
    lines = (f"{one.host.name} 127.0.0.1:{port}\n" for one in owners)
    hosts_file.write_text("".join(lines))
    ledger = await Ledger.open(owner)
    yield Stage(
        folder,
        database,
        scene,
        hosts,
        ledger,
        net.ca_file,
        hosts_file,
        {one.host.name for one in owners},
    )
    await net.close()


async def kill_again_and_again(crawlers: Crawlers, hosts: SlowHosts) -> float:
    """Always one in the middle of a visit, while another one is at work.

    Returns the moment of the last kill, on the monotonic clock.
    """
    for number in range(CRAWLERS, CRAWLERS + KILLS):

        def working() -> list[str]:
            return [name for name in crawlers.names if hosts.waited_for_by(name)]

        await until(lambda: len(working()) > 1)
        crawlers.signal(working()[0], signal.SIGKILL)
        killed_s = time.monotonic()
        await crawlers.start(f"crawler-{number}")
        await asyncio.sleep(random.uniform(0, DELAY_S))
    return killed_s


async def start_all(crawlers: Crawlers, hosts: SlowHosts) -> None:
    """Until each of them is at work."""
    names = [f"crawler-{number}" for number in range(CRAWLERS)]
    for name in names:
        await crawlers.start(name)
    await until(lambda: all(hosts.asked_by(name) for name in names))


async def test_each_host_is_visited_in_time_though_crawlers_are_killed(
    stage: Stage,
) -> None:
    await stage.make_due(HOSTS)
    crawlers = await stage.crawlers(at_once=8, interval=INTERVAL)
    try:
        await start_all(crawlers, stage.hosts)
        began_at = datetime.now(UTC)
        last_kill_s = await kill_again_and_again(crawlers, stage.hosts)
        await asyncio.sleep((LEASE + INTERVAL).total_seconds())
    finally:
        await crawlers.close()

    changes = await stage.ledger.changes()
    leases = [one for one in changes if one.is_lease and one.ready_at >= began_at]
    taken_over = [one for one in leases if one.held_until]
    assert len(taken_over) >= KILLS, "each was killed in the middle of a lease"
    assert all(one.at >= one.held_until for one in taken_over if one.held_until)
    # A kill costs at most the rest of the lease: whoever is next is so at once.
    assert max(one.at - one.ready_at for one in leases) <= INTERVAL
    assert stage.hosts.asked_since(last_kill_s) == stage.all_hosts
    assert completed_twice(changes) == []


async def outlive_a_lease(
    stage: Stage, *, unfenced: bool
) -> list[tuple[int, str, int]]:
    """A crawler stands still until another has made the visit in its place.

    Returns the leases that were completed twice.
    """
    hosts, ledger = stage.hosts, stage.ledger
    crawlers = await stage.crawlers(at_once=1, interval=timedelta(hours=1))
    try:
        await ledger.clear()
        await stage.make_due(1)
        await crawlers.start("slow", unfenced=unfenced)
        await until(lambda: bool(hosts.waited_for_by("slow")))
        crawlers.signal("slow", signal.SIGSTOP)
        await crawlers.start("heir")
        while not await ledger.completions():
            await asyncio.sleep(PAUSE_S)
        crawlers.signal("heir", signal.SIGKILL)
        leases = len(await ledger.leases())
        crawlers.signal("slow", signal.SIGCONT)
        # With one place it leases again only when it is through with this visit.
        while len(await ledger.leases()) == leases:
            await stage.make_due(1)
            await asyncio.sleep(PAUSE_S)
        return completed_twice(await ledger.changes())
    finally:
        await crawlers.close()


async def test_crawler_that_outlived_its_lease_writes_nothing(stage: Stage) -> None:
    assert await outlive_a_lease(stage, unfenced=False) == []


async def test_without_the_fence_its_result_would_be_written(stage: Stage) -> None:
    """The control."""
    assert len(await outlive_a_lease(stage, unfenced=True)) == 1
