"""Statements given to the driver itself behave in their transaction as others do."""

from dataclasses import replace

import pytest

from registry.db.engine.engines import DatabaseError, reading
from registry.db.engine.prepared import Gathered
from registry.db.sites import listed_sites as sites
from registry.db.sites import profiles
from tests.db.scene import Scene, SiteOwner

END_CRAWLERS = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE usename = 'registry_crawler' AND datname = current_database()
"""

X = profiles.StoredProfile(profile=b"x", features=b"y", policy="p")


@pytest.fixture
async def owner_of_site(scene: Scene) -> SiteOwner:
    owner = SiteOwner()
    assert (await scene.play(owner)).status == "active"
    return owner


async def test_what_is_written_goes_with_its_transaction(
    scene: Scene, owner_of_site: SiteOwner
) -> None:
    site_id = (await scene.entry(owner_of_site)).site_id
    async with scene.crawler.connect() as connection:
        before = await profiles.profile_of(connection, site_id)
    async with scene.crawler.connect() as connection:
        await profiles.save_profile(connection, site_id, X, listed=True)
        assert await profiles.profile_of(connection, site_id) == b"x"
        await connection.rollback()
        assert await profiles.profile_of(connection, site_id) == before


async def test_lock_is_held_until_the_transaction_ends(
    scene: Scene, owner_of_site: SiteOwner
) -> None:
    host = owner_of_site.host.name
    query = "SELECT 1 FROM registry.site WHERE host = :host FOR UPDATE SKIP LOCKED"
    async with scene.crawler.begin() as connection:
        await sites.lock_site(connection, host)
        assert await scene.sql(query, host=host) == []
    assert len(await scene.sql(query, host=host)) == 1


async def test_connection_that_died_is_met_once(
    scene: Scene, owner_of_site: SiteOwner
) -> None:
    """The crawler's are not tried before each use: one failure each is the price."""
    host = owner_of_site.host.name
    async with scene.crawler.connect() as connection:
        assert await sites.find_site(connection, host)
    await scene.sql(END_CRAWLERS)
    failures = 0
    for _ in range(20):
        try:
            async with reading(scene.crawler).connect() as connection:
                assert await sites.find_site(connection, host)
        except DatabaseError:
            failures += 1
    assert 1 <= failures <= scene.crawler.pool.size()
    async with scene.crawler.connect() as connection:
        assert await sites.find_site(connection, host)


async def test_what_is_gathered_is_written_once_and_together(
    scene: Scene, owner_of_site: SiteOwner
) -> None:
    entry = await scene.entry(owner_of_site)
    writes = Gathered()
    async with scene.crawler.begin() as connection:
        await sites.save_site(writes, replace(entry, seq=7), {"docs": []})
        await profiles.save_profile(writes, entry.site_id, X, listed=True)
        before = await profiles.profile_of(connection, entry.site_id)
        assert before != b"x"
        await writes.carry_out(connection)
        await writes.carry_out(connection)  # nothing is left
        assert await profiles.profile_of(connection, entry.site_id) == b"x"
    assert (await scene.entry(owner_of_site)).seq == 7


async def test_transaction_that_can_not_begin_fails_as_any_statement_does(
    scene: Scene, owner_of_site: SiteOwner
) -> None:
    async with scene.crawler.connect() as connection:
        (await connection.get_raw_connection()).driver_connection.terminate()  # type: ignore[union-attr]
        with pytest.raises(DatabaseError):
            await sites.find_site(connection, owner_of_site.host.name)
