"""Kill crawlers in the middle of their work: each host is visited all the same, in time,
and whoever lost a lease writes nothing.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.engine import URL

from registry.db.engine.engines import Engine, Role
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.sites.list_site import Lister
from tests.crawler.net import Net
from tests.db.scene import Clock, Scene
from tests.faults.crawlers import (
    Crawlers,
    Ledger,
    SlowHosts,
    completed_twice,
    overtaken,
)
from tests.faults.nest import Nest

pytestmark = pytest.mark.slow

HOSTS, CRAWLERS, KILLS = 48, 4, 10
LEASE = timedelta(seconds=2)
INTERVAL = timedelta(seconds=8)  # between two visits of a host
DELAY_S = 0.4


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A registry's database with sites, their hosts, and crawlers that may start."""

    scene: Scene
    hosts: SlowHosts
    all_hosts: set[str]
    ledger: Ledger
    crawlers: Crawlers

    async def make_due(self, sites: int) -> None:
        """A visit of each of so many sites, within an interval; nothing else is."""
        await self.scene.sql("UPDATE registry.task SET due_at = 'infinity'")
        await self.scene.sql(
            """
            UPDATE registry.task SET due_at = now() + random() * CAST(:within AS interval)
            WHERE kind = 'probe' AND site_id IN
                (SELECT site_id FROM registry.site ORDER BY site_id LIMIT :sites)
            """,
            within=INTERVAL if sites > 1 else timedelta(),
            sites=sites,
        )


@pytest.fixture(scope="module")
async def module_stage(
    tmp_path_factory: pytest.TempPathFactory,
    database: URL,
    engines: dict[Role, Engine],
    owner: Engine,
    gazetteer: Gazetteer,
) -> AsyncIterator[Stage]:
    folder = tmp_path_factory.mktemp("crawlers")
    net, hosts = Net(folder), SlowHosts(DELAY_S)
    lister = Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)
    scene = Scene(engines, owner, lister, Clock(datetime.now(UTC)))
    names = [(await scene.register()).host.name for _ in range(HOSTS)]
    port = await net.serve(hosts, *names)
    lines = [f"{name} 127.0.0.1:{port}\n" for name in names]
    (folder / "hosts").write_text("".join(lines))
    async with Nest.open("tests.faults.crawler_nest", folder) as nest:
        crawlers = Crawlers(
            nest,
            database_url=database.render_as_string(hide_password=False),
            allow_loopback=1,
            ca_file=net.ca_file,
            hosts_file=folder / "hosts",
            crawl_lease_s=round(LEASE.total_seconds()),
        )
        yield Stage(
            scene=scene,
            hosts=hosts,
            all_hosts=set(names),
            ledger=await Ledger.open(owner),
            crawlers=crawlers,
        )
    await net.close()


@pytest.fixture
async def stage(module_stage: Stage) -> AsyncIterator[Stage]:
    await module_stage.ledger.clear()
    yield module_stage
    module_stage.crawlers.kill_all()


async def start(crawlers: Crawlers, number: int) -> None:
    seconds = round(INTERVAL.total_seconds())
    name = f"crawler-{number}"
    await crawlers.start(name, crawl_at_once=8, probe_interval_s=seconds)


async def kill_again_and_again(crawlers: Crawlers, hosts: SlowHosts) -> float:
    """Always one in the middle of a visit, while another one is at work.

    Returns the moment of the last kill, on the monotonic clock.
    """
    for number in range(CRAWLERS, CRAWLERS + KILLS):

        def working() -> list[str]:
            return [name for name in crawlers.names if hosts.waited_for_by(name)]

        await crawlers.until("two are in a visit", lambda: len(working()) > 1)
        crawlers.kill(working()[0])
        killed_s = time.monotonic()
        await start(crawlers, number)
        await asyncio.sleep(random.uniform(0, DELAY_S))
    return killed_s


async def test_each_host_is_visited_in_time_though_crawlers_are_killed(
    stage: Stage,
) -> None:
    crawlers, hosts = stage.crawlers, stage.hosts
    for number in range(CRAWLERS):
        await start(crawlers, number)
    await stage.make_due(HOSTS)
    await crawlers.until(
        "each crawler has asked", lambda: all(map(hosts.asked_by, crawlers.names))
    )
    began_at = datetime.now(UTC)
    last_kill_s = await kill_again_and_again(crawlers, hosts)
    await crawlers.until(
        "each host was asked since the last kill",
        lambda: hosts.asked_since(last_kill_s) == stage.all_hosts,
    )

    changes = await stage.ledger.changes()
    leases = [
        change for change in changes if change.is_lease and change.ready_at >= began_at
    ]
    taken_over = [task for task in leases if task.held_until]
    assert len(taken_over) >= KILLS, "each was killed in the middle of a lease"
    assert all(item.at >= item.held_until for item in taken_over if item.held_until)
    # A kill costs at most the rest of the lease: then it is the host's turn again,
    # before that of any host whose turn came an interval later. How long a turn takes
    # says only how busy this machine is.
    assert overtaken(leases, by=INTERVAL) == []
    passed_over = replace(leases[0], at=leases[-1].at)
    assert overtaken([*leases, passed_over], by=INTERVAL) == [passed_over], (
        "the control"
    )
    assert completed_twice(changes) == []


async def outlive_a_lease(
    stage: Stage, *, unfenced: bool
) -> list[tuple[int, str, int]]:
    """A crawler stands still until another has made the visit in its place.

    Returns the leases that were completed twice.
    """
    crawlers, ledger = stage.crawlers, stage.ledger
    slow = "slow-unfenced" if unfenced else "slow"
    answered = stage.hosts.answered[slow] = asyncio.Event()
    await stage.make_due(1)
    await crawlers.start(slow, crawl_at_once=1, unfenced=unfenced)
    await crawlers.until(
        "the slow one visits", lambda: bool(stage.hosts.waited_for_by(slow))
    )
    crawlers.pause(slow)
    answered.set()
    await crawlers.start("heir")

    async def heir_is_through() -> bool:
        return bool(await ledger.completions())

    await crawlers.until("the heir has made the visit", heir_is_through)
    crawlers.kill("heir")
    leases = len(await ledger.leases())
    crawlers.go_on(slow)

    async def slow_one_leases_again() -> bool:
        """With one place it does only when it is through with this visit."""
        await stage.make_due(1)
        return len(await ledger.leases()) > leases

    await crawlers.until("the slow one leases again", slow_one_leases_again)
    return completed_twice(await ledger.changes())


async def test_crawler_that_outlived_its_lease_writes_nothing(stage: Stage) -> None:
    assert await outlive_a_lease(stage, unfenced=False) == []


async def test_without_the_fence_its_result_would_be_written(stage: Stage) -> None:
    """The control."""
    assert len(await outlive_a_lease(stage, unfenced=True)) == 1
