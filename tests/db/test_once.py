"""A crawl task carried out at once, out of turn, and told step by step."""

import io
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from crawler import once
from crawler.context import Context
from tests.crawler.net import HonestSite, Net, Page
from tests.db.scene import LEASE, Scene, wab

TASK = """
    SELECT t.* FROM registry.task AS t JOIN registry.site USING (site_id)
    WHERE host = :host AND kind = 'crawl'
"""


@pytest.fixture
def context(net: Net, scene: Scene) -> Context:
    fetcher = net.fetcher()
    return scene.context(fetcher)


@pytest.fixture
async def host(net: Net, scene: Scene) -> str:
    """Of a listed site whose next crawl is tomorrow."""
    name = (await scene.register()).host.name
    await net.serve(
        HonestSite({"/agent-bridge.json": Page(json.dumps(wab()).encode())}), name
    )
    await scene.sql(
        "UPDATE registry.task SET due_at = :at", at=scene.clock() + timedelta(days=1)
    )
    scene.clock.advance(hours=1)
    return name


async def carry_out(context: Context, host: str) -> tuple[bool, list[dict[str, Any]]]:
    written = io.StringIO()
    is_taken = await once.carry_out(context, host, lease=LEASE, write=written)
    return is_taken, [json.loads(line) for line in written.getvalue().splitlines()]


async def test_the_task_is_carried_out_under_a_lease_of_its_own(
    context: Context, scene: Scene, host: str
) -> None:
    [before] = await scene.sql(TASK, host=host)
    result, events = await carry_out(context, host)
    [after] = await scene.sql(TASK, host=host)
    assert result
    assert events[0] == {
        "event": "leased",
        "site_id": after.site_id,
        "fence": after.fence,
        "lease_s": 60,
    }
    assert (after.fence, after.leased_until) == (before.fence + 1, None)
    assert {"visit_begun", "answered", "recognised"} <= {
        event["event"] for event in events
    }
    assert events[-1]["result"] == after.outcome["result"]
    due_s = (after.due_at - scene.clock()).total_seconds()
    assert events[-1]["earliest_s"] == events[-1]["latest_s"] == round(due_s)


async def test_another_crawler_s_lease_is_respected(
    context: Context, scene: Scene, host: str
) -> None:
    await scene.sql(
        "UPDATE registry.task SET leased_until = :until",
        until=scene.clock() + LEASE,
    )
    before = await scene.rows()
    result, events = await carry_out(context, host)
    assert not result
    assert events == [{"event": "not_leased", "host": host, "why": "leased"}]
    assert await scene.rows() == before


@pytest.mark.parametrize("host_", ["nowhere.test", "127.0.0.1"])
async def test_what_is_not_listed_has_no_task(context: Context, host_: str) -> None:
    result, events = await carry_out(context, host_)
    assert not result
    assert [event["event"] for event in events] in (["not_leased"], ["not_taken"])


async def test_a_failed_attempt_keeps_no_lease(
    context: Context, scene: Scene, host: str
) -> None:
    def fail() -> float:
        raise KeyError("a bug")

    with pytest.raises(KeyError):
        await carry_out(replace(context, draw=fail), host)
    [after] = await scene.sql(TASK, host=host)
    assert after.leased_until is None
