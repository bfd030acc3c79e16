"""Listing: what moves with a change of meaning, and what only with a visit."""

from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from registry.db.engine.engines import Role
from registry.db.sites import documents, notices, probes, profiles
from registry.formats.document import StoredDocument
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, parse_profile
from registry.ranking.quality import StoredProbe, summarise_probes
from registry.records.generation import digest_profile
from registry.sites.entry import SiteEntry
from registry.sites.host import parse_host
from registry.usecases.sites.list_site import SiteUpdate
from registry.usecases.sites.parse_site import FetchedBody
from registry.usecases.sites.place_notes import read_place_notes
from registry.usecases.sites.profile_material import ProfileMaterial, find_profile
from registry.usecases.sites.read_material import read_material
from tests.db.scene import (
    NOON,
    Scene,
    SiteOwner,
    body_of,
    new_host,
    understood,
    wab,
    with_commands,
)


async def visit(scene: Scene, site: SiteOwner, *bodies: FetchedBody) -> SiteEntry:
    """A crawl that brought these."""
    current = await scene.entry(site)
    now = scene.clock()
    async with scene.crawler.begin() as connection:
        parsed = understood(site.host, *bodies, at=now)
        update = SiteUpdate(entry=current, understood=parsed, declarations={}, now=now)
        (listed,) = await scene.lister.list_sites(connection, [update])
        return listed


def at(scene: Scene, site: SiteOwner, content: object, path: str = "") -> FetchedBody:
    return body_of(
        site.host, content, path=path or "/agent-bridge.json", at=scene.clock()
    )


async def current(scene: Scene, entry: SiteEntry) -> list[StoredDocument]:
    async with scene.engines[Role.API].connect() as connection:
        return await documents.current_documents(connection, entry.site_id)


async def history(scene: Scene, entry: SiteEntry) -> list[StoredDocument]:
    async with scene.engines[Role.API].connect() as connection:
        return await documents.document_history(connection, entry.site_id, 10)


async def profile_of(scene: Scene, site_id: int) -> Profile:
    async with scene.crawler.connect() as connection:
        body = await profiles.profile_of(connection, site_id)
    assert body is not None
    return parse_profile(body)


@pytest.mark.parametrize(
    "same_meaning",
    [
        wab(),
        {**wab(), "wab_version": "1.0.1"},
        dict(reversed(wab().items())),
        {**wab(), "generated_at": "2026-11-20T12:34:56Z"},
    ],
    ids=["same bytes", "version bump", "other order", "timestamp"],
)
async def test_changed_at_stays_while_the_meaning_stays(
    scene: Scene, same_meaning: dict[str, Any]
) -> None:
    site = await scene.register()
    listed = await visit(scene, site, at(scene, site, wab()))
    scene.clock.advance(days=2)
    again = await visit(scene, site, at(scene, site, same_meaning))
    assert again.changed_at == listed.changed_at == NOON
    assert again.updated_at == scene.clock()
    assert (await profile_of(scene, again.site_id)).changed_at == NOON


async def test_changed_at_moves_with_the_offer_once_a_month(scene: Scene) -> None:
    site = await scene.register()
    scene.clock.advance(days=2)
    document = with_commands("bookTable", "orderCake")
    early = await visit(scene, site, at(scene, site, document))
    assert early.changed_at == NOON
    scene.clock.advance(days=30)
    document = with_commands("bookTable", "orderBread")
    changed = await visit(scene, site, at(scene, site, document))
    assert changed.changed_at == scene.clock()
    profile = await profile_of(scene, changed.site_id)
    assert profile.changed_at == scene.clock()
    assert len(profile.actions) == 2


async def test_same_meaning_is_the_same_version_of_the_document(scene: Scene) -> None:
    site = await scene.register()
    scene.clock.advance(days=1)
    entry = await visit(scene, site, at(scene, site, {**wab(), "wab_version": "1.0.1"}))
    (document,) = await current(scene, entry)
    assert document.version == 1
    assert document.first_fetched_at == NOON
    assert document.fetched_at == scene.clock()
    assert b"1.0.1" in document.body, "the bytes are those last served"


async def test_other_meaning_is_a_new_version_and_the_old_one_stays(
    scene: Scene,
) -> None:
    site = await scene.register()
    for day in (1, 2):
        scene.clock.advance(days=1)
        document = with_commands(*(f"action{n}" for n in range(day)))
        entry = await visit(scene, site, at(scene, site, document))
    versions = await history(scene, entry)
    assert [version.version for version in versions] == [3, 2, 1]
    assert [version.retired_at for version in versions] == [
        None,
        NOON + timedelta(days=2),
        NOON + timedelta(days=1),
    ]
    assert await current(scene, entry) == versions[:1]


