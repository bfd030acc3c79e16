"""What waits, how old the copies are, leases given back and out of turn."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from crawler import metrics, survey, worker
from crawler.context import Context
from crawler.worker import Queue, Worker
from registry.db.frontier import due_work as frontier
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.db.registration import registrations
from registry.db.registration.registrations import Registration
from registry.sites.change_history import NEVER_VISITED, ChangeHistory
from tests.db.scene import LEASE, Scene, SiteOwner


async def due(scene: Scene, sites: int = 1) -> list[str]:
    """Hosts of new sites, each with three tasks that are due; no other task is."""
    await scene.sql("DELETE FROM registry.task")
    hosts = [(await scene.register()).host.name for _ in range(sites)]
    await scene.sql("UPDATE registry.task SET due_at = :now", now=scene.clock())
    return hosts


async def lease_all(scene: Scene) -> list[Task]:
    async with scene.crawler.begin() as connection:
        return await tasks.lease_tasks(
            connection, now=scene.clock(), lease=LEASE, limit=100
        )


async def lease_at(scene: Scene, host: str) -> Task | None:
    async with scene.crawler.begin() as connection:
        return await frontier.lease_task_at(
            connection, host, "crawl", now=scene.clock(), lease=LEASE
        )


async def give_back(scene: Scene, *leased: Task | Registration) -> int:
    async with scene.crawler.begin() as connection:
        return await frontier.give_back(connection, leased)


async def test_what_is_given_back_is_ready_at_once(scene: Scene) -> None:
    await due(scene)
    first = await lease_all(scene)
    assert await lease_all(scene) == []
    assert await give_back(scene, *first) == 3
    second = await lease_all(scene)
    assert {item.fence for item in second} == {item.fence + 1 for item in first}


async def test_a_registration_is_given_back_too(scene: Scene) -> None:
    leased = await scene.lease(await scene.submit(SiteOwner()))
    assert await give_back(scene, leased) == 1
    async with scene.crawler.begin() as connection:
        again = await registrations.lease_registrations(
            connection, now=scene.clock(), lease=LEASE, limit=100, retries=True
        )
    assert [item.fence for item in again] == [leased.fence + 1]


async def test_a_lost_lease_is_not_given_back_for_another(scene: Scene) -> None:
    await due(scene)
    lost = await lease_all(scene)
    scene.clock.advance(seconds=61)
    await lease_all(scene)
    assert await give_back(scene, *lost) == 0
    assert await lease_all(scene) == []


async def test_a_task_is_leased_out_of_turn_but_never_twice(scene: Scene) -> None:
    [host] = await due(scene)
    await scene.sql(
        "UPDATE registry.task SET due_at = :later",
        later=scene.clock() + timedelta(days=1),
    )
    leased = await lease_at(scene, host)
    assert leased is not None
    assert (leased.host, leased.kind) == (host, "crawl")
    assert leased.history == NEVER_VISITED
    assert await lease_at(scene, host) is None
    assert await lease_at(scene, "nowhere.test") is None
    scene.clock.advance(seconds=61)
    again = await lease_at(scene, host)
    assert again is not None
    assert again.fence == leased.fence + 1


async def test_a_lease_out_of_turn_is_a_lease_as_any(scene: Scene) -> None:
    [host] = await due(scene)
    in_turn = {task.kind: task for task in await lease_all(scene)}["crawl"]
    await give_back(scene, in_turn)
    out_of_turn = await lease_at(scene, host)
    assert out_of_turn == replace(in_turn, fence=in_turn.fence + 1)


async def test_what_waits_is_counted_by_kind(scene: Scene) -> None:
    await due(scene, 2)
    since = scene.clock()
    await scene.sql("UPDATE registry.task SET due_at = NULL WHERE kind = 'prove'")
    await scene.sql(
        "UPDATE registry.task SET leased_until = :until WHERE kind = 'probe'",
        until=since + LEASE,
    )
    scene.clock.advance(seconds=30)
    async with scene.crawler.connect() as connection:
        waiting = await frontier.count_waiting(connection, scene.clock())
    assert waiting == {
        "crawl": frontier.Waiting(tasks=2, since=since),
        "prove": frontier.Waiting(tasks=2, since=None),
    }
    await survey.note_waiting(scene.crawler, scene.clock())
    assert metrics.total(metrics.DUE, "kind") == {"crawl": 2, "probe": 0, "prove": 2}
    assert metrics.value(metrics.LAG) == 30


async def test_ages_are_those_of_what_was_read(scene: Scene) -> None:
    await due(scene, 2)
    await scene.sql("DELETE FROM registry.document")
    await scene.register()
    at = scene.clock()
    async with scene.crawler.connect() as connection:
        ages = await frontier.sample_ages(connection, 1000)
    assert ages == [(NEVER_VISITED, at)]
    scene.clock.advance(days=1)
    await survey.note_freshness(scene.crawler, scene.clock())
    assert metrics.value(metrics.FRESHNESS) == pytest.approx(
        survey.estimate_freshness([(NEVER_VISITED, 1.0)])
    )


@pytest.mark.parametrize(
    ("ages", "freshness"),
    [
        pytest.param([0.0], 1.0, id="read just now"),
        pytest.param([1e6], 0.0, id="read long ago"),
        pytest.param([0.0, 1e6], 0.5, id="one of each"),
        pytest.param([-1.0], 1.0, id="read by a clock that is ahead"),
    ],
)
def test_freshness_is_the_share_expected_to_be_current(
    ages: list[float], freshness: float
) -> None:
    result = survey.estimate_freshness([(NEVER_VISITED, age) for age in ages])
    assert result == pytest.approx(freshness)


def test_a_site_that_changes_more_often_is_less_likely_current() -> None:
    restless = ChangeHistory(visits=20.0, unchanged=1.0, mean_gap_days=1.0)
    steady = ChangeHistory(visits=20.0, unchanged=20.0, mean_gap_days=1.0)
    of_restless = survey.estimate_freshness([(restless, 1.0)])
    of_steady = survey.estimate_freshness([(steady, 1.0)])
    assert of_restless < 0.2
    assert of_steady > 0.9


async def test_a_stopped_worker_gives_back_what_it_did_not_do(scene: Scene) -> None:
    await due(scene, 3)
    begun: list[Task] = []

    async def work(_: Context, task: Task) -> None:
        begun.append(task)
        await asyncio.Event().wait()

    context = cast(
        "Context", SimpleNamespace(engine=scene.crawler, clock=scene.ids.clock)
    )
    queue: Queue = replace(worker.TASKS, work=cast("Any", work))
    running = asyncio.create_task(
        Worker(context, at_once=7, queues=[queue], grace_s=0.0).run()
    )
    while len(begun) < 7:
        await asyncio.sleep(0.01)
    assert len(await lease_all(scene)) == 2, "the others are free"
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    returned = await lease_all(scene)
    assert {(task.site_id, task.kind) for task in returned} == {
        (task.site_id, task.kind) for task in begun
    }
