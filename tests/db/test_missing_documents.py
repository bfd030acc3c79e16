"""A site at which no document counts any more: how long it stays, and its way back."""

import json
from datetime import timedelta
from typing import get_args

import pytest

from registry.db.frontier.tasks import TaskKind
from registry.db.sites import documents, probes
from tests.crawler.net import Page
from tests.db.scene import understood, wab
from tests.db.test_visiting import BROKEN, DOCUMENT, Visited, envelope, visited

__all__ = ["visited"]  # fixtures

SERVED = Page(json.dumps(wab()).encode(), headers={"ETag": '"1"'})
GONE = Page(b"", status="410 Gone")
NO_JSON = Page(b"{", headers={"ETag": '"2"'})
NOT_FOUND = None

MISSING = [
    pytest.param(NOT_FOUND, id="404"),
    pytest.param(GONE, id="410"),
    pytest.param(NO_JSON, id="not understood"),
    pytest.param(Page(b"<html>Sorry", "text/html"), id="a page for people"),
]


def put(visited: Visited, page: Page | None) -> None:
    visited.server.pages.pop(DOCUMENT, None)
    if page is not None:
        visited.server.pages[DOCUMENT] = page


async def undeclared(visited: Visited) -> None:
    """The site names no document: the well-known places are looked at."""
    await visited.scene.play(
        visited.owner, what=understood(visited.owner.host), act="update", docs=[]
    )


async def crawl_for(visited: Visited, days: int, visits: int) -> None:
    """Visits evenly apart, the first one now and the last after these days."""
    for number in range(visits):
        if number:
            visited.scene.clock.advance(days=days / (visits - 1))
        await visited.visit("crawl")


@pytest.mark.parametrize("page", MISSING)
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "found"])
async def test_site_without_a_document_for_three_days_is_unlisted_and_comes_back(
    visited: Visited, page: Page | None, declared: bool
) -> None:
    if not declared:
        await undeclared(visited)
    put(visited, page)
    await crawl_for(visited, days=2, visits=3)
    assert await visited.is_found(), "it may be back tomorrow"
    visited.scene.clock.advance(days=1)
    await visited.visit("crawl")
    assert not await visited.is_found()
    entry = await visited.scene.entry(visited.owner)
    assert (entry.unlisted_for, entry.trust_level) == (
        "documents_missing",
        "unverified",
    )
    async with visited.scene.crawler.connect() as connection:
        assert await documents.current_documents(connection, entry.site_id) == []
    changed_at = entry.changed_at
    put(visited, SERVED)
    await visited.visit("crawl")
    assert await visited.is_found()
    back = await visited.scene.entry(visited.owner)
    assert (back.shown_status, back.trust_level) == ("active", "verified")
    assert back.changed_at == changed_at, "its absence is no news of its meaning"
    assert (await visited.document()).version == 2


async def test_many_visits_in_a_short_time_unlist_nothing(visited: Visited) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=2, visits=12)
    assert await visited.is_found()


async def test_two_visits_far_apart_unlist_nothing(visited: Visited) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=6, visits=2)
    assert await visited.is_found()


async def test_a_document_in_between_starts_the_count_anew(visited: Visited) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=2, visits=3)
    put(visited, SERVED)
    await visited.visit("crawl")
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=2, visits=3)
    assert await visited.is_found()


async def test_outage_is_no_absence_however_long(visited: Visited) -> None:
    put(visited, BROKEN)
    await crawl_for(visited, days=30, visits=8)
    assert await visited.is_found()
    assert await visited.notices() == ["registration_accepted", "site_unreachable"]


async def test_absence_goes_on_through_an_outage(visited: Visited) -> None:
    put(visited, NOT_FOUND)
    await visited.visit("crawl")
    visited.scene.clock.advance(days=2)
    put(visited, BROKEN)
    await visited.visit("crawl")
    put(visited, NOT_FOUND)
    for _ in range(2):
        visited.scene.clock.advance(days=1)
        await visited.visit("crawl")
    assert not await visited.is_found()


async def test_unlisted_site_is_reported_once_and_once_more_when_it_is_back(
    visited: Visited,
) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=10, visits=8)
    messages = ["registration_accepted", "documents_missing", "unlisted"]
    assert await visited.notices() == messages
    put(visited, SERVED)
    await visited.visit("crawl")
    messages += ["documents_found", "listed_again"]
    assert await visited.notices() == messages


async def test_expired_document_unlists_at_once_and_a_renewed_one_lists_again(
    visited: Visited,
) -> None:
    put(visited, envelope(visited, days=5))
    await visited.visit("crawl")
    assert (await visited.document()).signature["status"] == "valid"
    visited.scene.clock.advance(days=6)
    await visited.visit("crawl")
    assert not await visited.is_found()
    entry = await visited.scene.entry(visited.owner)
    assert entry.unlisted_for == "documents_expired"
    assert (await visited.document()).signature["status"] == "expired"
    put(visited, envelope(visited, days=5))
    visited.server.pages[DOCUMENT].headers["ETag"] = '"renewed"'
    await visited.visit("crawl")
    assert await visited.is_found()
    assert (await visited.document()).signature["status"] == "valid"
    assert (await visited.notices())[-4:] == [
        *("document_expired", "unlisted", "document_stands", "listed_again"),
    ]


async def test_signature_that_does_not_hold_is_shown_at_once_and_waits_like_an_absence(
    visited: Visited,
) -> None:
    page = envelope(visited, days=50)
    put(visited, page)
    await visited.visit("crawl")
    edited = json.loads(page.body)
    edited["payload"]["capabilities"] = ["sellGold"]
    put(visited, Page(json.dumps(edited).encode(), headers={"ETag": '"edited"'}))
    await visited.visit("crawl")
    assert (await visited.document()).signature["status"] == "invalid"
    assert await visited.is_found()
    visited.scene.clock.advance(days=1)
    await crawl_for(visited, days=2, visits=3)
    assert not await visited.is_found()


async def test_update_by_its_owner_lists_it_again(visited: Visited) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=4, visits=4)
    assert not await visited.is_found()
    await visited.scene.play(visited.owner, act="update")
    assert await visited.is_found()


async def test_probe_and_proof_go_on_and_list_nothing(visited: Visited) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=4, visits=4)
    visited.scene.clock.advance(minutes=3)
    for kind in get_args(TaskKind):
        await visited.visit(kind)
        visited.scene.clock.advance(minutes=3)
    assert not await visited.is_found()
    entry = await visited.scene.entry(visited.owner)
    async with visited.scene.crawler.connect() as connection:
        since = visited.scene.clock() - timedelta(days=1)
        assert await probes.probes_since(connection, entry.site_id, since)


async def test_unlisted_site_stays_so_when_profiles_are_made_anew(
    visited: Visited,
) -> None:
    put(visited, NOT_FOUND)
    await crawl_for(visited, days=4, visits=4)
    await visited.scene.sql("UPDATE registry.site_profile SET policy = 'another'")
    await visited.scene.lister.renew_profiles(
        visited.scene.crawler, visited.scene.clock
    )
    assert not await visited.is_found()
