import asyncio
from datetime import UTC, datetime

from crawler.discover import Discovery, VisitLimits, discover
from crawler.fetch import Fetcher, Validators
from crawler.resolve import Endpoint
from crawler.robots_cache import RobotsCache
from registry.sites.host import parse_host
from tests.crawler.net import HOST, HonestSite, Net, Page, silent

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ROOT = f"https://{HOST}"
HTML = "text/html; charset=utf-8"


async def visit(
    fetcher: Fetcher,
    *,
    host: str = HOST,
    declared: tuple[str, ...] = (),
    known: dict[str, Validators] | None = None,
    limits: VisitLimits | None = None,
) -> Discovery:
    return await discover(
        fetcher,
        RobotsCache(fetcher),
        parse_host(host, test_hosts=True),
        clock=lambda: NOW,
        declared=declared,
        known=known,
        limits=limits,
    )


def urls(discovery: Discovery) -> list[str]:
    return [document.url.removeprefix(ROOT) for document in discovery.documents]


def codes(discovery: Discovery) -> list[str]:
    return [failure.problem.code for failure in discovery.failures]


async def test_the_places_that_formats_know_are_asked(net: Net) -> None:
    site = HonestSite(
        {
            "/.well-known/wab.json": Page(b'{"wab_version":"1.0"}'),
            "/.well-known/agent-card.json": Page(b'{"name":"x"}'),
            "/.well-known/webmcp": Page(b'{"tools":[]}', "text/plain"),
        }
    )
    await net.serve(site)
    found = await visit(net.fetcher())
    assert urls(found) == [
        "/.well-known/webmcp",
        "/.well-known/agent-card.json",
        "/.well-known/wab.json",
    ]
    assert found.failures == ()
    assert {document.fetched_at for document in found.documents} == {NOW}
    assert site.paths[0] == "/robots.txt"
    assert "/.well-known/webmcp.json" not in site.paths
    assert len(site.paths) <= 16


async def test_a_page_for_people_is_no_document(net: Net) -> None:
    soft = Page(b"<!doctype html><p>Oops", HTML)
    lying = Page(b"\n <html>", "application/json")
    site = HonestSite({"/agent.json": soft, "/agent-bridge.json": lying})
    await net.serve(site)
    found = await visit(net.fetcher())
    assert (found.documents, found.failures) == ((), ())
    assert {f"{ROOT}/agent.json", f"{ROOT}/agent-bridge.json"} <= set(found.absent)
    assert "/.well-known/wab.json" in site.paths


async def test_the_head_of_the_page_is_followed(net: Net) -> None:
    page = b"""<html><head><link rel="abp-manifest" href="/abp.json">
        <link rel="ai-actions" href="https://cdn.test/actions.json"></head></html>"""
    manifest = Page(b'{"abp":"0.1"}')
    await net.serve(HonestSite({"/": Page(page, HTML), "/abp.json": manifest}))
    elsewhere = HonestSite({"/actions.json": Page(b'{"actions":[]}')})
    await net.serve(elsewhere, "cdn.test")
    found = await visit(net.fetcher())
    assert urls(found) == ["/", "/abp.json", "https://cdn.test/actions.json"]
    assert [one.found_by for one in found.documents] == ["page", "linked", "linked"]
    assert [one.is_page for one in found.documents] == [True, False, False]
    assert elsewhere.paths[0] == "/robots.txt"


async def test_a_declared_document_is_fetched_and_nothing_else(net: Net) -> None:
    pages = {"/my.json": Page(b'{"a":1}'), "/agent.json": Page()}
    site = HonestSite(pages)
    await net.serve(site)
    declared = (f"{ROOT}/my.json", f"{ROOT}/gone.json", "http://shop.test/")
    found = await visit(net.fetcher(), declared=declared)
    assert urls(found) == ["/my.json"]
    assert sorted(codes(found)) == ["scheme", "status"]
    assert sorted(site.paths) == ["/gone.json", "/my.json", "/robots.txt"]


async def test_a_declared_page_counts_as_a_document(net: Net) -> None:
    await net.serve(HonestSite({"/tools": Page(b"<html>", HTML)}))
    found = await visit(net.fetcher(), declared=(f"{ROOT}/tools",))
    assert urls(found) == ["/tools"]


async def test_what_did_not_change_is_told_apart(net: Net) -> None:
    tagged = Page(b'{"a":1}', headers={"ETag": '"v1"'})
    await net.serve(HonestSite({"/my.json": tagged}))
    url = f"{ROOT}/my.json"
    first = await visit(net.fetcher(), declared=(url,))
    known = {url: first.documents[0].validators}
    again = await visit(net.fetcher(), declared=(url,), known=known)
    assert (again.documents, again.unchanged) == ((), (url,))
    assert not again.is_outage


async def test_what_is_stored_is_asked_again_though_nothing_points_to_it(
    net: Net,
) -> None:
    pages = {"/agent-bridge.json": Page(), "/.well-known/wab.json": Page()}
    await net.serve(HonestSite(pages))
    known = {
        f"{ROOT}/.well-known/wab.json": Validators(),
        f"{ROOT}/old.json": Validators(),
    }
    found = await visit(net.fetcher(), known=known)
    assert urls(found) == ["/agent-bridge.json", "/.well-known/wab.json"]
    assert f"{ROOT}/old.json" in found.absent


