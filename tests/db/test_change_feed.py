"""The index's feed of profiles: no change is missed, whatever the order of commits."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from registry.db import profiles
from registry.db.engine import Connection, Role
from registry.db.profiles import ProfileChange, changed_since, horizon_of, profiles_of
from tests.db.scene import Scene


@dataclass(frozen=True)
class Changes:
    rows: Sequence[ProfileChange]
    horizon: int
    latest: int


async def poll(scene: Scene, horizon: int) -> Changes:
    async with scene.engines[Role.RANKER].connect() as connection:
        following = await horizon_of(connection)
        changed = await changed_since(connection, horizon)
        rows = await profiles_of(connection, list(changed))
    return Changes(rows, following, max(changed.values(), default=0))


async def ids(scene: Scene, count: int) -> list[int]:
    return [(await scene.entry(await scene.register())).site_id for _ in range(count)]


async def change(connection: Connection, site_id: int, text: bytes) -> None:
    await profiles.change_profile(connection, site_id, text)


async def test_feed_from_zero_gives_every_profile(scene: Scene) -> None:
    site_ids = await ids(scene, 2)
    changes = await poll(scene, 0)
    assert set(site_ids) <= {row.site_id for row in changes.rows}
    assert changes.latest > 0


async def test_change_that_commits_after_a_later_one_is_seen(scene: Scene) -> None:
    """A counter of changes would have moved past it at the poll in between."""
    early, late = await ids(scene, 2)
    horizon = (await poll(scene, 0)).horizon
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await change(first, early, b"early")
        await change(second, late, b"late")
        await second.commit()
        between = await poll(scene, horizon)
        assert {row.profile for row in between.rows} >= {b"late"}
        assert b"early" not in {row.profile for row in between.rows}
        await first.commit()
    after = await poll(scene, between.horizon)
    assert b"early" in {row.profile for row in after.rows}
    settled = await poll(scene, after.horizon)
    assert {row.profile for row in settled.rows} & {b"early", b"late"} == set()


async def test_rows_above_the_latest_change_alone_would_be_missed(
    scene: Scene,
) -> None:
    """The control: what a follower of `latest` instead of the horizon would not see."""
    early, late = await ids(scene, 2)
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await change(first, early, b"early")
        await change(second, late, b"late")
        await second.commit()
        between = await poll(scene, 0)
        await first.commit()
    naive = await poll(scene, between.latest + 1)
    assert b"early" not in {row.profile for row in naive.rows}


async def test_rolled_back_change_is_not_seen(scene: Scene) -> None:
    (site_id,) = await ids(scene, 1)
    horizon = (await poll(scene, 0)).horizon
    async with scene.crawler.connect() as connection:
        await change(connection, site_id, b"undone")
        await connection.rollback()
    changes = await poll(scene, horizon)
    assert b"undone" not in {row.profile for row in changes.rows}


async def test_withdrawn_site_comes_as_a_removal(scene: Scene) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    horizon = (await poll(scene, 0)).horizon
    await scene.play(site, act="withdraw")
    changes = {row.site_id: row.profile for row in (await poll(scene, horizon)).rows}
    assert changes == {site_id: None}


@pytest.mark.parametrize("seed", range(3))
async def test_follower_among_many_writers_ends_with_the_last_of_each(
    scene: Scene, seed: int
) -> None:
    site_ids = await ids(scene, 6)
    rng = random.Random(seed)
    followed: dict[int, bytes | None] = {}
    horizon = (await poll(scene, 0)).horizon

    async def write(site_id: int) -> None:
        for number in range(8):
            async with scene.crawler.begin() as connection:
                await change(connection, site_id, b"%d" % number)
                await asyncio.sleep(rng.random() / 200)

    writing = asyncio.gather(*(write(site_id) for site_id in site_ids[:4]))
    while not writing.done():
        changes = await poll(scene, horizon)
        horizon = changes.horizon
        followed |= {row.site_id: row.profile for row in changes.rows}
    await writing
    followed |= {row.site_id: row.profile for row in (await poll(scene, horizon)).rows}
    assert {followed[site_id] for site_id in site_ids[:4]} == {b"7"}
