"""What the owner of a site is told of: each change of state once, with its change."""

import json
from dataclasses import replace

import pytest

from crawler.robots.robots_cache import RobotsCache
from crawler.tasks.dispatch import carry_out_task
from registry.db.engine.engines import Role
from registry.db.frontier.tasks import TaskKind
from registry.db.sites import notices
from registry.db.sites.notices import NOTICES_PER_SITE, Notice, StoredNotice
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.private_keys import generate_private_key, public_key_of
from registry.usecases.sites.notices import KINDS
from tests.crawler.net import Net, Page
from tests.db.scene import Scene, SiteOwner, codes, wab
from tests.db.test_probing import visited_bridge
from tests.db.test_visiting import BROKEN, DOCUMENT, Visited, visited
from tests.unit.crawler.test_bridge import RESULTS, response

__all__ = ["visited"]  # fixtures

FORBIDDEN = Page(b"User-agent: *\nDisallow: /\n", "text/plain")
OPEN = Page(b"", "text/plain")


async def stored(scene: Scene, site: SiteOwner) -> list[StoredNotice]:
    entry = await scene.entry(site)
    async with scene.engines[Role.API].connect() as connection:
        return await notices.notices_of(connection, 1000, site_id=entry.site_id)


async def news(visited: Visited, kind: TaskKind, times: int = 1) -> list[str]:
    """What these visits tell, an hour apart."""
    before = len(await stored(visited.scene, visited.owner))
    for _ in range(times):
        visited.scene.clock.advance(hours=1)
        await visited.visit(kind)
    rows = await stored(visited.scene, visited.owner)
    return [stored_notice.notice.code for stored_notice in reversed(rows)][before:]


def serve(visited: Visited, path: str, page: Page) -> None:
    visited.server.pages[path] = page


async def test_registration_is_reported_with_its_place(scene: Scene) -> None:
    site = SiteOwner()
    decided = await scene.play(site)
    newest = (await stored(scene, site))[0]
    assert newest.notice.code == "registration_accepted"
    assert newest.notice.url == f"/v1/registrations/{decided.registration_id}"
    assert newest.noted_at == scene.clock()
    assert site.kid in newest.notice.detail


async def test_rejection_is_reported_if_a_key_of_the_site_signed(scene: Scene) -> None:
    site = await scene.register()
    before = len(await stored(scene, site))
    stranger = SiteOwner(host=site.host)
    token = stranger.sign(await scene.challenge(site.host), scene.clock(), act="update")
    leased = await scene.lease(await scene.submit_token(token))
    both = site.publishing(site.public, stranger.public)
    decided = await scene.decide(leased, both)
    assert codes(decided) == ["key_held"]
    new_notices = [stored_row.notice for stored_row in await stored(scene, site)][
        :-before
    ]
    assert [notice.code for notice in new_notices] == [
        "registration_rejected",
        "key_cooling",
    ]
    assert new_notices[0].problem == "key_held"


FINE = Page(json.dumps(wab()).encode())


def read_robots_again(visited: Visited) -> None:
    """As if a day had passed."""
    robots = RobotsCache(visited.context.fetcher)
    visited.context = replace(visited.context, robots=robots)


@pytest.mark.parametrize(
    ("path", "bad", "good", "expected"),
    [
        pytest.param(
            *("/robots.txt", FORBIDDEN, OPEN),
            (["robots_blocking"], ["robots_permitting"]),
            id="robots",
        ),
        pytest.param(
            *(DOCUMENT, BROKEN, FINE),
            (["site_unreachable"], ["site_reachable"]),
            id="outage",
        ),
        pytest.param(
            *(DOCUMENT, Page(b"{"), FINE),
            (
                ["documents_missing", "document_refused"],
                ["documents_found", "document_stands"],
            ),
            id="not understood",
        ),
    ],
)
async def test_trouble_that_lasts_is_told_when_it_begins_and_when_it_is_over(
    visited: Visited,
    path: str,
    bad: Page,
    good: Page,
    expected: tuple[list[str], list[str]],
) -> None:
    assert await news(visited, "crawl") == []
    serve(visited, path, bad)
    read_robots_again(visited)
    assert await news(visited, "crawl", times=5) == expected[0]
    serve(visited, path, good)
    read_robots_again(visited)
    assert await news(visited, "crawl", times=3) == expected[1]


