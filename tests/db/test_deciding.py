"""What each act of a site changes, and that a crawler without its lease changes none."""

import hashlib
import json
from typing import Any

import pytest
from sqlalchemy import update

from registry.db.registration import registrations
from registry.db.schema.tables import registration
from registry.errors import Problem
from registry.identity.keys.private_keys import generate_private_key, public_key_of
from registry.records.packing import unpack
from registry.records.record import parse_record
from registry.sites.identifier import format_site_id
from registry.usecases.registration.decide_registration import reject
from tests.db.scene import Scene, SiteOwner, codes, understood, wab, with_commands
from tests.db.scene import body_of as body

DECLARED = {
    "category": "bakery",
    "location": {"city": "Lyon", "country": "FR"},
    "commission_rate": "4%",
    "is_independent": True,
    "size": "small",
}


async def one_row(scene: Scene, statement: str, **values: Any) -> Any:
    (row,) = await scene.sql(statement, **values)
    return row


async def pending_of(scene: Scene, site_id: int) -> list[dict[str, Any]]:
    bodies = await scene.sql("SELECT body FROM audit.pending ORDER BY position")
    records = [dict(parse_record(unpack(row.body))) for row in bodies]
    return [
        record for record in records if record.get("site") == format_site_id(site_id)
    ]


async def is_ranked(scene: Scene, site_id: int) -> bool:
    profile = await one_row(
        scene,
        "SELECT listed FROM registry.ranking_profile WHERE site_id = :id",
        id=site_id,
    )
    return bool(profile.listed)


async def test_register_lists_trusts_labels_schedules_and_logs(scene: Scene) -> None:
    site = SiteOwner()
    decided = await scene.play(site, **DECLARED)
    assert (decided.status, decided.problems) == ("active", ())
    assert decided.decided_at == scene.clock()

    entry = await scene.entry(site)
    assert (entry.status, entry.seq, entry.trust_level) == ("active", 1, "verified")
    assert (entry.place.name, entry.place.country) == ("Lyon", "FR")
    assert entry.proof_source == site.key_set
    assert entry.site.category == "restaurant", "the document speaks first"

    assert await scene.standings(site) == {site.reference: "trusted"}
    label = await one_row(
        scene,
        "SELECT * FROM disclosure.label WHERE site_id = :id"
        " ORDER BY label_id DESC LIMIT 1",
        id=entry.site_id,
    )
    assert (label.size, label.independence) == ("small", "independent")
    assert label.commission_percent == 4.0

    due = await scene.sql(
        "SELECT kind, due_at FROM registry.task WHERE site_id = :id", id=entry.site_id
    )
    assert {row.kind for row in due} == {"crawl", "probe", "prove"}
    assert min(row.due_at for row in due) == scene.clock()

    assert await is_ranked(scene, entry.site_id)

    (record,) = await pending_of(scene, entry.site_id)
    assert (record["kind"], record["act"], record["kid"]) == (
        "registration",
        "register",
        site.kid,
    )
    digest = hashlib.sha256(decided.token).hexdigest()
    assert record["jws"] == f"sha256:{digest}"


async def test_update_replaces_the_whole_statement(scene: Scene) -> None:
    site = SiteOwner()
    await scene.play(site, **DECLARED)
    entry = await scene.entry(site)
    scene.clock.advance(minutes=5)
    document = with_commands("orderBread", "bookTable")
    what = understood(site.host, body(site.host, document), at=scene.clock())
    decided = await scene.play(site, what=what, act="update", size="large")
    assert decided.status == "active"

    updated = await scene.entry(site)
    assert (updated.site_id, updated.seq) == (entry.site_id, 2)
    assert updated.registered_at == entry.registered_at
    assert updated.changed_at == entry.changed_at, "a change counts once a month"
    assert updated.site.location is None, "the newer statement declares none"
    assert updated.place == entry.place, "and counts there until it has waited"
    names = {action.name for action in updated.site.actions}
    assert names == {"orderBread", "bookTable"}
    label = await one_row(
        scene,
        "SELECT * FROM disclosure.label WHERE site_id = :id"
        " ORDER BY label_id DESC LIMIT 1",
        id=entry.site_id,
    )
    assert (label.size, label.independence) == ("large", None)
    acts = [notice["act"] for notice in await pending_of(scene, entry.site_id)]
    assert acts == ["register", "update"]


