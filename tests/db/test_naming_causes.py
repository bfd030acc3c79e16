"""A notice names the cause that the crawler knows, and the document that it is about."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from crawler.robots.robots_cache import RobotsCache
from registry.db.engine.engines import Role
from registry.db.sites import notices
from registry.db.sites.notices import Notice
from tests.crawler.net import Net, Page
from tests.db.scene import Scene, wab
from tests.db.test_visiting import DOCUMENT, Visited, visited

__all__ = ["visited"]  # fixtures

CLOSED = Page(b"", status="403 Forbidden")
EXPIRED = datetime(2020, 1, 1, tzinfo=UTC)


async def newest(visited: Visited, count: int) -> list[Notice]:
    entry = await visited.scene.entry(visited.owner)
    async with visited.scene.engines[Role.API].connect() as connection:
        stored = await notices.notices_of(connection, count, site_id=entry.site_id)
    return [row.notice for row in reversed(stored)]


async def crawl(visited: Visited) -> None:
    """A visit a day later, which reads robots.txt anew."""
    robots = RobotsCache(visited.context.fetcher)
    visited.context = replace(visited.context, robots=robots)
    visited.scene.clock.advance(days=1)
    await visited.visit("crawl")


async def serve_expired(visited: Visited, net: Net) -> None:
    await net.serve(visited.server, visited.owner.host.name, expires_at=EXPIRED)


async def test_expired_certificate_is_reported_as_that(
    visited: Visited, net: Net
) -> None:
    """It was told as "robots.txt could not be read … Answer /robots.txt with 200"."""
    await serve_expired(visited, net)
    await crawl(visited)
    (notice,) = await newest(visited, 1)
    assert (notice.code, notice.problem) == ("site_unreachable", "tls")
    assert "expired" in notice.detail
    assert "robots" not in notice.detail + notice.fix
    assert "Renew the certificate" in notice.fix
    assert notice.url == f"https://{visited.owner.host.name}{DOCUMENT}"


async def test_probe_of_an_expired_certificate_has_the_same_reason(
    visited: Visited, net: Net
) -> None:
    await serve_expired(visited, net)
    await visited.visit("probe")
    outcome = await visited.outcome("probe")
    assert (outcome["result"], outcome["code"]) == ("unreachable", "tls")


async def test_document_that_vanished_is_named_whatever_the_home_page_does(
    visited: Visited,
) -> None:
    """It was told as "/: The page declares no tool", or "/: the server answered 403"."""
    await visited.scene.play(visited.owner, act="update", docs=[])
    url = f"https://{visited.owner.host.name}{DOCUMENT}"
    for page in (CLOSED, Page(b"<html>Hello", "text/html")):
        visited.server.pages[DOCUMENT] = Page(json.dumps(wab()).encode())
        await crawl(visited)
        del visited.server.pages[DOCUMENT]
        visited.server.pages["/"] = page
        await crawl(visited)
        (notice,) = await newest(visited, 1)
        assert (notice.code, notice.url) == ("documents_missing", url)
        assert notice.detail.startswith(f"{url} is no longer there; ")


async def test_declared_document_that_vanished_beside_another_is_named(
    scene: Scene, net: Net
) -> None:
    visited = Visited(scene, net)
    visited.server.pages["/second.json"] = visited.server.pages[DOCUMENT]
    await visited.open()
    second = f"https://{visited.owner.host.name}/second.json"
    docs = [{"url": f"https://{visited.owner.host.name}{DOCUMENT}"}, {"url": second}]
    await visited.scene.play(visited.owner, act="update", docs=docs)
    await crawl(visited)
    del visited.server.pages["/second.json"]
    await crawl(visited)
    (notice,) = await newest(visited, 1)
    assert (notice.code, notice.url) == ("document_gone", second)


async def test_each_new_cause_of_one_outage_is_reported(
    visited: Visited, net: Net
) -> None:
    visited.server.pages[DOCUMENT] = CLOSED
    await crawl(visited)
    await serve_expired(visited, net)
    await crawl(visited)
    await net.serve(visited.server, visited.owner.host.name)
    visited.server.pages[DOCUMENT] = Page(b"", status="500 Oops")
    for _ in range(3):
        await crawl(visited)
    notices = await newest(visited, 4)
    assert [notice.code for notice in notices[1:]] == ["site_unreachable"] * 3
    assert notices[0].code != "site_unreachable"
    for notice, words in zip(notices[1:], ("403", "expired", "500"), strict=True):
        assert words in notice.detail
