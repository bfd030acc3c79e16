"""Profiles of two policies: never in one index, and made anew without a visit."""

from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import pytest

from registry.db.engine.engines import Role
from registry.db.sites import profiles
from registry.db.sites.profiles import StoredProfile
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, parse_profile
from registry.ranking.quality import StoredProbe
from registry.usecases.search.build_index import IndexBuilder
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.sites.list_site import Lister
from tests.db.scene import NOON, Scene, SiteOwner

OTHER_POLICY = replace(DEFAULT_POLICY, name="other", quality_probes_min=1)


@pytest.fixture
def other(scene: Scene) -> Lister:
    """A lister of the next release."""
    return replace(scene.lister, policy=OTHER_POLICY)


class Following:
    """The builder of the index, and one who follows it."""

    def __init__(self, scene: Scene, lister: Lister) -> None:
        folder, policy = Path(mkdtemp()), lister.policy
        self.builder = IndexBuilder(scene.engines[Role.RANKER], folder, policy)
        self.follower = IndexFollower(folder, lister.encoder, policy)

    async def catch_up(self) -> dict[int, Profile]:
        await self.builder.catch_up()
        self.follower.catch_up()
        assert self.follower.is_loaded
        return self.follower.index.profiles()


async def indexed(scene: Scene, lister: Lister) -> dict[int, Profile]:
    return await Following(scene, lister).catch_up()


async def id_of(scene: Scene, site: SiteOwner) -> int:
    return (await scene.entry(site)).site_id


async def stored(scene: Scene, site_id: int) -> bytes:
    async with scene.crawler.connect() as connection:
        body = await profiles.profile_of(connection, site_id)
    assert body is not None
    return body


async def note(scene: Scene, lister: Lister, site_id: int) -> None:
    probe = StoredProbe(observed_at=NOON, outcome="alive", elapsed_ms=10)
    async with scene.crawler.begin() as connection:
        await lister.note_probe(connection, site_id, probe)


async def test_profile_names_the_policy_it_was_made_under(scene: Scene) -> None:
    site_id = await id_of(scene, await scene.register())
    assert (await indexed(scene, scene.lister))[site_id].policy == DEFAULT_POLICY.digest


async def test_profiles_of_another_policy_are_left_out(
    scene: Scene, other: Lister
) -> None:
    site_id = await id_of(scene, await scene.register())
    assert site_id not in await indexed(scene, other)


async def test_site_leaves_the_index_when_its_profile_is_of_another_policy(
    scene: Scene, other: Lister
) -> None:
    site_id = await id_of(scene, await scene.register())
    following = Following(scene, scene.lister)
    assert site_id in await following.catch_up()
    await other.renew_profiles(scene.crawler, scene.clock)
    assert site_id not in await following.catch_up()
    await scene.lister.renew_profiles(scene.crawler, scene.clock)
    assert site_id in await following.catch_up()


async def test_bytes_that_are_no_profile_stop_nobody(scene: Scene) -> None:
    broken, sound = [await id_of(scene, await scene.register()) for _ in range(2)]
    async with scene.crawler.begin() as connection:
        bytes_ = StoredProfile(
            profile=b"\x81\xa1a\x01",
            features=b"\x81\xa1a\x01",
            policy=DEFAULT_POLICY.digest,
        )
        await profiles.change_profile(connection, broken, bytes_)
    result = await indexed(scene, scene.lister)
    assert broken not in result
    assert sound in result
    await scene.sql(
        "UPDATE registry.site_profile SET policy = 'old' WHERE site_id = :site_id",
        site_id=broken,
    )
    await scene.lister.renew_profiles(scene.crawler, scene.clock)
    assert broken in await indexed(scene, scene.lister)


async def test_renewed_profile_is_the_one_that_listing_makes(
    scene: Scene, other: Lister
) -> None:
    site_id = await id_of(scene, await scene.register())
    await note(scene, scene.lister, site_id)
    listed = await stored(scene, site_id)
    await other.renew_profiles(scene.crawler, scene.clock)
    renewed = (await indexed(scene, other))[site_id]
    assert renewed.probes.probes == 1
    assert renewed.quality != parse_profile(listed).quality  # one probe is enough now
    await scene.lister.renew_profiles(scene.crawler, scene.clock)
    assert await stored(scene, site_id) == listed


async def test_probe_changes_no_profile_of_another_policy(
    scene: Scene, other: Lister
) -> None:
    site_id = await id_of(scene, await scene.register())
    before = await stored(scene, site_id)
    await note(scene, other, site_id)
    assert await stored(scene, site_id) == before
    await other.renew_profiles(scene.crawler, scene.clock)
    assert (await indexed(scene, other))[site_id].probes.probes == 1


async def test_renewal_lists_nobody_who_withdrew(scene: Scene, other: Lister) -> None:
    site = await scene.register()
    site_id = await id_of(scene, site)
    assert (await scene.play(site, act="withdraw")).status == "withdrawn"
    await other.renew_profiles(scene.crawler, scene.clock)
    assert site_id not in await indexed(scene, other)


async def test_renewal_goes_through_all_in_small_steps(
    scene: Scene, other: Lister
) -> None:
    site_ids = {await id_of(scene, await scene.register()) for _ in range(5)}
    await other.renew_profiles(scene.crawler, scene.clock, at_once=2)
    assert site_ids <= set(await indexed(scene, other))
    async with scene.crawler.connect() as connection:
        left = await profiles.hosts_of_other_policies(
            connection, OTHER_POLICY.digest, limit=10
        )
    assert left == []
