"""Several visits written in one transaction: each counts by its own fence, or alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from crawler.frontier.crawl_store import CrawlStore, FinishedVisit
from registry.db.engine.engines import DatabaseError
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Completion, Task
from registry.db.sites import documents
from registry.formats.document import StoredDocument
from registry.sites.entry import SiteEntry
from registry.usecases.sites.notices import make_notice
from tests.db.scene import Scene, SiteOwner, body_of, understood, with_commands

LEASE = timedelta(seconds=120)
OF_SITES = "site_id = ANY(:sites)"


@pytest.fixture
async def owners(scene: Scene) -> list[SiteOwner]:
    """Of three listed sites."""
    result = [SiteOwner() for _ in range(3)]
    for owner in result:
        assert (await scene.play(owner)).status == "active"
    return result


async def lease_crawls(scene: Scene, owners: Sequence[SiteOwner]) -> list[Task]:
    """In the order of the owners."""
    now = scene.clock()
    sites = [(await scene.entry(owner)).site_id for owner in owners]
    async with scene.crawler.begin() as connection:
        for site_id in sites:
            await tasks.schedule(connection, site_id, "crawl", now)
    async with scene.crawler.begin() as connection:
        leased = await tasks.lease_tasks(connection, now=now, lease=LEASE, limit=1000)
    crawls = {task.site_id: task for task in leased if task.kind == "crawl"}
    return [crawls[site_id] for site_id in sites]


def finished(scene: Scene, owner: SiteOwner, task: Task, action: str) -> FinishedVisit:
    """A visit that found this one action."""

    def complete(_: SiteEntry) -> Completion:
        due_at = scene.clock() + timedelta(days=1)
        return Completion(task=task, due_at=due_at, failures=0, outcome={"seen": True})

    return FinishedVisit(
        host=owner.host.name,
        understood=understood(owner.host, body_of(owner.host, with_commands(action))),
        declared={},
        notices=(),
        now=scene.clock(),
        complete=complete,
    )


async def actions_of(scene: Scene, owners: Sequence[SiteOwner]) -> list[str]:
    entries = [await scene.entry(owner) for owner in owners]
    return [entry.site.actions[0].name for entry in entries]


async def documents_of(scene: Scene, owner: SiteOwner) -> list[StoredDocument]:
    site_id = (await scene.entry(owner)).site_id
    async with scene.crawler.connect() as connection:
        return await documents.current_documents(connection, site_id)


async def write(
    crawl_store: CrawlStore, several: Sequence[FinishedVisit]
) -> list[object]:
    writing = (crawl_store.write(item) for item in several)
    return list(await asyncio.gather(*writing, return_exceptions=True))


async def test_each_visit_is_written_under_its_own_fence(
    scene: Scene, owners: list[SiteOwner]
) -> None:
    leased = await lease_crawls(scene, owners)
    stale = replace(leased[1], fence=leased[1].fence - 1)
    visits = [
        finished(scene, owner, task, "orderBread")
        for owner, task in zip(owners, [leased[0], stale, leased[2]], strict=True)
    ]
    assert await write(CrawlStore(scene.crawler, scene.lister), visits) == [None] * 3
    actions = await actions_of(scene, owners)
    assert actions == ["orderBread", "bookTable", "orderBread"]


async def test_of_two_leases_of_one_task_only_the_one_that_holds_is_written(
    scene: Scene, owners: list[SiteOwner]
) -> None:
    (held, *_) = await lease_crawls(scene, owners)
    stale = replace(held, fence=held.fence - 1)
    visits = [
        finished(scene, owners[0], held, "orderBread"),
        finished(scene, owners[0], stale, "orderCake"),
    ]
    assert await write(CrawlStore(scene.crawler, scene.lister), visits) == [None, None]
    assert await actions_of(scene, owners[:1]) == ["orderBread"]


async def test_visit_that_can_not_be_written_spoils_no_other(
    scene: Scene, owners: list[SiteOwner]
) -> None:
    leased = await lease_crawls(scene, owners)
    visits = [
        finished(scene, owner, task, "orderBread")
        for owner, task in zip(owners, leased, strict=True)
    ]
    # PostgreSQL keeps no NUL in a text.
    result = visits[1].understood
    (document,) = result.documents
    broken = replace(result, documents=(replace(document, content_type="a\0b"),))
    visits[1] = replace(visits[1], understood=broken)
    problems = await write(CrawlStore(scene.crawler, scene.lister), visits)
    assert [problems[0], problems[2]] == [None, None]
    assert isinstance(problems[1], DatabaseError)
    assert await actions_of(scene, owners) == ["orderBread", "bookTable", "orderBread"]
    async with scene.crawler.connect() as connection:
        entry = await scene.entry(owners[1])
        outcomes = await tasks.outcomes_of(connection, entry.site_id)
    assert "seen" not in outcomes["crawl"]


async def test_visits_that_brought_nothing_end_in_one_transaction_under_their_fences(
    scene: Scene, owners: list[SiteOwner]
) -> None:
    leased = await lease_crawls(scene, owners)
    leased[1] = replace(leased[1], fence=leased[1].fence - 1)
    later = scene.clock() + timedelta(days=1)
    crawl_store = CrawlStore(scene.crawler, scene.lister)

    urls = [(await documents_of(scene, owner))[0].url for owner in owners]

    async def end(owner: SiteOwner, task: Task, url: str) -> None:
        done = Completion(task=task, due_at=later, failures=0, outcome={"seen": True})
        notice = make_notice("listed_again", owner.host.name)
        await crawl_store.end(done, [notice], later, [url])

    with crawl_store.visits, crawl_store.visits, crawl_store.visits:
        await asyncio.gather(*map(end, owners, leased, urls))
    fetched = [(await documents_of(scene, owner))[0].fetched_at for owner in owners]
    assert [at == later for at in fetched] == [True, False, True]
    sites = {"sites": [task.site_id for task in leased], "at": later}
    async with scene.crawler.connect() as connection:
        query = "SELECT xmin FROM registry.task WHERE due_at = :at"
        ended = await connection.execute(text(f"{query} AND {OF_SITES}"), sites)
        writers = ended.scalars().all()
        query = "SELECT detail FROM registry.notice WHERE noted_at = :at"
        noticed = await connection.execute(text(f"{query} AND {OF_SITES}"), sites)
        details = noticed.scalars().all()
    assert len(writers) == 2
    assert len(set(writers)) == 1
    assert sorted(details) == sorted(owners[n].host.name for n in (0, 2))


async def test_what_is_known_of_many_is_read_at_once(
    scene: Scene, owners: list[SiteOwner]
) -> None:
    crawl_store = CrawlStore(scene.crawler, scene.lister)
    hosts = [*(owner.host.name for owner in owners), "nobody.test"]
    outcomes = await asyncio.gather(*map(crawl_store.read, hosts))
    assert [listing and listing.entry.host for listing in outcomes] == [
        *hosts[:3],
        None,
    ]
    assert all(
        item and len(item.documents) == len(item.keys) == 1 for item in outcomes[:3]
    )