async def test_rotate_trusts_the_next_key_and_still_the_old(scene: Scene) -> None:
    site = await scene.register()
    following = generate_private_key("ES256")
    key = public_key_of(following)
    both = site.publishing(site.public, key)
    decided = await scene.play(site, both, act="rotate", next_kid=key.kid)
    assert decided.status == "active"
    assert await scene.standings(site) == {
        site.reference: "trusted",
        site.reference_of(key): "trusted",
    }
    successor = SiteOwner(host=site.host, key=following)
    assert (await scene.play(successor, both, act="update")).status == "active"
    assert (await scene.play(site, both, act="update")).status == "active"


async def test_rotate_to_a_key_that_is_not_published_is_rejected(scene: Scene) -> None:
    site = await scene.register()
    following = SiteOwner().kid
    decided = await scene.play(site, act="rotate", next_kid=following)
    assert codes(decided) == ["next_key_not_published"]
    assert decided.problems[0].pointer == "/next_kid"
    assert following in decided.problems[0].detail
    assert site.reference.source_url in decided.problems[0].detail
    assert (await scene.entry(site)).seq == 1


async def test_rotate_to_a_revoked_key_is_rejected_at_every_source(
    scene: Scene,
) -> None:
    """Its secret has leaked: a thief could otherwise talk the owner into it again."""
    site = await scene.register()
    leaked = SiteOwner(host=site.host)
    both = site.publishing(site.public, leaked.public)
    await scene.play(site, both, act="rotate", next_kid=leaked.kid)
    await scene.play(site, both, act="revoke", revoked_kid=leaked.kid)
    decided = await scene.play(site, both, act="rotate", next_kid=leaked.kid)
    assert codes(decided) == ["key_revoked"]


async def test_revoked_key_signs_no_more(scene: Scene) -> None:
    site = await scene.register()
    spare = SiteOwner(host=site.host)
    both = site.publishing(site.public, spare.public)
    await scene.play(site, both, act="rotate", next_kid=spare.kid)
    revoked = await scene.play(spare, both, act="revoke", revoked_kid=site.kid)
    assert revoked.status == "active"
    refused = await scene.play(site, both, act="update")
    assert codes(refused) == ["key_revoked"]
    assert (await scene.standings(site))[site.reference] == "revoked"
    assert (await scene.play(spare, both, act="update")).status == "active"


async def test_revocation_of_a_key_that_the_site_never_had_is_rejected(
    scene: Scene,
) -> None:
    site = await scene.register()
    decided = await scene.play(site, act="revoke", revoked_kid=SiteOwner().kid)
    assert codes(decided) == ["revoked_key_unknown"]


async def test_withdraw_unlists_forgets_tasks_and_logs(scene: Scene) -> None:
    site = await scene.register()
    decided = await scene.play(site, act="withdraw")
    assert decided.status == "withdrawn"
    entry = await scene.entry(site)
    assert entry.status == "withdrawn"
    listed = await scene.sql(
        "SELECT 1 FROM registry.ranking_profile WHERE site_id = :id AND listed",
        id=entry.site_id,
    )
    due = await scene.sql(
        "SELECT 1 FROM registry.task WHERE site_id = :id", id=entry.site_id
    )
    assert (listed, due) == ([], [])
    kinds = [notice["kind"] for notice in await pending_of(scene, entry.site_id)]
    assert kinds == ["registration", "withdrawal"]


async def test_withdrawn_site_can_be_registered_again(scene: Scene) -> None:
    site = await scene.register()
    before = await scene.entry(site)
    await scene.play(site, act="withdraw")
    scene.clock.advance(days=3)
    assert (await scene.play(site)).status == "active"
    entry = await scene.entry(site)
    assert (entry.status, entry.site_id, entry.seq) == ("active", before.site_id, 3)
    assert await is_ranked(scene, entry.site_id)
    assert len(await fences(scene, entry.site_id)) == 3


async def fences(scene: Scene, site_id: int) -> dict[str, int]:
    rows = await scene.sql(
        "SELECT kind, fence FROM registry.task WHERE site_id = :id", id=site_id
    )
    return {row.kind: row.fence for row in rows}


async def test_old_lease_of_a_forgotten_task_does_not_hold_for_the_new_one(
    scene: Scene,
) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    await scene.sql("UPDATE registry.task SET fence = fence + 1")
    stale = await fences(scene, site_id)
    await scene.play(site, act="withdraw")
    await scene.play(site)
    fresh = await fences(scene, site_id)
    assert all(fresh[kind] > stale[kind] for kind in stale)


