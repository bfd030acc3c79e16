"""Leases of tasks and registrations: to one at a time, fenced, and given again."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import text, update

from registry.bench.synthetic import tables as synthetic_tables
from registry.db.engine.engines import Engine
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.db.registration import registrations
from registry.db.registration.registrations import Registration
from registry.db.schema.tables import task as task_table
from registry.sites.change_history import NEVER_VISITED, ChangeHistory
from tests.db.scene import LEASE, Scene, SiteOwner

CLAIMANTS, SITES = 5, 30


async def due_tasks(scene: Scene, sites: int = 1) -> list[int]:
    """Ids of new sites, each with three tasks that are due; no other task is."""
    await scene.sql("DELETE FROM registry.task")
    owners = [await scene.register() for _ in range(sites)]
    ids = [(await scene.entry(owner)).site_id for owner in owners]
    await scene.sql("UPDATE registry.task SET due_at = :now", now=scene.clock())
    return ids


async def claim_tasks(scene: Scene, limit: int = 100) -> list[Task]:
    async with scene.crawler.begin() as connection:
        return await tasks.lease_tasks(
            connection, now=scene.clock(), lease=LEASE, limit=limit
        )


async def claim_registrations(scene: Scene, limit: int = 100) -> list[Registration]:
    async with scene.crawler.begin() as connection:
        return await registrations.lease_registrations(
            connection, now=scene.clock(), lease=LEASE, limit=limit
        )


async def complete(
    scene: Scene,
    task: Task,
    due_at: timedelta,
    history: ChangeHistory[float] | None = None,
) -> bool:
    async with scene.crawler.begin() as connection:
        return await tasks.complete(
            connection,
            task,
            due_at=scene.clock() + due_at,
            failures=0,
            outcome={"result": "fetched"},
            history=history,
        )


async def test_concurrent_claimants_never_get_the_same_task(scene: Scene) -> None:
    await due_tasks(scene, SITES)

    async def claim_all() -> list[Task]:
        findings: list[Task] = []
        while leased := await claim_tasks(scene, limit=4):
            findings += leased
        return findings

    shares = await asyncio.gather(*(claim_all() for _ in range(CLAIMANTS)))
    given = Counter((site.site_id, site.kind) for share in shares for site in share)
    assert len(given) == SITES * 3
    assert set(given.values()) == {1}


async def test_concurrent_claimants_never_get_the_same_registration(
    scene: Scene,
) -> None:
    submitted = [await scene.submit(SiteOwner()) for _ in range(SITES)]

    async def claim_all() -> list[Registration]:
        findings: list[Registration] = []
        while leased := await claim_registrations(scene, limit=2):
            findings += leased
        return findings

    shares = await asyncio.gather(*(claim_all() for _ in range(CLAIMANTS)))
    given = Counter(item.registration_id for share in shares for item in share)
    assert given == Counter(registration.registration_id for registration in submitted)


async def test_expired_lease_is_given_again_with_a_higher_fence(scene: Scene) -> None:
    await due_tasks(scene)
    first = {task.kind: task.fence for task in await claim_tasks(scene)}
    scene.clock.advance(seconds=59)
    assert await claim_tasks(scene) == [], "it still holds"
    scene.clock.advance(seconds=1)
    second = {task.kind: task.fence for task in await claim_tasks(scene)}
    assert {kind: fence + 1 for kind, fence in first.items()} == second


async def test_expired_lease_of_a_registration_is_given_again(scene: Scene) -> None:
    submitted = await scene.submit(SiteOwner())
    first = await scene.lease(submitted)
    assert await claim_registrations(scene) == []
    scene.clock.advance(seconds=61)
    assert (await scene.lease(submitted)).fence == first.fence + 1


async def test_postponed_registration_comes_back_when_it_is_due(scene: Scene) -> None:
    leased = await scene.lease(await scene.submit(SiteOwner()))
    later = scene.clock() + timedelta(seconds=5)
    async with scene.crawler.begin() as connection:
        await registrations.postpone(connection, leased, later)
    assert await claim_registrations(scene) == []
    scene.clock.advance(seconds=5)
    assert (await scene.lease(leased)).fence == leased.fence + 1


async def test_decided_registration_is_leased_no_more(scene: Scene) -> None:
    leased = await scene.lease(await scene.submit(SiteOwner()))
    async with scene.crawler.begin() as connection:
        await registrations.decide(connection, leased, "rejected", [], scene.clock())
    scene.clock.advance(days=1)
    ids = {
        registration.registration_id
        for registration in await claim_registrations(scene)
    }
    assert leased.registration_id not in ids


async def test_completed_task_is_due_again_at_its_time(scene: Scene) -> None:
    await due_tasks(scene)
    for task in await claim_tasks(scene):
        assert await complete(scene, task, timedelta(hours=1))
    scene.clock.advance(minutes=59)
    assert await claim_tasks(scene) == []
    scene.clock.advance(minutes=1)
    assert len(await claim_tasks(scene)) == 3


async def test_completion_under_a_stale_fence_writes_nothing(scene: Scene) -> None:
    await due_tasks(scene)
    stale = (await claim_tasks(scene, limit=1))[0]
    scene.clock.advance(seconds=61)
    await claim_tasks(scene)
    before = await scene.rows()
    assert not await complete(scene, stale, timedelta(hours=1))
    assert await scene.rows() == before


async def test_without_the_fence_a_stale_completion_would_write(scene: Scene) -> None:
    """The control: the same update, but for its condition."""
    await due_tasks(scene)
    stale = (await claim_tasks(scene, limit=1))[0]
    scene.clock.advance(seconds=61)
    await claim_tasks(scene)
    of_task = (task_table.c.site_id == stale.site_id, task_table.c.kind == stale.kind)
    statement = update(task_table).values(leased_until=None)
    async with scene.crawler.connect() as connection:
        unfenced = await connection.execute(statement.where(*of_task))
        fenced = await connection.execute(
            statement.where(*of_task, task_table.c.fence == stale.fence)
        )
        await connection.rollback()
    assert (unfenced.rowcount, fenced.rowcount) == (1, 0)


@pytest.mark.parametrize("due_first", ["never fetched", "longest waiting"])
async def test_who_waits_longest_is_served_first(scene: Scene, due_first: str) -> None:
    waiting, *_ = await due_tasks(scene, 4)
    due_at = None if due_first == "never fetched" else scene.clock() - timedelta(days=1)
    await scene.sql(
        "UPDATE registry.task SET due_at = :due_at WHERE site_id = :id",
        due_at=due_at,
        id=waiting,
    )
    assert {task.site_id for task in await claim_tasks(scene, limit=3)} == {waiting}


async def test_leased_task_tells_when_it_was_due(scene: Scene) -> None:
    await due_tasks(scene)
    due_at = scene.clock()
    scene.clock.advance(seconds=5)
    assert {task.due_at for task in await claim_tasks(scene)} == {due_at}


async def test_claim_reads_one_range_of_one_index(scene: Scene, owner: Engine) -> None:
    """However many are leased or not yet due: no sort, no filter, no whole table."""
    async with owner.connect() as connection:
        await synthetic_tables.insert_sites_with_tasks(
            connection, sites=3000, now=scene.clock()
        )
        times = {"now": scene.clock(), "until": scene.clock() + LEASE, "limit": 100}
        rows = await connection.execute(text(f"EXPLAIN {tasks.LEASE.text}"), times)
        plan = [row[0].strip() for row in rows]
        await connection.rollback()
    reads = [line for line in plan if " on task" in line and "Scan" in line]
    assert reads[0].startswith("->  Index Scan using task_ready"), plan
    at = plan.index(reads[0])
    assert plan[at - 1].startswith("->  LockRows"), "in the order of the index"
    assert plan[at + 1].startswith("Index Cond"), plan
    assert not plan[at + 2].startswith("Filter"), plan


async def test_history_of_a_site_is_kept_until_a_crawl_adds_to_it(scene: Scene) -> None:
    await due_tasks(scene)
    learnt = NEVER_VISITED.after(gap_days=2.0, unchanged=1.0)
    for history, stored in ((learnt, learnt), (None, learnt)):
        for task in await claim_tasks(scene):
            assert await complete(scene, task, timedelta(), history)
        historys = {item.history for item in await claim_tasks(scene)}
        assert historys == {stored}
        scene.clock.advance(seconds=61)


@pytest.mark.parametrize("counted", [True, False])
async def test_sample_of_histories_is_all_of_few(
    scene: Scene, *, counted: bool
) -> None:
    ids = await due_tasks(scene, 3)
    await scene.sql(
        "UPDATE registry.task SET visits = 4, unchanged = 1, mean_gap_days = 0.5 "
        "WHERE kind = 'crawl' AND site_id = :id",
        id=ids[0],
    )
    if counted:
        await scene.sql("ANALYZE registry.task")
    async with scene.crawler.connect() as connection:
        sampled = await tasks.sample_histories(connection, 1000)
    visited = ChangeHistory(visits=4.0, unchanged=1.0, mean_gap_days=0.5)
    assert Counter(sampled) == Counter([NEVER_VISITED, NEVER_VISITED, visited])


async def test_sample_is_all_of_few_though_the_count_is_of_many(scene: Scene) -> None:
    await due_tasks(scene, 3)
    await scene.sql(
        "UPDATE pg_class SET reltuples = 1e7 WHERE oid = 'registry.task'::regclass"
    )
    async with scene.crawler.connect() as connection:
        assert len(await tasks.sample_histories(connection, 1000)) == 3


async def test_sample_of_many_histories_is_a_part_of_them(
    scene: Scene, owner: Engine
) -> None:
    async with owner.connect() as connection:
        await synthetic_tables.insert_sites_with_tasks(
            connection, sites=10_000, now=scene.clock()
        )
        sampled = await tasks.sample_histories(connection, 1000)
        await connection.rollback()
    assert 0 < len(sampled) < 3000
