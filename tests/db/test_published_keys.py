"""Which keys may speak for a site as time passes, from what its places show."""

from datetime import timedelta

import pytest

from registry.identity.keys.public_keys import PublicKey
from registry.usecases.registration.published_keys import (
    PublishedKeys,
    save_published_keys,
)
from tests.db.scene import Scene, SiteOwner, codes


async def see(scene: Scene, site: SiteOwner, published: PublishedKeys) -> set[str]:
    """A successful fetch without a statement; the thumbprints that may speak now."""
    entry = await scene.entry(site)
    async with scene.crawler.begin() as connection:
        speaking = await save_published_keys(
            connection, entry.site_id, published, now=scene.clock()
        )
    return {reference.kid for reference in speaking}


async def successor_of(scene: Scene) -> tuple[SiteOwner, SiteOwner]:
    """A listed site, and the same host with another key."""
    site = await scene.register()
    return site, SiteOwner(host=site.host)


async def test_new_key_beside_the_trusted_one_is_held_for_an_hour(
    scene: Scene,
) -> None:
    site, new = await successor_of(scene)
    both = site.publishing(site.public, new.public)
    held = await scene.play(new, both, act="update")
    assert codes(held) == ["key_held"]
    assert "cooling off until 2026-11-20T13:00:00Z" in held.problems[0].detail

    scene.clock.advance(minutes=59)
    assert codes(await scene.play(new, both, act="update")) == ["key_held"]
    scene.clock.advance(minutes=1)
    assert (await scene.play(new, both, act="update")).status == "active"
    assert set((await scene.standings(site)).values()) == {"trusted"}


async def test_passing_of_an_hour_is_no_second_sighting(scene: Scene) -> None:
    """Taken down in between, the key starts anew."""
    site, new = await successor_of(scene)
    both, old_alone = (
        site.publishing(site.public, new.public),
        site.publishing(site.public),
    )
    await see(scene, site, both)
    scene.clock.advance(minutes=30)
    await see(scene, site, old_alone)
    scene.clock.advance(minutes=30)
    assert codes(await scene.play(new, both, act="update")) == ["key_held"]
    scene.clock.advance(minutes=59)
    assert codes(await scene.play(new, both, act="update")) == ["key_held"]


async def test_key_that_waited_its_hour_is_promoted_without_signing(
    scene: Scene,
) -> None:
    site, new = await successor_of(scene)
    both = site.publishing(site.public, new.public)
    assert await see(scene, site, both) == {site.kid}
    scene.clock.advance(hours=1)
    assert await see(scene, site, both) == {site.kid, new.kid}
    scene.clock.advance(days=1)
    assert await see(scene, site, site.publishing(new.public)) == {new.kid}
    alone = await scene.play(new, site.publishing(new.public), act="update")
    assert alone.status == "active", "it outlives the old one"


async def test_other_keys_of_a_first_registration_wait_like_later_ones(
    scene: Scene,
) -> None:
    site = SiteOwner()
    spare = SiteOwner(host=site.host)
    both = site.publishing(site.public, spare.public)
    await scene.play(site, both)
    assert codes(await scene.play(spare, both, act="update")) == ["key_held"]
    scene.clock.advance(hours=1)
    assert (await scene.play(spare, both, act="update")).status == "active"


async def test_key_in_place_of_the_lost_one_is_not_promoted_by_waiting(
    scene: Scene,
) -> None:
    """Whoever took over the web server would have the site an hour later."""
    site, thief = await successor_of(scene)
    alone = site.publishing(thief.public)
    for _ in range(4):
        assert await see(scene, site, alone) == set()
        refused = await scene.play(thief, alone, act="update")
        assert codes(refused) == ["key_recovery_needs_dns"]
        scene.clock.advance(hours=30)
    assert (await scene.standings(site))[site.reference] == "absent"


