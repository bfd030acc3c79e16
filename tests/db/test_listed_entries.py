"""What answers show of sites: read together, kept, and forgotten with each change."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from registry.db import sites
from registry.db.engine import Connection, Role, reading
from registry.db.snapshots import Snapshot, snapshot_of
from registry.interfaces.rest.entry_views import show_summary
from registry.sites.entry import ShortEntry
from registry.usecases.listed_entries import ENTRY_BYTES, KeptEntries, ListedEntries
from tests.db.scene import Scene

NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture
async def connection(scene: Scene) -> AsyncIterator[Connection]:
    async with reading(scene.engines[Role.API]).connect() as connection:
        yield connection


def spell(entry: ShortEntry) -> bytes:
    return f"{entry.host} {entry.trust_level}".encode()


async def found(
    entries: ListedEntries, connection: Connection, ids: Sequence[int]
) -> dict[int, bytes]:
    asked = asyncio.ensure_future(entries.find(ids))
    await asyncio.sleep(0)
    await entries.serve(connection)
    return await asked


async def test_short_entry_is_the_short_of_the_whole(scene: Scene) -> None:
    site = await scene.register()
    whole = await scene.entry(site)
    async with scene.engines[Role.API].connect() as connection:
        (short,) = await sites.find_short(connection, [whole.site_id, 1])
    assert short == whole.short
    assert show_summary(short) == show_summary(whole.short)


async def test_listing_of_nothing_has_a_short_entry(scene: Scene) -> None:
    site_id = (await scene.entry(await scene.register())).site_id
    async with scene.crawler.begin() as connection:
        await connection.execute(
            text(
                "UPDATE registry.site SET listing = :listing WHERE site_id = :site_id"
            ),
            {"listing": '{"site": {}, "place": null}', "site_id": site_id},
        )
        (short,) = await sites.find_short(connection, [site_id])
    assert (short.name, short.category, short.action_names) == ("", "", ())


async def test_entry_is_read_once_until_its_site_changes(
    scene: Scene, connection: Connection
) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    shown: list[int] = []

    def show(entry: ShortEntry) -> bytes:
        shown.append(entry.site_id)
        return spell(entry)

    entries = ListedEntries(scene.engines[Role.API], show)
    first = await found(entries, connection, [site_id])
    again = await found(entries, connection, [site_id])
    assert (first, shown) == (again, [site_id])
    await scene.play(site, act="withdraw")
    entries.look_again()
    await entries.serve(connection)
    later = await found(entries, connection, [site_id])
    assert shown == [site_id, site_id]
    assert later[site_id].endswith(b"unverified")


async def test_callers_gather_into_one_read(
    scene: Scene, connection: Connection
) -> None:
    ids = [(await scene.entry(await scene.register())).site_id for _ in range(3)]
    entries = ListedEntries(scene.engines[Role.API], spell)
    asked = [asyncio.ensure_future(entries.find(ids[n:])) for n in range(3)]
    asked.append(asyncio.ensure_future(entries.find([0])))
    await asyncio.sleep(0)
    await entries.serve(connection)
    told = [sorted(one) for one in await asyncio.gather(*asked)]
    assert told == [sorted(ids[n:]) for n in range(3)] + [[]]


async def test_many_changes_at_once_forget_everything(
    scene: Scene, connection: Connection
) -> None:
    own = [await scene.register() for _ in range(4)]
    ids = [(await scene.entry(site)).site_id for site in own]
    entries = ListedEntries(scene.engines[Role.API], spell, changed_most=2)
    before = await found(entries, connection, ids)
    await _change_all(scene, ids)
    entries.look_again()
    await entries.serve(connection)
    after = await found(entries, connection, ids)
    assert before != after


async def test_changed_sites_are_told_once_whatever_the_order_of_commits(
    scene: Scene, connection: Connection
) -> None:
    early, late = [(await scene.entry(await scene.register())).site_id for _ in "ab"]
    before = await snapshot_of(connection)
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await sites.set_status(first, early, "withdrawn", 9, NOW)
        await sites.set_status(second, late, "withdrawn", 9, NOW)
        await second.commit()
        one, between = await sites.changed_since(connection, before, 10)
        await first.commit()
    two, after = await sites.changed_since(connection, between, 10)
    three, _ = await sites.changed_since(connection, after, 10)
    assert (one, two, three) == ([late], [early], [])


async def test_no_more_changes_are_told_than_were_asked_for(
    scene: Scene, connection: Connection
) -> None:
    for _ in range(3):
        await scene.register()
    changed, _ = await sites.changed_since(connection, Snapshot.at(0), 2)
    assert len(changed) == 2


async def test_whoever_asks_while_the_database_is_away_is_told(scene: Scene) -> None:
    async def refuse(*_: object, **__: object) -> object:
        raise ConnectionRefusedError

    entries = ListedEntries(scene.engines[Role.API], spell)
    entries.serve = refuse  # type: ignore[assignment, method-assign]
    running = asyncio.create_task(entries.run())
    with pytest.raises(ConnectionRefusedError):
        await entries.find([1])
    running.cancel()


def test_kept_entries_stay_within_their_bytes_and_the_oldest_go_first() -> None:
    kept = KeptEntries(3 * (ENTRY_BYTES + 10))
    for site_id in range(5):
        kept.keep({site_id: bytes(10)})
        kept.keep({site_id: bytes(10)})
    assert sorted(kept.find(range(5))) == [2, 3, 4]
    kept.forget([3, 99])
    kept.keep({7: bytes(10)})
    assert sorted(kept.find(range(9))) == [2, 4, 7]
    kept.forget_all()
    kept.keep({8: bytes(10), 9: bytes(10), 10: bytes(10)})
    assert sorted(kept.find(range(20))) == [8, 9, 10]


async def _change_all(scene: Scene, ids: Sequence[int]) -> None:
    async with scene.crawler.begin() as connection:
        for site_id in ids:
            await sites.set_status(connection, site_id, "unverified", 9, NOW)
