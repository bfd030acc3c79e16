"""The crawler's regular tasks against real servers: what each visit leaves behind."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from crawler.tasks.dispatch import carry_out_task
from registry.db.engine.engines import Role
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task, TaskKind
from registry.db.sites import documents, notices, profiles
from registry.db.sites import listed_sites as sites
from registry.formats.document import StoredDocument
from registry.identity.keys.jwk import jwks_document
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.public_keys import PublicKey
from registry.ranking.profile import Profile, parse_profile
from registry.sites.change_history import NEVER_VISITED
from registry.usecases.sites.list_site import SiteUpdate
from tests.crawler.net import HonestSite, Net, Page
from tests.db.scene import (
    Scene,
    SiteOwner,
    body_of,
    understood,
    wab,
    with_commands,
)
from tests.unit.identity.envelopes import sign_envelope

DOCUMENT = "/agent-bridge.json"
BROKEN = Page(b"", status="503 Service Unavailable")


class Visited:
    """A listed site with a server of its own, and the crawler that visits it."""

    def __init__(self, scene: Scene, net: Net) -> None:
        self.scene = scene
        self.owner = SiteOwner()
        self.zone: dict[str, list[str]] = {}
        self.server = HonestSite(
            {
                DOCUMENT: Page(json.dumps(wab()).encode(), headers={"ETag": '"1"'}),
                "/robots.txt": Page(b"", "text/plain"),
            }
        )
        self._net = net

    async def open(self) -> "Visited":
        await self._net.serve(self.server, self.owner.host.name)
        self.show(self.owner.public)
        url = f"https://{self.owner.host.name}{DOCUMENT}"
        decided = await self.scene.play(self.owner, docs=[{"url": url}])
        assert decided.status == "active"
        dns_server = await self._net.serve_dns(self.zone)
        fetcher = self._net.fetcher(dns_server=dns_server)
        self.context = self.scene.context(fetcher)
        return self

    def show(self, *keys: PublicKey) -> None:
        self.server.pages[KEY_SET_PATH] = Page(jwks_document(keys))

    async def lease(self, *kinds: TaskKind) -> list[Task]:
        """Tasks of the site, made due; leases of other sites are thrown away."""
        entry = await self.scene.entry(self.owner)
        now = self.scene.clock()
        async with self.scene.crawler.begin() as connection:
            for kind in kinds:
                await tasks.schedule(connection, entry.site_id, kind, now)
        async with self.scene.crawler.begin() as connection:
            leased = await tasks.lease_tasks(
                connection, now=now, lease=timedelta(seconds=120), limit=1000
            )
        ours = {task.kind: task for task in leased if task.site_id == entry.site_id}
        return [ours[kind] for kind in kinds]

    async def visit(self, kind: TaskKind, failures: int = 0) -> None:
        (task,) = await self.lease(kind)
        await carry_out_task(self.context, replace(task, failures=failures))

    async def outcome(self, kind: TaskKind) -> dict[str, Any]:
        entry = await self.scene.entry(self.owner)
        async with self.scene.crawler.connect() as connection:
            result: dict[str, Any] = (
                await tasks.outcomes_of(connection, entry.site_id)
            )[kind]
        return result

    async def profile(self) -> Profile:
        entry = await self.scene.entry(self.owner)
        async with self.scene.crawler.connect() as connection:
            body = await profiles.profile_of(connection, entry.site_id)
        assert body is not None
        return parse_profile(body)

    async def is_found(self) -> bool:
        """Whether searches may answer with it, and it is on the list."""
        entry = await self.scene.entry(self.owner)
        query = "SELECT listed FROM registry.ranking_profile WHERE site_id = :id"
        (row,) = await self.scene.sql(query, id=entry.site_id)
        async with self.scene.crawler.connect() as connection:
            listed = await sites.list_sites(connection, limit=10_000)
        assert row.listed == (entry.site_id in [listing.site_id for listing in listed])
        return bool(row.listed)

    async def notices(self) -> list[str]:
        """Codes, the oldest first, from the first registration on."""
        entry = await self.scene.entry(self.owner)
        async with self.scene.engines[Role.API].connect() as connection:
            result = await notices.notices_of(connection, 200, site_id=entry.site_id)
        codes = [stored_notice.notice.code for stored_notice in reversed(result)]
        return codes[codes.index("registration_accepted") :]

    async def document(self) -> StoredDocument:
        entry = await self.scene.entry(self.owner)
        async with self.scene.crawler.connect() as connection:
            (result,) = await documents.current_documents(connection, entry.site_id)
        return result


@pytest.fixture
async def visited(scene: Scene, net: Net) -> Visited:
    return await Visited(scene, net).open()


async def test_proof_promotes_a_key_that_waited_though_it_never_signed(
    visited: Visited,
) -> None:
    new = SiteOwner(host=visited.owner.host)
    reference = visited.owner.reference_of(new.public)
    visited.show(visited.owner.public, new.public)
    for standing in ("cooling", "trusted"):
        await visited.visit("prove")
        assert (await visited.scene.standings(visited.owner))[reference] == standing
        visited.scene.clock.advance(hours=1)


async def test_proof_by_a_key_that_replaced_the_lost_one_fails(
    visited: Visited,
) -> None:
    thief = SiteOwner(host=visited.owner.host)
    visited.show(thief.public)
    for _ in range(3):
        await visited.visit("prove")
        assert (await visited.outcome("prove"))["result"] == "not_proved"
        visited.scene.clock.advance(hours=30)
    assert "trusted" not in (await visited.scene.standings(visited.owner)).values()


async def test_failed_fetch_of_the_key_set_changes_no_key(visited: Visited) -> None:
    entry = await visited.scene.entry(visited.owner)
    read = "SELECT t::text FROM registry.site_key AS t WHERE site_id = :id"
    before = await visited.scene.sql(read, id=entry.site_id)
    visited.server.pages[KEY_SET_PATH] = BROKEN
    visited.scene.clock.advance(hours=5)
    await visited.visit("prove")
    assert await visited.scene.sql(read, id=entry.site_id) == before
    assert (await visited.outcome("prove"))["result"] == "not_proved"


async def test_third_failed_proof_makes_a_site_unverified_and_the_next_one_heals(
    visited: Visited,
) -> None:
    visited.server.pages[KEY_SET_PATH] = BROKEN
    for failures, status in ((0, "active"), (1, "active"), (2, "unverified")):
        await visited.visit("prove", failures)
        assert (await visited.scene.entry(visited.owner)).status == status
    visited.show(visited.owner.public)
    visited.scene.clock.advance(hours=1)
    await visited.visit("prove", 3)
    entry = await visited.scene.entry(visited.owner)
    assert (entry.status, entry.proved_at) == ("active", visited.scene.clock())


async def test_crawl_lists_what_changed(visited: Visited) -> None:
    visited.scene.clock.advance(days=1)
    changed_document = json.dumps(with_commands("orderBread")).encode()
    visited.server.pages[DOCUMENT] = Page(changed_document, headers={"ETag": '"2"'})
    await visited.visit("crawl")
    entry = await visited.scene.entry(visited.owner)
    assert [action.name for action in entry.site.actions] == ["orderBread"]
    assert entry.updated_at == visited.scene.clock()
    assert (await visited.document()).etag == '"2"'


async def test_a_move_that_waited_counts_though_the_document_is_only_confirmed(
    visited: Visited,
) -> None:
    for number, city in enumerate(("Hamburg", "Berlin"), 2):
        provider = {**wab()["provider"], "location": {"city": city, "country": "DE"}}
        visited.server.pages[DOCUMENT] = Page(
            json.dumps({**wab(), "provider": provider}).encode(),
            headers={"ETag": f'"{number}"'},
        )
        await visited.visit("crawl")
    for days, counting in ((13, "Hamburg"), (1, "Berlin")):
        visited.scene.clock.advance(days=days)
        await visited.visit("crawl")
        place = (await visited.scene.entry(visited.owner)).place
        assert place is not None
        assert place.name == counting
        assert (await visited.profile()).place_id == place.geonames_id


async def test_document_that_answers_304_counts_as_fetched(visited: Visited) -> None:
    await visited.visit("crawl")  # learns the entity tag
    first = await visited.document()
    visited.scene.clock.advance(days=1)
    await visited.visit("crawl")
    assert visited.server.requests[-1].headers["if-none-match"] == '"1"'
    document = await visited.document()
    assert (document.version, document.first_fetched_at) == (1, first.first_fetched_at)
    assert document.fetched_at == visited.scene.clock()
    assert (await visited.outcome("crawl"))["result"] == "unchanged"


def envelope(visited: Visited, days: int) -> Page:
    """A signed document that holds for some days from now."""
    assert isinstance(visited.owner.key, Ed25519PrivateKey)
    payload = {
        "version": "wab1",
        "type": "wab.trust",
        "host": visited.owner.host.name,
        "expires_at": (visited.scene.clock() + timedelta(days=days)).isoformat(),
        "capabilities": ["orderBread"],
    }
    signed = json.dumps(sign_envelope(payload, visited.owner.key))
    return Page(signed.encode(), headers={"ETag": '"signed"'})


async def test_signature_that_runs_out_is_noticed_though_no_byte_changes(
    visited: Visited,
) -> None:
    visited.server.pages[DOCUMENT] = envelope(visited, days=5)
    await visited.visit("crawl")
    assert (await visited.document()).signature["status"] == "valid"
    visited.scene.clock.advance(days=4)
    await visited.visit("crawl")
    assert visited.server.requests[-1].headers["if-none-match"] == '"signed"'
    entry = await visited.scene.entry(visited.owner)
    assert (await visited.document()).fetched_at == entry.updated_at
    assert (await visited.outcome("crawl"))["result"] == "fetched"
    visited.scene.clock.advance(days=1)
    await visited.visit("crawl")
    outcome = await visited.outcome("crawl")
    assert (outcome["result"], outcome["code"]) == (
        "failed",
        "document_signature_expired",
    )
    expired = await visited.document()
    assert expired.signature["status"] == "expired"
    assert expired.fetched_at == entry.updated_at, "not refreshed"
    left = await visited.scene.entry(visited.owner)
    assert (left.shown_status, left.trust_level) == ("unlisted", "unverified")
    assert left.site == entry.site, "what it said can still be seen"
    assert not await visited.is_found()


async def test_document_whose_signature_runs_out_goes_and_the_others_stay(
    visited: Visited,
) -> None:
    host = visited.owner.host
    second = f"https://{host.name}/second.json"
    visited.server.pages["/second.json"] = Page(json.dumps(wab()).encode())
    visited.server.pages[DOCUMENT] = envelope(visited, days=1)
    docs = [{"url": f"https://{host.name}{DOCUMENT}"}, {"url": second}]
    bodies = [body_of(host, wab(), path=path) for path in (DOCUMENT, "/second.json")]
    await visited.scene.play(
        visited.owner, what=understood(host, *bodies), act="update", docs=docs
    )
    await visited.visit("crawl")
    entry = await visited.scene.entry(visited.owner)
    names = {action.name for action in entry.site.actions}
    assert names == {"orderBread", "bookTable"}
    visited.scene.clock.advance(days=2)
    await visited.visit("crawl")
    assert (await visited.document()).url == second
    outcome = await visited.outcome("crawl")
    assert outcome["result"] == "fetched"
    assert [problem["code"] for problem in outcome["problems"]] == [
        "document_signature_expired"
    ]


async def test_outage_leaves_the_listing_and_comes_back_later(visited: Visited) -> None:
    entry = await visited.scene.entry(visited.owner)
    visited.scene.clock.advance(days=1)
    visited.server.pages[DOCUMENT] = BROKEN
    await visited.visit("crawl")
    assert await visited.scene.entry(visited.owner) == entry
    outcome = await visited.outcome("crawl")
    assert outcome["result"] == "failed"
    assert outcome["nextDueAt"] > visited.scene.clock()


async def test_robots_blocked_probe_is_no_downtime(visited: Visited) -> None:
    rules = b"User-agent: *\nDisallow: /\n"
    visited.server.pages["/robots.txt"] = Page(rules, "text/plain")
    await visited.visit("probe")
    assert (await visited.outcome("probe"))["result"] == "blocked_by_robots"
    assert (await visited.profile()).probes.probes == 0


@pytest.mark.parametrize("kind", ["crawl", "probe", "prove"])
async def test_visit_that_lost_its_lease_writes_nothing(
    visited: Visited, kind: TaskKind
) -> None:
    (stale,) = await visited.lease(kind)
    changed_document = json.dumps(with_commands("orderBread")).encode()
    visited.server.pages[DOCUMENT] = Page(changed_document)
    visited.show(SiteOwner(host=visited.owner.host).public)
    visited.scene.clock.advance(minutes=3)
    (held,) = await visited.lease(kind)
    before = await visited.scene.rows()
    await carry_out_task(visited.context, stale)
    assert await visited.scene.rows() == before
    await carry_out_task(visited.context, held)
    assert await visited.scene.rows() != before, "the same visit under the lease"


async def test_visit_of_a_site_withdrawn_meanwhile_writes_nothing(
    visited: Visited,
) -> None:
    leased = await visited.lease("crawl", "probe", "prove")
    await visited.scene.play(visited.owner, act="withdraw")
    before = await visited.scene.rows()
    for task in leased:
        await carry_out_task(visited.context, task)
    assert await visited.scene.rows() == before


async def test_probe_that_ends_during_an_update_loses_nothing_and_locks_nobody_out(
    visited: Visited,
) -> None:
    """Both write the profile and the task: the later starts from what is left."""
    (task,) = await visited.lease("probe")
    host, now = visited.owner.host, visited.scene.clock()
    parsed = understood(host, body_of(host, with_commands("orderBread")))
    async with visited.scene.crawler.begin() as update:
        current = await sites.lock_site(update, host.name)
        assert current
        own = SiteUpdate(entry=current, understood=parsed, declarations={}, now=now)
        await visited.scene.lister.list_sites(update, [own])
        probing = asyncio.create_task(carry_out_task(visited.context, task))
        await asyncio.wait({probing}, timeout=0.5)
        await tasks.schedule(update, current.site_id, "probe", now)
    await probing
    profile = await visited.profile()
    assert [action.name for action in profile.actions] == ["orderBread"]
    assert profile.probes.probes == 1


async def test_crawls_learn_how_often_the_site_changes(visited: Visited) -> None:
    expected = NEVER_VISITED
    changed_document = json.dumps(with_commands("orderBread")).encode()
    for body, unchanged in (
        (None, 1.0),
        (changed_document, 0.0),
        (changed_document + b" ", 1.0),
    ):
        visited.scene.clock.advance(days=2)
        if body:
            etag = {"ETag": f'"{len(body)}"'}
            visited.server.pages[DOCUMENT] = Page(body, headers=etag)
        await visited.visit("crawl")
        expected = expected.after(2.0, unchanged)
        next_at = visited.context.revisits.next_at(
            visited.scene.clock(), expected, visited.context.draw
        )
        assert (await visited.outcome("crawl"))["nextDueAt"] == next_at
        (task,) = await visited.lease("crawl")
        assert task.history == expected
    visited.scene.clock.advance(days=2)
    visited.server.pages[DOCUMENT] = BROKEN
    await visited.visit("crawl")
    (task,) = await visited.lease("crawl")
    assert task.history == expected, "a failure says nothing"


async def test_probes_get_a_random_phase_and_keep_it(visited: Visited) -> None:
    clock, interval = visited.scene.clock, visited.context.probe_interval
    await visited.visit("probe")
    second_at = (await visited.outcome("probe"))["nextDueAt"]
    assert second_at == clock() + interval / 2, "a half is what is drawn here"
    clock.advance(minutes=33)
    (second,) = await visited.lease("probe")
    await carry_out_task(visited.context, replace(second, due_at=second_at))
    third_at = (await visited.outcome("probe"))["nextDueAt"]
    assert third_at == second_at + interval, "though it came three minutes late"
