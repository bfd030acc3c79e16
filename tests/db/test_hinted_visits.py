"""A visit for the sake of a hint: it reads, and neither learns nor moves the schedule."""

import json
from datetime import timedelta

import pytest

from crawler.tasks.dispatch import carry_out_task
from registry.db.engine.engines import Role
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.sites.change_history import NEVER_VISITED
from tests.crawler.net import Page
from tests.db.scene import with_commands
from tests.db.test_visiting import DOCUMENT, Visited, visited

__all__ = ["visited"]  # fixtures


def serve(visited: Visited, name: str) -> None:
    body = json.dumps(with_commands(name)).encode()
    visited.server.pages[DOCUMENT] = Page(body, headers={"ETag": f'"{name}"'})


async def lease_crawl(visited: Visited) -> Task | None:
    """As a crawler gets it; leases of other sites and tasks are thrown away."""
    entry = await visited.scene.entry(visited.owner)
    visited.scene.clock.advance(minutes=3)
    async with visited.scene.crawler.begin() as connection:
        leased = await tasks.lease_tasks(
            connection,
            now=visited.scene.clock(),
            lease=timedelta(seconds=120),
            limit=1000,
        )
    of_site = {task.kind: task for task in leased if task.site_id == entry.site_id}
    return of_site.get("crawl")


async def crawl(visited: Visited) -> Task:
    task = await lease_crawl(visited)
    assert task is not None
    await carry_out_task(visited.context, task)
    return task


async def hint(visited: Visited) -> None:
    entry = await visited.scene.entry(visited.owner)
    async with visited.scene.engines[Role.API].begin() as connection:
        await tasks.hint_crawl(connection, entry.site_id, visited.scene.clock())


async def regular(visited: Visited) -> Task:
    """The next regular visit, carried out."""
    outcome = await visited.outcome("crawl")
    visited.scene.clock.now = outcome["nextDueAt"] + timedelta(minutes=1)
    return await crawl(visited)


async def test_hinted_visit_lists_what_changed_and_keeps_the_schedule(
    visited: Visited,
) -> None:
    await regular(visited)
    due_at = (await visited.outcome("crawl"))["nextDueAt"]
    visited.scene.clock.advance(hours=2)
    serve(visited, "orderBread")
    await hint(visited)
    await crawl(visited)
    entry = await visited.scene.entry(visited.owner)
    assert [action.name for action in entry.site.actions] == ["orderBread"]
    outcome = await visited.outcome("crawl")
    assert (outcome["result"], outcome["nextDueAt"]) == ("fetched", due_at)
    assert outcome["at"] == visited.scene.clock().isoformat()
    assert await lease_crawl(visited) is None, "the hint is used up"


@pytest.mark.parametrize("changes", [True, False])
async def test_hints_change_nothing_in_what_is_learnt(
    visited: Visited, changes: bool
) -> None:
    """The gap is that between regular visits, whatever was seen in between."""
    first = await regular(visited)
    learnt = visited.scene.clock()
    if changes:
        serve(visited, "orderBread")
    for _ in range(3):
        visited.scene.clock.advance(hours=1)
        await hint(visited)
        task = await crawl(visited)
        assert task.is_early(visited.scene.clock())
    second = await regular(visited)
    gap_days = (visited.scene.clock() - learnt) / timedelta(days=1)
    expected = second.history.after(gap_days, 0.0 if changes else 1.0)
    assert first.history == NEVER_VISITED
    assert second.history.visits == 1
    visited.scene.clock.advance(days=30)
    third = await lease_crawl(visited)
    assert third is not None
    assert third.history == expected


async def test_failed_visit_holds_hints_back_as_the_site_asked(
    visited: Visited,
) -> None:
    await regular(visited)
    params = {"Retry-After": "7200"}
    visited.server.pages[DOCUMENT] = Page(
        b"", status="503 Service Unavailable", headers=params
    )
    await hint(visited)
    await crawl(visited)
    failed_at = visited.scene.clock()
    await hint(visited)
    assert await lease_crawl(visited) is None
    outcome = await visited.outcome("crawl")
    assert outcome["nextDueAt"] >= failed_at + timedelta(hours=2)
    visited.scene.clock.now = failed_at + timedelta(hours=2)
    task = await lease_crawl(visited)
    assert task is not None
    assert task.failures == 1


async def test_probe_keeps_its_phase_whatever_is_hinted(visited: Visited) -> None:
    await visited.visit("probe")
    due_at = (await visited.outcome("probe"))["nextDueAt"]
    for _ in range(5):
        await hint(visited)
        await crawl(visited)
    assert (await visited.outcome("probe"))["nextDueAt"] == due_at
    assert (await visited.profile()).probes.probes == 1