@pytest.mark.parametrize("named_by", ["pin", "record"])
async def test_lost_key_is_recovered_by_dns_after_three_days(
    scene: Scene, named_by: str
) -> None:
    site, new = await successor_of(scene)
    named = (
        site.publishing(new.public, pins=frozenset({new.kid}))
        if named_by == "pin"
        else site.publishing(new.public, dns=[new.public])
    )
    held = await scene.play(new, named, act="update")
    assert codes(held) == ["key_held"]
    assert "recovery hold until 2026-11-23T12:00:00Z" in held.problems[0].detail
    for hours in (1, 1, 69):
        scene.clock.advance(hours=hours)
        assert await see(scene, site, named) == set()
        assert codes(await scene.play(new, named, act="update")) == ["key_held"]
    scene.clock.advance(hours=1)
    assert (await scene.play(new, named, act="update")).status == "active"


async def test_recovery_is_completed_by_a_mere_visit(scene: Scene) -> None:
    site, new = await successor_of(scene)
    named = site.publishing(new.public, dns=[new.public])
    await see(scene, site, named)
    scene.clock.advance(hours=72)
    assert await see(scene, site, named) == {new.kid}


async def test_recovery_starts_anew_when_the_dns_stops_naming_the_key(
    scene: Scene,
) -> None:
    site, new = await successor_of(scene)
    named = site.publishing(new.public, dns=[new.public])
    await see(scene, site, named)
    scene.clock.advance(hours=71)
    await see(scene, site, site.publishing(new.public))
    scene.clock.advance(hours=1)
    assert await see(scene, site, named) == set()
    scene.clock.advance(hours=71)
    assert await see(scene, site, named) == set()
    scene.clock.advance(hours=1)
    assert await see(scene, site, named) == {new.kid}


async def test_failed_look_up_does_not_break_a_recovery(scene: Scene) -> None:
    site, new = await successor_of(scene)
    named = site.publishing(new.public, dns=[new.public])
    await see(scene, site, named)
    scene.clock.advance(hours=71)
    await see(scene, site, site.publishing(new.public, unread=[site.dns], pins=None))
    scene.clock.advance(hours=1)
    assert await see(scene, site, named) == {new.kid}


async def test_failed_fetch_changes_nothing(scene: Scene) -> None:
    site, new = await successor_of(scene)
    await see(scene, site, site.publishing(site.public, new.public))
    before = await scene.rows()
    scene.clock.advance(hours=2)
    nothing = site.publishing(unread=[site.key_set, site.dns], pins=None)
    assert await see(scene, site, nothing) == set()
    assert await scene.rows() == before


async def test_outage_of_one_place_says_nothing_of_keys_at_the_other(
    scene: Scene,
) -> None:
    site, new = await successor_of(scene)
    keys_away = site.publishing(dns=[new.public], unread=[site.key_set])
    await see(scene, site, keys_away)
    assert (await scene.standings(site))[site.reference] == "trusted"
    scene.clock.advance(hours=1)
    await see(scene, site, keys_away)
    back = site.publishing(site.public, dns=[new.public])
    assert await see(scene, site, back) == {site.kid, new.kid}


async def test_absence_from_a_successful_fetch_revokes(scene: Scene) -> None:
    site, new = await successor_of(scene)
    both = site.publishing(site.public, new.public)
    await see(scene, site, both)
    scene.clock.advance(hours=1)
    await see(scene, site, both)
    await see(scene, site, site.publishing(new.public))
    assert (await scene.standings(site))[site.reference] == "absent"
    refused = await scene.play(site, both, act="update")
    assert codes(refused) == ["key_held"], "it comes back as a new key does"


@pytest.mark.parametrize("thief_signs", [False, True])
async def test_key_that_was_swapped_for_a_while_returns_to_its_standing(
    scene: Scene, thief_signs: bool
) -> None:
    """A minute of somebody else's web access must not lock the owner out for good."""
    site, thief = await successor_of(scene)
    swapped, restored = site.publishing(thief.public), site.publishing(site.public)
    if thief_signs:
        refused = await scene.play(thief, swapped, act="update")
        assert codes(refused) == ["key_recovery_needs_dns"]
    else:
        assert await see(scene, site, swapped) == set()
    scene.clock.advance(hours=72)
    assert await see(scene, site, restored) == {site.kid}
    assert (await scene.play(site, restored, act="update")).status == "active"