async def test_document_that_is_gone_is_retired_and_may_come_back(
    scene: Scene,
) -> None:
    site = await scene.register()
    scene.clock.advance(days=1)
    both = [at(scene, site, wab()), at(scene, site, wab(), "/.well-known/wab.json")]
    entry = await visit(scene, site, *both)
    assert len(await current(scene, entry)) == 2
    scene.clock.advance(days=1)
    await visit(scene, site, at(scene, site, wab()))
    (left,) = await current(scene, entry)
    assert left.url.endswith("/agent-bridge.json")
    scene.clock.advance(days=1)
    await visit(scene, site, at(scene, site, wab()), both[1])
    back = {
        document.url[-8:]: document.version for document in await current(scene, entry)
    }
    assert back == {"dge.json": 1, "wab.json": 2}


async def test_confirmed_document_was_fetched_again_and_is_no_new_version(
    scene: Scene,
) -> None:
    site = await scene.register()
    entry = await scene.entry(site)
    later = NOON + timedelta(days=3)
    (document,) = await current(scene, entry)
    async with scene.crawler.begin() as connection:
        await documents.confirm_documents(
            connection, entry.site_id, [document.url], later
        )
    (confirmed,) = await current(scene, entry)
    assert (confirmed.fetched_at, confirmed.version) == (later, 1)
    assert confirmed.first_fetched_at == NOON


def seen(outcome: str, minute: int = 0, elapsed_ms: int = 100) -> StoredProbe:
    return StoredProbe(
        observed_at=NOON + timedelta(minutes=minute),
        outcome=outcome,
        elapsed_ms=elapsed_ms,
    )


def test_probes_are_counted_by_what_they_say_of_the_site() -> None:
    result = summarise_probes(
        [
            seen("alive", 5, 300),
            seen("auth_wall", 4, 100),
            seen("wrong_protocol", 3, 200),
            seen("unreachable", 2, 10_000),
            seen("blocked_by_robots", 1, 0),
            seen("alive", 0, 400),
        ]
    )
    assert (result.probes, result.answers, result.successes) == (5, 4, 2)
    assert result.median_ms == 250, "of those that answered"
    assert result.observed_at == NOON + timedelta(minutes=5)


def test_robots_do_not_count_and_are_no_downtime() -> None:
    result = summarise_probes([seen("blocked_by_robots", n) for n in range(9)])
    assert (result.probes, result.median_ms, result.observed_at) == (0, None, None)


async def note(scene: Scene, site_id: int, *stored_probe: StoredProbe) -> None:
    for item in stored_probe:
        async with scene.crawler.begin() as connection:
            await scene.lister.note_probe(connection, site_id, item)


async def test_probe_counts_in_the_profile_at_once_and_over_a_crawl(
    scene: Scene,
) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    young = await profile_of(scene, site_id)
    enough = DEFAULT_POLICY.quality_probes_min
    await note(scene, site_id, *(seen("alive", minute) for minute in range(enough)))
    probed = await profile_of(scene, site_id)
    assert (probed.probes.probes, probed.probes.successes) == (enough, enough)
    assert probed.quality > young.quality
    await visit(scene, site, at(scene, site, with_commands("orderBread")))
    crawled = await profile_of(scene, site_id)
    assert (crawled.probes, crawled.quality) == (probed.probes, probed.quality)


async def test_probes_older_than_the_window_no_longer_count(scene: Scene) -> None:
    site = await scene.register()
    site_id = (await scene.entry(site)).site_id
    old: datetime = NOON - timedelta(days=31)
    gone = StoredProbe(observed_at=old, outcome="unreachable", elapsed_ms=9)
    await note(scene, site_id, gone, seen("alive"))
    assert (await profile_of(scene, site_id)).probes.probes == 1
    async with scene.engines[Role.API].connect() as connection:
        saved = await probes.probes_since(connection, site_id, old)
    assert [item.outcome for item in saved] == ["alive", "unreachable"]


def in_city(city: str) -> dict[str, Any]:
    document = wab()
    location = {"city": city, "country": "DE", "support_local": True}
    return {**document, "provider": {**document["provider"], "location": location}}


@pytest.mark.parametrize(
    ("visits", "counting"),
    [
        ([(0, "Berlin"), (13, "Berlin")], "Hamburg"),
        ([(0, "Berlin"), (14, "Berlin")], "Berlin"),
        ([(0, "Berlin"), (7, "Hamburg"), (7, "Berlin"), (7, "Berlin")], "Hamburg"),
        ([(0, "Berlin"), (13, "Munich"), (13, "Berlin")], "Hamburg"),
        ([(0, ""), (1, "Berlin"), (13, "Berlin")], "Hamburg"),
    ],
    ids=["too soon", "long enough", "and back", "by another city", "hidden between"],
)
async def test_a_moved_place_counts_after_some_days_on_end(
    visits: list[tuple[int, str]], counting: str, scene: Scene
) -> None:
    site = await scene.register()
    listed = await visit(scene, site, at(scene, site, in_city("Hamburg")))
    assert listed.place is not None  # at once: it had none
    for days, city in visits:
        scene.clock.advance(days=days)
        await visit(scene, site, at(scene, site, in_city(city) if city else wab()))
    listed = await scene.entry(site)
    profile = await profile_of(scene, listed.site_id)
    assert listed.place is not None
    assert listed.place.name == counting
    assert profile.place_id == listed.place.geonames_id
    material = await material_of_site(scene, listed)
    async with scene.crawler.connect() as connection:
        stored = await profiles.profile_of(connection, listed.site_id)
    assert stored is not None
    assert find_profile(material, scene.lister, digest_profile(stored)) == profile