async def test_probe_that_changes_for_good_is_reported(visited: Visited) -> None:
    assert await news(visited, "probe", times=3) == []
    serve(visited, DOCUMENT, BROKEN)
    assert await news(visited, "probe") == [], "once may be chance"
    assert await news(visited, "probe", times=4) == ["probe_changed"]
    serve(visited, DOCUMENT, Page(json.dumps(wab()).encode()))
    assert await news(visited, "probe", times=4) == ["probe_changed"]


async def test_each_strike_of_a_lost_proof_is_reported_and_then_no_more(
    visited: Visited,
) -> None:
    serve(visited, KEY_SET_PATH, BROKEN)
    messages = []
    for strikes in range(5):
        before = len(await stored(visited.scene, visited.owner))
        visited.scene.clock.advance(days=1)
        await visited.visit("prove", strikes)
        rows = await stored(visited.scene, visited.owner)
        messages.append(
            [stored_notice.notice for stored_notice in rows[: len(rows) - before]]
        )
    assert [[notice.code for notice in day] for day in messages] == [
        *(["proof_failed"], ["proof_failed"], ["proof_lost"], [], []),
    ]
    assert messages[1][0].detail.startswith("Strike 2 of 3.")
    visited.show(visited.owner.public)
    visited.scene.clock.advance(days=1)
    await visited.visit("prove", 5)
    assert (await visited.notices())[-1] == "proof_renewed"


async def test_owner_learns_of_a_key_that_is_new_goes_or_is_revoked(
    visited: Visited,
) -> None:
    new = public_key_of(generate_private_key("Ed25519"))
    visited.show(visited.owner.public, new)
    assert await news(visited, "prove") == ["key_cooling"]
    assert await news(visited, "prove", times=2) == ["key_trusted"]
    visited.show(visited.owner.public)
    assert await news(visited, "prove") == ["key_absent"]
    await visited.scene.play(visited.owner, act="revoke", revoked_kid=new.kid)
    assert (await visited.notices())[-2:] == ["key_revoked", "registration_accepted"]


async def test_bridge_that_departs_is_reported_method_by_method(
    scene: Scene, net: Net
) -> None:
    visited = await visited_bridge(scene, net)
    for name, result in RESULTS.items():
        serve(visited, f"/api/wab/{name}", Page(response(result)))
    await news(visited, "prove")
    serve(visited, "/api/wab/ping", Page(b"{}"))
    assert await news(visited, "prove", times=2) == ["bridge_departing"]
    serve(visited, "/api/wab/ping", BROKEN)
    assert await news(visited, "prove") == [], "an outage says nothing of it"
    serve(visited, "/api/wab/ping", Page(response(RESULTS["ping"])))
    assert await news(visited, "prove", times=2) == ["bridge_conforming"]


async def test_visit_that_lost_its_lease_tells_nothing(visited: Visited) -> None:
    (stale,) = await visited.lease("crawl")
    serve(visited, DOCUMENT, Page(b"{"))
    visited.scene.clock.advance(minutes=3)
    await visited.lease("crawl")
    before = await stored(visited.scene, visited.owner)
    await carry_out_task(visited.context, stale)
    assert await stored(visited.scene, visited.owner) == before


async def test_newest_are_kept_and_the_others_forgotten(scene: Scene) -> None:
    site, other = await scene.register(), await scene.register()
    beside = await stored(scene, other)
    entry = await scene.entry(site)
    for batch in range(5):
        result = [
            Notice(code="document_gone", detail=str(batch * 90 + number))
            for number in range(90)
        ]
        async with scene.crawler.begin() as connection:
            await notices.save_notices(connection, entry.site_id, result, scene.clock())
    rows = await stored(scene, site)
    assert [stored_notice.notice.detail for stored_notice in rows] == [
        str(number) for number in range(449, 449 - NOTICES_PER_SITE, -1)
    ]
    assert await stored(scene, other) == beside


async def test_every_notice_that_is_written_is_of_a_known_kind(scene: Scene) -> None:
    rows = await scene.sql("SELECT DISTINCT code FROM registry.notice")
    assert {row.code for row in rows} <= KINDS.keys()