async def test_a_long_page_is_cut_off_but_a_long_document_is_refused(net: Net) -> None:
    filler = b" " * 300_000
    pages = {"/page": Page(b"<html>" + filler, HTML), "/doc": Page(b"{}" + filler)}
    await net.serve(HonestSite(pages))
    declared = (f"{ROOT}/page", f"{ROOT}/doc")
    found = await visit(net.fetcher(), declared=declared)
    assert urls(found) == ["/page"]
    assert codes(found) == ["body_wire"]


async def test_robots_txt_is_honoured_and_shown(net: Net) -> None:
    rules = b"User-agent: FairRegistryBot\nDisallow: /private"
    pages = {"/robots.txt": Page(rules, "text/plain"), "/private/a.json": Page()}
    site = HonestSite(pages)
    await net.serve(site)
    found = await visit(net.fetcher(), declared=(f"{ROOT}/private/a.json",))
    assert codes(found) == ["robots_disallowed"]
    assert site.paths == ["/robots.txt"]


async def test_robots_txt_is_honoured_where_a_redirect_leads(net: Net) -> None:
    moved = Page(b"", status="302 Found", headers={"Location": "/private/a.json"})
    rules = Page(b"User-agent: *\nDisallow: /private", "text/plain")
    site = HonestSite({"/robots.txt": rules, "/a.json": moved})
    await net.serve(site)
    found = await visit(net.fetcher(), declared=(f"{ROOT}/a.json",))
    assert codes(found) == ["robots_disallowed"]
    assert "/private/a.json" not in site.paths


async def test_without_robots_txt_of_a_failing_server_nothing_is_fetched(
    net: Net,
) -> None:
    site = HonestSite({"/robots.txt": Page(status="500 Oops"), "/agent.json": Page()})
    await net.serve(site)
    found = await visit(net.fetcher())
    assert codes(found) == ["robots_unreachable"]
    assert found.is_outage
    assert site.paths == ["/robots.txt"]


async def test_a_host_that_asks_us_to_leave_is_left(net: Net) -> None:
    busy = Page(b"", status="429 Slow down", headers={"Retry-After": "300"})
    site = HonestSite({"/agent-bridge.json": busy, "/agent.json": busy})
    await net.serve(site)
    found = await visit(net.fetcher())
    assert len(site.paths) <= 5
    assert {failure.retry_after for failure in found.failures} == {"300"}


async def test_a_host_gets_at_most_four_requests_at_once(net: Net) -> None:
    slow = Page(b"", status="404 Not Found", delay_s=0.02)
    site = HonestSite({f"/{n}.json": slow for n in range(12)})
    await net.serve(site)
    await visit(net.fetcher(), declared=tuple(f"{ROOT}/{n}.json" for n in range(12)))
    assert site.most_at_once == 4


async def test_a_visit_has_a_budget_of_requests(net: Net) -> None:
    site = HonestSite()
    await net.serve(site)
    found = await visit(
        net.fetcher(), declared=tuple(f"{ROOT}/{n}.json" for n in range(30))
    )
    assert len(site.paths) == 16
    assert codes(found).count("budget") == 15


async def test_a_visit_that_takes_too_long_keeps_what_it_found(net: Net) -> None:
    slow = Page(delay_s=5)
    await net.serve(HonestSite({"/a.json": Page(b'{"a":1}'), "/b.json": slow}))
    found = await visit(
        net.fetcher(),
        declared=(f"{ROOT}/a.json", f"{ROOT}/b.json"),
        limits=VisitLimits(deadline_s=0.3),
    )
    assert urls(found) == ["/a.json"]
    assert codes(found) == ["deadline"]


async def test_a_silent_host_costs_one_timeout(net: Net) -> None:
    await net.serve(silent)
    async with asyncio.timeout(1):
        found = await visit(net.fetcher(step_timeout_s=0.1))
    assert codes(found) == ["robots_unreachable"]


async def test_the_wab_record_in_the_dns_is_followed(net: Net) -> None:
    await net.serve(HonestSite({"/bridge": Page(b'{"wab_version":"1.0"}')}))
    record = f"v=wab1; endpoint={ROOT}/bridge"
    server = await net.serve_dns({f"_wab.{HOST}": [record]})
    found = await visit(net.fetcher(dns_server=server))
    assert urls(found) == ["/bridge"]
    assert [one.found_by for one in found.documents] == ["dns"]


async def test_the_record_of_the_apex_does_not_speak_for_a_subdomain(net: Net) -> None:
    site = HonestSite({"/bridge": Page()})
    await net.serve(site, HOST, f"api.{HOST}")
    record = f"v=wab1; endpoint={ROOT}/bridge"
    server = await net.serve_dns({f"_wab.{HOST}": [record]})
    found = await visit(net.fetcher(dns_server=server), host=f"api.{HOST}")
    assert found.documents == ()
    assert "/bridge" not in site.paths


async def test_a_misspelt_wab_record_is_told(net: Net) -> None:
    await net.serve(HonestSite())
    server = await net.serve_dns({f"_wab.{HOST}": ["v=wab1; manifest=/x"]})
    found = await visit(net.fetcher(dns_server=server))
    assert [failure.found_by for failure in found.failures] == ["dns"]


async def test_a_host_that_is_down_is_an_outage(net: Net) -> None:
    net.hosts[HOST] = Endpoint("127.0.0.1", 1)
    found = await visit(net.fetcher())
    assert found.is_outage