async def material_of_site(scene: Scene, listed: SiteEntry) -> ProfileMaterial:
    async with scene.engines[Role.API].connect() as connection:
        return await read_material(
            connection, listed.site_id, scene.clock(), allow_loopback=False
        )


def is_false(material: ProfileMaterial, scene: Scene) -> bool:
    """Return whether an outsider says that it makes no profile at all."""
    try:
        find_profile(material, scene.lister, b"")
    except ValueError as error:
        return "its place" in str(error)
    return False


async def test_a_withheld_move_is_seen_and_the_owner_is_told(scene: Scene) -> None:
    site = await scene.register()
    await visit(scene, site, at(scene, site, in_city("Hamburg")))
    scene.clock.advance(days=20)
    listed = await visit(scene, site, at(scene, site, in_city("Berlin")))
    material = await material_of_site(scene, listed)
    move = material.place_move
    assert move is not None
    assert not is_false(material, scene)
    replace_ = msgspec.structs.replace
    lies = [
        replace_(material, place_move=None),
        replace_(material, place_move=replace_(move, geonames_id=1)),
        replace_(material, place_move=replace_(move, since=move.since - 14 * 86_400)),
        replace_(material, place=replace_(material.place, geonames_id=0)),
        replace_(material, place=move),
    ]
    assert [is_false(lie, scene) for lie in lies] == [True] * len(lies)
    for days in (13, 1):
        scene.clock.advance(days=days)
        await visit(scene, site, at(scene, site, in_city("Berlin")))
    async with scene.engines[Role.API].connect() as connection:
        rows = await notices.notices_of(connection, 10, site_id=listed.site_id)
    told_of = {
        row.notice.code: row.notice.detail
        for row in rows
        if row.notice.code.startswith("place")
    }
    assert told_of["place_waiting"].startswith("Hamburg DE counts in the ranking.")
    assert "Berlin DE counts from 2026-12-24 12:00 UTC on" in told_of["place_waiting"]
    assert told_of["place_counting"] == "Berlin DE counts in the ranking."


async def test_a_move_to_a_city_that_nobody_knows_says_so(scene: Scene) -> None:
    site = await scene.register()
    await visit(scene, site, at(scene, site, in_city("Hamburg")))
    for days in (0, 14):
        scene.clock.advance(days=days)
        listed = await visit(scene, site, at(scene, site, in_city("Nirgendwo")))
    async with scene.engines[Role.API].connect() as connection:
        rows = await notices.notices_of(connection, 10, site_id=listed.site_id)
    details = {row.notice.code: row.notice for row in rows}
    waiting, counting = details["place_waiting"], details["place_counting"]
    assert "Nirgendwo DE is no city of the gazetteer: from" in waiting.detail
    assert "15,000 people" in waiting.fix
    assert counting.detail == "No city counts in the ranking."


async def test_a_first_city_that_nobody_knows_is_noted_once(scene: Scene) -> None:
    site = await scene.register()
    for city in ("Nirgendwo", "Nirgendwo", "Nirgendheim", "Hamburg"):
        listed = await visit(scene, site, at(scene, site, in_city(city)))
    assert listed.place is not None
    async with scene.engines[Role.API].connect() as connection:
        rows = await notices.notices_of(connection, 10, site_id=listed.site_id)
    unknown = [row.notice for row in rows if row.notice.code == "place_unknown"]
    assert sorted(notice.detail for notice in unknown) == [
        "Nirgendheim DE is no city of the gazetteer. No city counts in the ranking.",
        "Nirgendwo DE is no city of the gazetteer. No city counts in the ranking.",
    ]
    assert "15,000 people" in unknown[0].fix


async def test_another_registration_of_the_publisher_elsewhere_is_noted(
    scene: Scene,
) -> None:
    domain = new_host().name.replace("-", "").replace(".test", ".com")
    entries = []
    for city in ("Hamburg", "Berlin", "Berlin"):
        host = parse_host(f"{city.lower()}{len(entries)}.{domain}", test_hosts=True)
        site = await scene.register(host=host)
        entries.append(await visit(scene, site, at(scene, site, in_city(city))))
    async with scene.engines[Role.API].connect() as connection:
        notes = [
            await read_place_notes(connection, entry, [], scene.lister.gazetteer)
            for entry in entries[:2]
        ]
    hosts = [{note.detail.partition(" of ")[0] for note in own} for own in notes]
    assert hosts == [{entries[1].host, entries[2].host}, {entries[0].host}]
