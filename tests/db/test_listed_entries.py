"""What answers show of sites: read together, kept, and forgotten with each change."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from registry.db.engine.engines import Connection, Role, reading
from registry.db.engine.snapshots import Snapshot, snapshot_of
from registry.db.sites import listed_sites as sites
from registry.sites.entry import ShortEntry
from registry.sites.summary import SiteSummary, summary_of
from registry.usecases.sites import listed_entries
from registry.usecases.sites.listed_entries import EntryCache, ListedEntries
from tests.db.scene import Scene

NOW = datetime(2026, 11, 20, tzinfo=UTC)


@pytest.fixture
async def connection(scene: Scene) -> AsyncIterator[Connection]:
    async with reading(scene.engines[Role.API]).connect() as connection:
        yield connection


async def summaries(
    entries: ListedEntries, connection: Connection, ids: Sequence[int]
) -> dict[int, SiteSummary]:
    query = asyncio.ensure_future(entries.find(ids))
    await asyncio.sleep(0)
    await entries.serve(connection)
    return await query


async def test_short_entry_is_the_short_of_the_whole(scene: Scene) -> None:
    site = await scene.register()
    claims = '{"direct_benefit": "The baker is paid", "trust_signatures": ["a", "b"]}'
    update = (
        "UPDATE registry.site SET listing = jsonb_set(listing, '{site}', "
        "listing -> 'site' || CAST(:claims AS jsonb)) WHERE host = :host"
    )
    async with scene.crawler.begin() as connection:
        await connection.execute(
            text(update), {"claims": claims, "host": site.host.name}
        )
    whole = await scene.entry(site)
    assert whole.short.direct_benefit == "The baker is paid"
    assert whole.short.trust_signatures == ("a", "b")
    async with scene.engines[Role.API].connect() as connection:
        (short,) = await sites.find_short(connection, [whole.site_id, 1])
    assert short == whole.short


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
    scene: Scene, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    read: list[int] = []

    def summarise(entry: ShortEntry) -> SiteSummary:
        read.append(entry.site_id)
        return summary_of(entry)

    monkeypatch.setattr(listed_entries, "summary_of", summarise)
    entries = ListedEntries(scene.engines[Role.API])
    first = await summaries(entries, connection, [site_id])
    again = await summaries(entries, connection, [site_id])
    assert (first, read) == (again, [site_id])
    await scene.play(site, act="withdraw")
    entries.look_again()
    await entries.serve(connection)
    later = await summaries(entries, connection, [site_id])
    assert read == [site_id, site_id]
    assert later[site_id].trust_level == "unverified"


async def test_callers_gather_into_one_read(
    scene: Scene, connection: Connection
) -> None:
    ids = [(await scene.entry(await scene.register())).site_id for _ in range(3)]
    entries = ListedEntries(scene.engines[Role.API])
    query = [asyncio.ensure_future(entries.find(ids[n:])) for n in range(3)]
    query.append(asyncio.ensure_future(entries.find([0])))
    await asyncio.sleep(0)
    await entries.serve(connection)
    id_lists = [sorted(item) for item in await asyncio.gather(*query)]
    assert id_lists == [sorted(ids[n:]) for n in range(3)] + [[]]


async def test_many_changes_at_once_forget_everything(
    scene: Scene, connection: Connection
) -> None:
    own = [await scene.register() for _ in range(4)]
    ids = [(await scene.entry(site)).site_id for site in own]
    entries = ListedEntries(scene.engines[Role.API], changed_most=2)
    before = await summaries(entries, connection, ids)
    await _change_all(scene, ids)
    entries.look_again()
    await entries.serve(connection)
    after = await summaries(entries, connection, ids)
    assert before != after


async def test_changed_sites_are_reported_once_whatever_the_order_of_commits(
    scene: Scene, connection: Connection
) -> None:
    early, late = [(await scene.entry(await scene.register())).site_id for _ in "ab"]
    before = await snapshot_of(connection)
    async with scene.crawler.connect() as first, scene.crawler.connect() as second:
        await sites.set_status(first, early, "withdrawn", 9, NOW)
        await sites.set_status(second, late, "withdrawn", 9, NOW)
        await second.commit()
        item, between = await sites.changed_since(connection, before, 10)
        await first.commit()
    two, after = await sites.changed_since(connection, between, 10)
    three, _ = await sites.changed_since(connection, after, 10)
    assert (item, two, three) == ([late], [early], [])


async def test_no_more_changes_are_reported_than_were_asked_for(
    scene: Scene, connection: Connection
) -> None:
    for _ in range(3):
        await scene.register()
    changed, _ = await sites.changed_since(connection, Snapshot.at(0), 2)
    assert len(changed) == 2


async def test_whoever_asks_while_the_database_is_away_is_told(scene: Scene) -> None:
    async def refuse(*_: object, **__: object) -> object:
        raise ConnectionRefusedError

    entries = ListedEntries(scene.engines[Role.API])
    entries.serve = refuse  # type: ignore[assignment, method-assign]
    running = asyncio.create_task(entries.run())
    with pytest.raises(ConnectionRefusedError):
        await entries.find([1])
    running.cancel()


def test_cache_stays_within_its_capacity_and_drops_the_oldest_first() -> None:
    summary = summary_of(
        ShortEntry(
            site_id=0,
            host="a.example",
            name="",
            category="",
            city="",
            country="",
            action_names=(),
            commission_percent=None,
            is_independent=None,
            direct_benefit="",
            trust_signatures=(),
            trust_level="verified",
        )
    )
    cache = EntryCache(3)
    for site_id in range(5):
        cache.add({site_id: summary})
        cache.add({site_id: summary})
    assert sorted(cache.find(range(5))) == [2, 3, 4]
    cache.remove([3, 99])
    cache.add({7: summary})
    assert sorted(cache.find(range(9))) == [2, 4, 7]
    cache.clear()
    cache.add({8: summary, 9: summary, 10: summary})
    assert sorted(cache.find(range(20))) == [8, 9, 10]


async def _change_all(scene: Scene, ids: Sequence[int]) -> None:
    async with scene.crawler.begin() as connection:
        for site_id in ids:
            await sites.set_status(connection, site_id, "unverified", 9, NOW)
