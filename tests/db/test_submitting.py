"""Challenges and statements: what is refused at once, from what the registry knows."""

import asyncio

import pytest

from registry.errors import RegistryError
from tests.db.scene import Scene, SiteOwner, codes


async def refusal(scene: Scene, token: bytes) -> str:
    with pytest.raises(RegistryError) as caught:
        await scene.submit_token(token)
    return caught.value.code


async def test_statement_of_an_issued_challenge_waits_for_a_crawler(
    scene: Scene,
) -> None:
    site = SiteOwner()
    submitted = await scene.submit(site)
    stored = await scene.registration(submitted)
    assert stored == submitted
    assert (stored.status, stored.kid, stored.seq) == ("verifying", site.kid, 1)


async def test_challenge_of_a_listed_site_goes_on_from_its_seq(scene: Scene) -> None:
    site = await scene.register()
    challenge = await scene.challenge(site.host)
    assert challenge.payload["seq"] == 2


async def test_unknown_nonce_is_refused(scene: Scene) -> None:
    site = SiteOwner()
    challenge = await scene.challenge(site.host)
    token = site.sign(challenge, scene.clock(), jti="A" * 43)
    assert await refusal(scene, token) == "nonce_unknown"


async def test_nonce_of_another_host_is_refused(scene: Scene) -> None:
    site = SiteOwner()
    elsewhere = await scene.challenge(SiteOwner().host)
    token = site.sign(elsewhere, scene.clock(), sub=site.host.name)
    assert await refusal(scene, token) == "nonce_of_another_host"


async def test_nonce_of_an_accepted_statement_is_refused(scene: Scene) -> None:
    site = SiteOwner()
    challenge = await scene.challenge(site.host)
    leased = await scene.lease(await scene.submit(site, challenge))
    await scene.decide(leased, site.publishing(site.public))
    token = site.sign(challenge, scene.clock(), seq=2)
    assert await refusal(scene, token) == "nonce_used"


async def test_nonce_is_refused_after_its_hour_though_the_statement_is_fresh(
    scene: Scene,
) -> None:
    site = SiteOwner()
    challenge = await scene.challenge(site.host)
    scene.clock.advance(hours=1, seconds=-1)
    await scene.submit_token(site.sign(challenge, scene.clock()))
    scene.clock.advance(seconds=1)
    token = site.sign(challenge, scene.clock())
    assert await refusal(scene, token) == "nonce_expired"


@pytest.mark.parametrize("seq", [0, 1])
async def test_seq_that_does_not_grow_is_refused(scene: Scene, seq: int) -> None:
    site = await scene.register()
    challenge = await scene.challenge(site.host)
    token = site.sign(challenge, scene.clock(), seq=seq)
    assert await refusal(scene, token) == "seq_not_increasing"


async def test_seq_out_of_reach_is_refused_and_locks_nobody_out(scene: Scene) -> None:
    """The last number of all would have left none for withdrawal or revocation."""
    site = await scene.register()
    challenge = await scene.challenge(site.host)
    token = site.sign(challenge, scene.clock(), act="update", seq=2**53 - 1)
    assert await refusal(scene, token) == "seq_out_of_reach"
    assert (await scene.play(site, act="withdraw")).status == "withdrawn"


@pytest.mark.parametrize(
    "members",
    [
        {"act": "update"},
        {"act": "rotate", "next_kid": "A" * 43},
        {"act": "revoke", "revoked_kid": "A" * 43},
        {"act": "withdraw"},
    ],
    ids=lambda members: str(members["act"]),
)
async def test_host_that_is_not_listed_can_only_register(
    scene: Scene, members: dict[str, str]
) -> None:
    site = SiteOwner()
    token = site.sign(await scene.challenge(site.host), scene.clock(), **members)
    assert await refusal(scene, token) == "site_not_registered"


async def test_replayed_token_is_refused_once_it_took_effect(scene: Scene) -> None:
    site = SiteOwner()
    token = site.sign(await scene.challenge(site.host), scene.clock())
    leased = await scene.lease(await scene.submit_token(token))
    await scene.decide(leased, site.publishing(site.public))
    assert await refusal(scene, token) == "nonce_used"


async def test_what_is_refused_leaves_no_row(scene: Scene) -> None:
    site = SiteOwner()
    token = site.sign(await scene.challenge(site.host), scene.clock(), jti="A" * 43)
    before = await scene.rows()
    await refusal(scene, token)
    assert await scene.rows() == before


async def test_failed_attempt_does_not_burn_the_nonce(scene: Scene) -> None:
    """Neither one refused at once nor one that a crawler rejected."""
    site, stranger = SiteOwner(), SiteOwner()
    challenge = await scene.challenge(site.host)
    token = site.sign(challenge, scene.clock(), aud="https://other.example")
    assert await refusal(scene, token) == "aud_wrong"
    leased = await scene.lease(await scene.submit(site, challenge))
    beside = site.publishing(stranger.public, site.public)
    rejected = await scene.decide(
        leased, site.publishing(site.public, pins=frozenset({stranger.kid}))
    )
    assert codes(rejected) == ["key_not_pinned"]
    again = await scene.lease(await scene.submit(site, challenge))
    assert (await scene.decide(again, beside)).status == "active"


@pytest.mark.parametrize("at_once", [False, True])
async def test_of_two_verifying_statements_with_one_nonce_one_takes_effect(
    scene: Scene, at_once: bool
) -> None:
    site = SiteOwner()
    challenge = await scene.challenge(site.host)
    leased = [
        await scene.lease(await scene.submit(site, challenge, seq=seq))
        for seq in (1, 2)
    ]
    published = site.publishing(site.public)
    works = [scene.decide(task, published) for task in leased]
    if at_once:
        decided = await asyncio.gather(*works)
    else:
        decided = [await work for work in works]
    assert sorted(registration.status for registration in decided) == [
        "active",
        "rejected",
    ]
    rejected = next(
        registration for registration in decided if registration.status == "rejected"
    )
    assert codes(rejected)[0] in {"nonce_used", "seq_not_increasing"}
    listed = await scene.sql(
        "SELECT count(*) FROM registry.site WHERE host = :host", host=site.host.name
    )
    assert listed[0][0] == 1


async def test_of_two_first_registrations_at_once_one_takes_effect(
    scene: Scene,
) -> None:
    """Each has a nonce of its own, and no row of the site is there to be locked."""
    site = SiteOwner()
    leased = [await scene.lease(await scene.submit(site)) for _ in range(2)]
    published = site.publishing(site.public)
    decided = await asyncio.gather(*(scene.decide(task, published) for task in leased))
    assert sorted(registration.status for registration in decided) == [
        "active",
        "rejected",
    ]
    assert [
        codes(registration) for registration in decided if registration.problems
    ] == [["seq_not_increasing"]]