async def test_document_that_was_left_out_is_reported_with_the_acceptance(
    scene: Scene,
) -> None:
    site = SiteOwner()
    bodies = [body(site.host, wab()), body(site.host, b"{", path="/agent.json")]
    decided = await scene.play(site, what=understood(site.host, *bodies))
    assert decided.status == "active"
    assert len(decided.problems) == 1
    assert "/agent.json" in decided.problems[0].detail


async def test_statement_without_documents_it_needs_is_rejected_whole(
    scene: Scene,
) -> None:
    site = SiteOwner()
    leased = await scene.lease(await scene.submit(site))
    before = await scene.rows()
    problem = Problem(code="document_missing", title="", detail="nothing was found")
    await reject(scene.crawler, leased, problem, scene.clock())
    rejected = await scene.registration(leased)
    assert (rejected.status, codes(rejected)) == ("rejected", ["document_missing"])
    assert changed_tables(before, await scene.rows()) == {"registry.registration"}


ACTS: list[dict[str, Any]] = [
    {"act": "update"},
    {"act": "rotate"},
    {"act": "revoke"},
    {"act": "withdraw"},
]


@pytest.mark.parametrize("members", ACTS, ids=lambda members: members["act"])
async def test_crawler_that_lost_its_lease_writes_nothing(
    scene: Scene, members: dict[str, Any]
) -> None:
    """Not in one table: neither where it would accept nor where it would reject."""
    site = await scene.register()
    other = SiteOwner()
    named = {"rotate": {"next_kid": other.kid}, "revoke": {"revoked_kid": site.kid}}
    both = site.publishing(site.public, other.public)
    members = {**members, **named.get(members["act"], {})}
    stale = await scene.lease(await scene.submit(site, **members))
    scene.clock.advance(minutes=2)
    held = await scene.lease(stale)
    assert held.fence > stale.fence

    before = await scene.rows()
    assert (await scene.decide(stale, both)).status == "verifying"
    denied = site.publishing(site.public, other.public, pins=frozenset({other.kid}))
    assert (await scene.decide(stale, denied)).status == "verifying"
    assert await scene.rows() == before

    assert (await scene.decide(held, both)).status in {"active", "withdrawn"}
    assert changed_tables(before, await scene.rows()) >= {
        "registry.registration",
        "registry.challenge",
        "audit.pending",
    }


async def test_crawler_that_lost_its_lease_lists_no_new_site(scene: Scene) -> None:
    site = SiteOwner()
    stale = await scene.lease(await scene.submit(site))
    scene.clock.advance(minutes=2)
    await scene.lease(stale)
    before = await scene.rows()
    await scene.decide(stale, site.publishing(site.public))
    assert await scene.rows() == before


async def test_without_the_fence_a_lost_lease_would_have_decided(scene: Scene) -> None:
    """The control: the very update that writes nothing, but for its condition."""
    site = SiteOwner()
    stale = await scene.lease(await scene.submit(site))
    scene.clock.advance(minutes=2)
    await scene.lease(stale)
    async with scene.crawler.connect() as connection:
        fenced = await registrations.decide(
            connection, stale, "rejected", [], scene.clock()
        )
        unfenced = await connection.execute(
            update(registration)
            .where(registration.c.registration_id == stale.registration_id)
            .where(registration.c.status == "verifying")
            .values(status="rejected")
        )
        await connection.rollback()
    assert (fenced, unfenced.rowcount) == (False, 1)


def changed_tables(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    return {table for table in before if before[table] != after[table]}


async def test_statement_with_the_key_of_a_declared_hash_is_kept_for_auditors(
    scene: Scene,
) -> None:
    """The exact bytes of the token stay, and the declarations of the last statement."""
    site = SiteOwner()
    content = wab()
    url = f"https://{site.host.name}/agent-bridge.json"
    sha256 = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    decided = await scene.play(
        site, docs=[{"url": url, "sha256": sha256}], size="small"
    )
    row = await one_row(
        scene,
        "SELECT declarations FROM registry.site WHERE host = :host",
        host=site.host.name,
    )
    assert row.declarations["docs"] == [{"url": url, "sha256": sha256}]
    assert decided.token.count(b".") == 2
