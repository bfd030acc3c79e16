"""Moderation: on record, in force with the record, and not to be signed away."""

from typing import Any

import pytest
from sqlalchemy import text

from registry.db.engine.engines import Role
from registry.db.sites import listed_sites as sites
from registry.errors import Conflict, NotFound, Refused
from registry.records.packing import unpack
from registry.records.record import parse_record
from registry.records.record_fields import ModerationAct
from registry.sites.entry import Moderated
from registry.sites.host import Host
from registry.sites.identifier import format_site_id
from registry.usecases.moderation import ModeratedSite, lookalikes, moderate
from tests.db.scene import Scene, SiteOwner


async def act(
    scene: Scene, site: SiteOwner, *acts: ModerationAct, reason: str = "phishing"
) -> ModeratedSite:
    """The last of them."""
    for item in acts:
        async with scene.engines[Role.MODERATOR].begin() as connection:
            done = await moderate(connection, site.host.name, item, reason, scene.ids)
    return done


async def is_ranked(scene: Scene, site_id: int) -> bool:
    """As the index sees it, through the ranker's role."""
    async with scene.engines[Role.RANKER].connect() as connection:
        rows = await connection.execute(
            text("SELECT listed FROM registry.ranking_profile WHERE site_id = :id"),
            {"id": site_id},
        )
        return bool(rows.scalar_one())


async def is_enumerated(scene: Scene, site_id: int) -> bool:
    async with scene.api.connect() as connection:
        result = await sites.list_sites(connection, limit=1_000)
    return site_id in [site.site_id for site in result]


async def records_of(scene: Scene, site_id: int) -> list[dict[str, Any]]:
    rows = await scene.sql(
        "SELECT body FROM audit.pending WHERE kind = 'moderation' ORDER BY position"
    )
    result = [dict(parse_record(unpack(row.body))) for row in rows]
    return [item for item in result if item["site"] == format_site_id(site_id)]


@pytest.mark.parametrize(
    ("acts", "moderated"),
    [
        (["quarantine"], "quarantined"),
        (["delist"], "delisted"),
        (["quarantine", "delist"], "delisted"),
        (["quarantine", "appeal-denied"], "quarantined"),
        (["quarantine", "release"], None),
        (["delist", "release"], None),
        (["delist", "appeal-denied", "appeal-upheld"], None),
        (["quarantine", "release", "quarantine"], "quarantined"),
    ],
    ids=str,
)
async def test_acts_are_on_record_and_decide_whether_a_site_is_ranked(
    scene: Scene, acts: list[ModerationAct], moderated: Moderated | None
) -> None:
    site = await scene.register()
    done = await act(scene, site, *acts)
    entry = await scene.entry(site)
    assert done.moderated == entry.moderated == moderated
    assert entry.is_listed is (moderated is None)
    assert await is_ranked(scene, entry.site_id) is entry.is_listed
    assert await is_enumerated(scene, entry.site_id) is entry.is_listed
    shown = ("active", "verified") if entry.is_listed else (moderated, "quarantined")
    assert (entry.shown_status, entry.trust_level) == shown
    logged = await records_of(scene, entry.site_id)
    assert [record["act"] for record in logged] == acts
    assert {record["reason"] for record in logged} == {"phishing"}


async def test_owner_can_not_sign_a_quarantine_away(scene: Scene) -> None:
    site = await scene.register()
    await act(scene, site, "quarantine")
    decided = await scene.play(site, act="update")
    assert decided.status == "active", "the statement itself is sound"
    entry = await scene.entry(site)
    assert entry.trust_level == "quarantined"
    assert not await is_ranked(scene, entry.site_id)


async def test_what_is_released_meanwhile_withdrawn_stays_out(scene: Scene) -> None:
    site = await scene.register()
    await act(scene, site, "quarantine")
    await scene.play(site, act="withdraw")
    await act(scene, site, "release")
    entry = await scene.entry(site)
    assert not await is_ranked(scene, entry.site_id)


async def test_owner_is_told_of_it_with_its_reason(scene: Scene) -> None:
    site = await scene.register()
    await act(scene, site, "delist", reason="malware")
    entry = await scene.entry(site)
    rows = await scene.sql(
        "SELECT detail FROM registry.notice WHERE code = 'moderated' AND site_id = :id",
        id=entry.site_id,
    )
    assert ["malware" in row.detail for row in rows] == [True]


@pytest.mark.parametrize(
    ("before", "then"),
    [
        ([], "release"),
        ([], "appeal-denied"),
        ([], "appeal-upheld"),
        (["quarantine"], "quarantine"),
        (["delist"], "quarantine"),
        (["delist"], "delist"),
    ],
    ids=str,
)
async def test_act_without_ground_is_refused_and_leaves_no_record(
    scene: Scene, before: list[ModerationAct], then: ModerationAct
) -> None:
    site = await scene.register()
    if before:
        await act(scene, site, *before)
    with pytest.raises(Conflict, match="moderation_pointless"):
        await act(scene, site, then)
    entry = await scene.entry(site)
    assert len(await records_of(scene, entry.site_id)) == len(before)


@pytest.mark.parametrize("reason", ["", "Phishing", "a b", "x" * 33, "phishing!"])
async def test_reason_is_one_word_for_it_can_never_be_erased(
    scene: Scene, reason: str
) -> None:
    site = await scene.register()
    with pytest.raises(Refused, match=r"record_field_invalid.*one word"):
        await act(scene, site, "quarantine", reason=reason)
    assert (await scene.entry(site)).is_listed


async def test_site_that_is_not_registered_can_not_be_moderated(scene: Scene) -> None:
    with pytest.raises(NotFound, match="site_unknown"):
        await act(scene, SiteOwner(), "quarantine")


async def test_without_its_record_nothing_takes_effect(scene: Scene) -> None:
    """The record is refused by the database: so is the act."""
    site = await scene.register()
    await scene.sql("REVOKE INSERT ON audit.pending FROM registry_moderator")
    await scene.sql(
        "REVOKE INSERT (record_id, kind, body, leaf_hash, accepted_at) "
        "ON audit.pending FROM registry_moderator"
    )
    try:
        with pytest.raises(Exception, match="permission denied"):
            await act(scene, site, "quarantine")
    finally:
        await scene.sql("GRANT INSERT ON audit.pending TO registry_moderator")
    entry = await scene.entry(site)
    assert entry.is_listed
    assert await is_ranked(scene, entry.site_id)


async def test_domain_that_looks_like_an_older_one_is_shown_to_the_moderator(
    scene: Scene,
) -> None:
    names = ("four-moon.test", "f0ur-rnoon.test", "four-m00n.test")
    for name in names:
        last = await scene.register(host=Host(name, name))
        scene.clock.advance(minutes=1)
    await scene.play(last, act="withdraw")
    async with scene.engines[Role.MODERATOR].connect() as connection:
        groups = await lookalikes(connection)
    assert [group for group in groups if names[0] in group] == [names[:2]]