async def test_key_set_that_was_empty_once_locks_nobody_out(scene: Scene) -> None:
    site = await scene.register()
    assert await see(scene, site, site.publishing()) == set()
    scene.clock.advance(hours=1)
    assert (await scene.play(site, act="update")).status == "active"


async def test_key_that_was_away_for_longer_comes_back_as_a_new_one(
    scene: Scene,
) -> None:
    site = await scene.register()
    for _ in range(2):  # it is missed since the first of these
        await see(scene, site, site.publishing())
        scene.clock.advance(hours=37)
    assert codes(await scene.play(site, act="update")) == ["key_recovery_needs_dns"]


async def test_key_does_not_return_once_another_was_trusted(scene: Scene) -> None:
    site, new = await successor_of(scene)
    both = site.publishing(site.public, new.public)
    await scene.play(site, both, act="rotate", next_kid=new.kid)
    await see(scene, site, site.publishing(new.public))
    await see(scene, site, site.publishing())
    assert codes(await scene.play(site, act="update")) == ["key_recovery_needs_dns"]


async def test_first_registration_waits_until_the_pins_are_read(scene: Scene) -> None:
    """Who can make the look-up fail could register a host that pins another key."""
    site = SiteOwner()
    unread = site.publishing(site.public, pins=None)
    assert codes(await scene.play(site, unread)) == ["pins_unread"]
    assert (await scene.play(site)).status == "active"


async def test_revoked_key_is_never_promoted(scene: Scene) -> None:
    site, new = await successor_of(scene)
    both = site.publishing(site.public, new.public)
    await scene.play(site, both, act="rotate", next_kid=new.kid)
    await scene.play(new, both, act="revoke", revoked_kid=site.kid)
    for _ in range(3):
        scene.clock.advance(hours=80)
        in_dns = site.publishing(site.public, new.public, dns=[site.public])
        assert await see(scene, site, in_dns) == {new.kid}


async def test_pinned_out_key_is_not_promoted_and_neither_by_a_failed_look_up(
    scene: Scene,
) -> None:
    site, thief = await successor_of(scene)
    keys: tuple[PublicKey, ...] = (site.public, thief.public)
    pinned = site.publishing(*keys, pins=frozenset({site.kid}))
    unread = site.publishing(*keys, pins=None)
    await see(scene, site, pinned)
    scene.clock.advance(hours=2)
    assert await see(scene, site, pinned) == {site.kid}
    assert await see(scene, site, unread) == {site.kid}
    assert codes(await scene.play(thief, unread, act="update")) == ["pins_unread"]
    assert codes(await scene.play(thief, pinned, act="update")) == ["key_not_pinned"]
    assert (await scene.play(site, unread, act="update")).status == "active"


async def test_rejected_statement_starts_the_hold_of_the_key_that_signed_it(
    scene: Scene,
) -> None:
    site, new = await successor_of(scene)
    both = site.publishing(site.public, new.public)
    await scene.play(new, both, act="update")
    assert (await scene.standings(site))[site.reference_of(new.public)] == "cooling"


async def test_key_is_remembered_since_its_first_sighting(scene: Scene) -> None:
    site = await scene.register()
    entry = await scene.entry(site)
    first = scene.clock()
    scene.clock.advance(hours=5)
    await see(scene, site, site.publishing(site.public))
    rows = await scene.sql(
        "SELECT first_seen_at, last_seen_at FROM registry.site_key WHERE site_id = :id",
        id=entry.site_id,
    )
    assert [tuple(row) for row in rows] == [(first, first + timedelta(hours=5))]
