"""Shares of the slots for registrations: honest ones pass beside any number of others."""

from collections import Counter

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.engines import Role
from registry.db.registration import registrations
from registry.db.registration.registrations import (
    DOMAIN_SHARE,
    NETWORK_SHARE,
    Registration,
)
from registry.errors import Conflict, RateLimited
from registry.sites.host import parse_host
from registry.usecases.registration.submit_registration import (
    MAX_PER_NONCE,
    MAX_WAITING,
    drop_rejected_statements,
)
from tests.db.scene import LEASE, NOON, Scene, SiteOwner, codes

SLOTS = 32


async def lease(
    scene: Scene, *, limit: int = SLOTS, retries: bool = False
) -> list[Registration]:
    async with scene.crawler.begin() as connection:
        return await registrations.lease_registrations(
            connection, now=scene.clock(), lease=LEASE, limit=limit, retries=retries
        )


@pytest.fixture(autouse=True)
async def nothing_waits(scene: Scene) -> None:
    """Registrations of other tests hold no lease and take no turn."""
    await scene.sql(
        "UPDATE registry.registration SET status = 'rejected', leased_until = NULL "
        "WHERE status = 'verifying'"
    )


async def submit_drips(scene: Scene, count: int, network: str) -> None:
    for _ in range(count):
        await scene.submit(SiteOwner(), network=network)
        scene.clock.advance(seconds=0.01)


async def test_honest_statements_are_leased_at_once_beside_drips(scene: Scene) -> None:
    await submit_drips(scene, 3 * SLOTS, "192.0.2.1")
    honest = [await scene.submit(SiteOwner(), network="198.51.100.7") for _ in "abc"]
    leased = await lease(scene)
    networks = Counter(registration.network for registration in leased)
    assert {row.registration_id for row in honest} <= {
        row.registration_id for row in leased
    }, "in their first turn, as on a quiet day"
    assert networks == {"192.0.2.1": NETWORK_SHARE, "198.51.100.7": 3}


async def test_who_holds_its_share_gets_no_more_and_leaves_room(scene: Scene) -> None:
    await submit_drips(scene, 2 * SLOTS, "192.0.2.1")
    assert len(await lease(scene)) == NETWORK_SHARE
    assert await lease(scene) == []
    late = await scene.submit(SiteOwner(), network="198.51.100.7")
    (leased,) = await lease(scene)
    assert leased.registration_id == late.registration_id


async def test_one_domain_has_a_share_whatever_the_network(scene: Scene) -> None:
    for number in range(2 * DOMAIN_SHARE):
        host = parse_host(f"h{number}.drip.test", test_hosts=True)
        await scene.submit(SiteOwner(host=host), network=f"192.0.2.{number}")
    await scene.submit(SiteOwner(), network="198.51.100.7")
    assert len(await lease(scene)) == DOMAIN_SHARE + 1


async def test_retries_are_leased_in_a_lane_of_their_own(scene: Scene) -> None:
    await scene.submit(SiteOwner())
    (first,) = await lease(scene)
    async with scene.crawler.begin() as connection:
        await registrations.postpone(connection, first, scene.clock())
    assert await lease(scene) == []
    (again,) = await lease(scene, retries=True)
    assert (again.registration_id, again.fence) == (first.registration_id, 2)


async def test_newer_statement_takes_the_place_of_one_that_waits(scene: Scene) -> None:
    owner = SiteOwner()
    older = await scene.submit(owner)
    newer = await scene.submit(owner)
    decided = await scene.registration(older)
    assert (decided.status, codes(decided)) == ("rejected", ["registration_superseded"])
    assert [row.registration_id for row in await lease(scene)] == [
        newer.registration_id
    ]


@pytest.mark.parametrize("network", ["198.51.100.7", None])
async def test_a_strangers_statement_takes_no_place_of_the_owners(
    scene: Scene, network: str | None
) -> None:
    owner = SiteOwner()
    first = await scene.submit(owner, network="192.0.2.1")
    second = await scene.submit(owner, network=network)
    assert {row.registration_id for row in await lease(scene)} == {
        first.registration_id,
        second.registration_id,
    }


