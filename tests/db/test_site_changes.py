"""The change feed misses nothing, whatever the order of commits and the size of pages."""

import asyncio
import random

import pytest

from registry.db.engine.engines import Connection, Role
from registry.db.engine.snapshots import Snapshot
from registry.db.sites import listed_sites
from registry.errors import Gone
from registry.usecases.sites.change_feed import (
    FeedCursor,
    SiteChange,
    begin_feed,
    read_feed,
)
from tests.db.scene import Scene


async def begin(scene: Scene, *, from_now: bool = True) -> FeedCursor:
    async with scene.engines[Role.API].connect() as connection:
        return await begin_feed(connection, from_now=from_now)


async def follow(
    scene: Scene, cursor: FeedCursor, most: int = 100
) -> tuple[list[SiteChange], FeedCursor]:
    """All pages up to the last."""
    rows: list[SiteChange] = []
    while True:
        async with scene.engines[Role.API].connect() as connection:
            page = await read_feed(connection, cursor, most)
        rows += page.changes
        cursor = page.cursor
        if not page.has_more:
            return rows, cursor


def ids(rows: list[SiteChange]) -> list[int]:
    return [row.entry.site_id for row in rows]


async def register(scene: Scene, count: int) -> list[int]:
    return [(await scene.entry(await scene.register())).site_id for _ in range(count)]


async def touch(connection: Connection, site_id: int, scene: Scene) -> None:
    await listed_sites.note_unlisted(
        connection, site_id, "documents_missing", scene.clock()
    )


@pytest.mark.parametrize("most", [1, 2, 100])
async def test_a_feed_from_the_beginning_has_every_site_once(
    scene: Scene, most: int
) -> None:
    fresh = await register(scene, 3)
    rows, _ = await follow(scene, await begin(scene, from_now=False), most)
    assert set(fresh) <= set(ids(rows))
    assert len(ids(rows)) == len(set(ids(rows)))
    assert ids(rows)[-3:] == fresh


async def test_nothing_new_is_the_same_cursor_again(scene: Scene) -> None:
    cursor = await begin(scene)
    assert await follow(scene, cursor) == ([], cursor)


async def test_a_change_that_commits_after_a_later_one_is_not_missed(
    scene: Scene,
) -> None:
    early, late = await register(scene, 2)
    cursor = await begin(scene)
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await touch(first, early, scene)
        await touch(second, late, scene)
        await second.commit()
        between, cursor = await follow(scene, cursor)
        assert ids(between) == [late]
        await first.commit()
    after, cursor = await follow(scene, cursor)
    assert ids(after) == [early]
    assert (await follow(scene, cursor))[0] == []


async def test_a_change_between_two_pages_comes_with_the_next_pass(
    scene: Scene,
) -> None:
    cursor = await begin(scene)
    sites = await register(scene, 3)
    async with scene.engines[Role.API].connect() as connection:
        page = await read_feed(connection, cursor, 1)
    assert ids(list(page.changes)) == sites[:1]
    async with scene.crawler.begin() as connection:
        await touch(connection, sites[2], scene)
    rest, cursor = await follow(scene, page.cursor)
    assert ids(rest) == [sites[1]]
    again, _ = await follow(scene, cursor)
    assert ids(again) == [sites[2]]


async def test_a_withdrawn_site_leaves_a_tombstone(scene: Scene) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    cursor = await begin(scene)
    await scene.play(site, act="withdraw")
    (row,), _ = await follow(scene, cursor)
    assert row.entry.site_id == site_id
    assert row.entry.shown_status == "withdrawn"
    assert not row.entry.is_listed
    rows, _ = await follow(scene, await begin(scene, from_now=False))
    assert site_id in ids(rows), "also for who begins today"


async def test_a_cursor_of_another_history_is_refused(scene: Scene) -> None:
    other = FeedCursor("another", Snapshot.at(0))
    with pytest.raises(Gone, match="feed_lost"):
        await follow(scene, other)


async def test_readers_of_any_page_size_end_where_the_sites_are(scene: Scene) -> None:
    """Writers that overlap and roll back; three readers that read meanwhile."""
    sites = await register(scene, 6)
    start = await begin(scene)
    chance = random.Random(7)
    is_over = asyncio.Event()
    committed: set[int] = set()

    async def write() -> None:
        for _ in range(12):
            site_id = chance.choice(sites)
            async with scene.crawler.connect() as connection:
                await touch(connection, site_id, scene)
                await asyncio.sleep(chance.random() / 50)
                if chance.random() < 0.2:
                    await connection.rollback()
                else:
                    await connection.commit()
                    committed.add(site_id)

    async def read(most: int) -> set[int]:
        cursor, site_ids = start, set[int]()
        while True:
            was_over = is_over.is_set()
            rows, cursor = await follow(scene, cursor, most)
            site_ids |= set(ids(rows))
            if was_over:
                return site_ids
            await asyncio.sleep(0.005)

    readers = [asyncio.create_task(read(most)) for most in (1, 2, 100)]
    await asyncio.gather(write(), write(), write())
    is_over.set()
    assert await asyncio.gather(*readers) == [committed] * 3
