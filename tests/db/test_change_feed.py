"""The index's feed of profiles: no change is missed, whatever the order of commits."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from registry.db.engine.engines import Connection, Role
from registry.db.engine.snapshots import (
    Snapshot,
    UnreadRange,
    ended_between,
    snapshot_of,
)
from registry.db.sites import profiles
from registry.db.sites.profiles import (
    ProfileChange,
    profiles_of,
    read_changes,
)
from registry.usecases.search import profile_changes
from registry.usecases.search.profile_changes import ProfileChanges
from tests.db.scene import Scene

NEVER = Snapshot.at(0)


@dataclass(frozen=True)
class Changes:
    rows: Sequence[ProfileChange]
    seen: Snapshot
    latest: int


async def poll(scene: Scene, before: Snapshot, *, at_once: int = 1_000) -> Changes:
    """All that has ended since."""
    result: dict[int, int] = {}
    async with scene.engines[Role.RANKER].connect() as connection:
        seen = await snapshot_of(connection)
        parts: Sequence[UnreadRange] = ended_between(before, seen)
        while parts:
            changed = await read_changes(connection, parts, at_once)
            assert not result.keys() & dict(changed.sites).keys(), "told twice"
            result |= changed.sites
            parts = changed.unread
        rows = await profiles_of(connection, list(result))
    return Changes(rows, seen, max(result.values(), default=0))


async def ids(scene: Scene, count: int) -> list[int]:
    return [(await scene.entry(await scene.register())).site_id for _ in range(count)]


async def change(connection: Connection, site_id: int, text: bytes) -> None:
    stored = profiles.StoredProfile(profile=text, features=b"", policy="")
    await profiles.change_profile(connection, site_id, stored)


async def test_feed_from_zero_gives_every_profile(scene: Scene) -> None:
    site_ids = await ids(scene, 2)
    changes = await poll(scene, NEVER)
    assert set(site_ids) <= {row.site_id for row in changes.rows}
    assert changes.latest > 0


async def test_change_that_commits_after_a_later_one_is_seen(scene: Scene) -> None:
    """A counter of changes would have moved past it at the poll in between."""
    early, late = await ids(scene, 2)
    seen = (await poll(scene, NEVER)).seen
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await change(first, early, b"early")
        await change(second, late, b"late")
        await second.commit()
        between = await poll(scene, seen)
        assert {row.stored for row in between.rows} >= {b"late"}
        assert b"early" not in {row.stored for row in between.rows}
        await first.commit()
    after = await poll(scene, between.seen)
    assert b"early" in {row.stored for row in after.rows}
    settled = await poll(scene, after.seen)
    assert {row.stored for row in settled.rows} & {b"early", b"late"} == set()


async def test_rows_above_the_latest_change_alone_would_be_missed(
    scene: Scene,
) -> None:
    """The control: what a follower of `latest` instead of snapshots would not see."""
    early, late = await ids(scene, 2)
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await change(first, early, b"early")
        await change(second, late, b"late")
        await second.commit()
        between = await poll(scene, NEVER)
        await first.commit()
    naive = await poll(scene, Snapshot.at(between.latest + 1))
    assert b"early" not in {row.stored for row in naive.rows}


async def test_rolled_back_change_is_not_seen(scene: Scene) -> None:
    (site_id,) = await ids(scene, 1)
    seen = (await poll(scene, NEVER)).seen
    async with scene.crawler.connect() as connection:
        await change(connection, site_id, b"undone")
        await connection.rollback()
    changes = await poll(scene, seen)
    assert b"undone" not in {row.stored for row in changes.rows}


async def test_withdrawn_site_comes_as_a_removal(scene: Scene) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    seen = (await poll(scene, NEVER)).seen
    await scene.play(site, act="withdraw")
    changes = {row.site_id: row.stored for row in (await poll(scene, seen)).rows}
    assert changes == {site_id: None}


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
async def test_a_transaction_of_many_is_read_some_at_a_time(
    scene: Scene, at_once: int
) -> None:
    site_ids = await ids(scene, 6)
    seen = (await poll(scene, NEVER)).seen
    async with scene.crawler.begin() as connection:
        for site_id in site_ids:
            await change(connection, site_id, b"together")
    changes = await poll(scene, seen, at_once=at_once)
    assert sorted(row.site_id for row in changes.rows) == sorted(site_ids)


async def test_a_row_that_changed_between_two_pages_is_told_of_later(
    scene: Scene,
) -> None:
    site_ids = sorted(await ids(scene, 3))
    before = (await poll(scene, NEVER)).seen
    async with scene.crawler.begin() as connection:
        for site_id in site_ids:
            await change(connection, site_id, b"together")
    async with scene.engines[Role.RANKER].connect() as connection:
        seen = await snapshot_of(connection)
        first = await read_changes(connection, ended_between(before, seen), 1)
        async with scene.crawler.begin() as crawler:
            await change(crawler, site_ids[0], b"later")
        rest = await read_changes(connection, first.unread, 5)
    seen_ids = [site_id for site_id, _ in (*first.sites, *rest.sites)]
    assert seen_ids == [site_ids[2], site_ids[1]]
    later = await poll(scene, seen)
    assert [(row.site_id, row.stored) for row in later.rows] == [
        (site_ids[0], b"later")
    ]


@pytest.mark.parametrize("seed", range(3))
async def test_follower_among_many_writers_ends_with_the_last_of_each(
    scene: Scene, seed: int
) -> None:
    site_ids = await ids(scene, 6)
    rng = random.Random(seed)
    followed: dict[int, bytes | None] = {}
    seen = (await poll(scene, NEVER)).seen

    async def write(site_id: int) -> None:
        for number in range(8):
            async with scene.crawler.begin() as connection:
                await change(connection, site_id, b"%d" % number)
                await asyncio.sleep(rng.random() / 200)

    writing = asyncio.gather(*(write(site_id) for site_id in site_ids[:4]))
    while not writing.done():
        changes = await poll(scene, seen)
        seen = changes.seen
        followed |= {row.site_id: row.stored for row in changes.rows}
    await writing
    followed |= {row.site_id: row.stored for row in (await poll(scene, seen)).rows}
    assert {followed[site_id] for site_id in site_ids[:4]} == {b"7"}


async def test_a_few_new_changes_go_ahead_of_many_but_not_twice_in_a_row(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_changes, "FEW", 2)
    many, new = await ids(scene, 5), await ids(scene, 2)
    async with scene.engines[Role.RANKER].connect() as connection:
        feed = ProfileChanges("", (await snapshot_of(connection)).oldest)

    async def look() -> Sequence[int]:
        async with scene.engines[Role.RANKER].connect() as connection:
            await feed.look(connection)
        taken = feed.some(3)
        feed.done(taken)
        return taken

    async with scene.crawler.begin() as connection:
        for site_id in many:
            await change(connection, site_id, b"together")
    assert len(set(await look()) & set(many)) == 3
    await _change_alone(scene, new[0])
    assert await look() == [new[0]]
    await _change_alone(scene, new[1])
    third = await look()
    assert len(third) == 3
    assert new[1] in third
    assert not feed


async def _change_alone(scene: Scene, site_id: int) -> None:
    async with scene.crawler.begin() as connection:
        await change(connection, site_id, b"alone")