async def test_of_one_network_only_so_many_wait(scene: Scene) -> None:
    await submit_drips(scene, MAX_WAITING, "192.0.2.1")
    with pytest.raises(RateLimited) as refused:
        await scene.submit(SiteOwner(), network="192.0.2.1")
    assert refused.value.code == "registrations_waiting"
    await scene.submit(SiteOwner(), network="198.51.100.7")


async def test_statement_that_is_being_decided_is_not_superseded(scene: Scene) -> None:
    owner = SiteOwner()
    leased = await scene.lease(await scene.submit(owner))
    await scene.submit(owner)
    decided = await scene.decide(leased, owner.publishing(owner.public))
    assert decided.status == "active"


async def test_nonce_is_good_for_a_few_statements(scene: Scene) -> None:
    owner = SiteOwner()
    challenge = await scene.challenge(owner.host)
    for _ in range(MAX_PER_NONCE):
        await scene.submit(owner, challenge)
    with pytest.raises(Conflict) as refused:
        await scene.submit(owner, challenge)
    assert refused.value.code == "nonce_tried_often"


async def test_network_is_forgotten_with_the_decision(scene: Scene) -> None:
    owner = SiteOwner()
    leased = await scene.lease(await scene.submit(owner, network="192.0.2.1"))
    assert leased.network == "192.0.2.1"
    decided = await scene.decide(leased, owner.publishing(owner.public))
    assert (decided.status, decided.network) == ("active", None)


async def rejected(scene: Scene, *, hours: int) -> Registration:
    """A statement that was rejected so many hours before now, by the database's clock."""
    leased = await scene.lease(await scene.submit(SiteOwner()))
    async with scene.crawler.begin() as connection:
        await registrations.decide(connection, leased, "rejected", [], NOON)
    await scene.sql(
        "UPDATE registry.registration SET decided_at = now() - make_interval(hours => "
        ":hours) WHERE registration_id = :id",
        hours=hours,
        id=leased.registration_id,
    )
    return leased


async def test_rejected_statement_keeps_its_digest_and_not_its_bytes(
    scene: Scene,
) -> None:
    old, new = await rejected(scene, hours=2), await rejected(scene, hours=0)
    oldest = await rejected(scene, hours=8 * 24)
    (row,) = await scene.sql("SELECT now() AS now")
    scene.clock.now = row.now
    owner = await scene.register()
    assert await drop_rejected_statements(scene.engines[Role.REPORTER], scene.ids.clock)
    after = await scene.registration(old)
    assert (after.token, after.token_digest) == (b"", old.token_digest)
    assert (await scene.registration(new)).token == new.token
    of_oldest = {"id": oldest.registration_id}
    row_of = "SELECT 1 FROM registry.registration WHERE registration_id = :id"
    assert await scene.sql(row_of, **of_oldest) == []
    (accepted,) = await scene.sql(
        "SELECT token FROM registry.registration WHERE host = :host",
        host=owner.host.name,
    )
    assert accepted.token


@pytest.mark.parametrize("role", [Role.API, Role.CRAWLER])
async def test_no_role_that_meets_strangers_changes_a_statement(
    scene: Scene, role: Role
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with scene.engines[role].begin() as connection:
            await connection.execute(text("UPDATE registry.registration SET token=''"))


@pytest.mark.parametrize(
    "statement",
    ["UPDATE registry.registration SET token=''", "DELETE FROM registry.registration"],
)
async def test_reporter_drops_only_what_was_rejected_long_ago(
    scene: Scene, statement: str
) -> None:
    await rejected(scene, hours=0)
    with pytest.raises(DBAPIError, match="a statement is evidence"):
        async with scene.engines[Role.REPORTER].begin() as connection:
            await connection.execute(text(statement))
