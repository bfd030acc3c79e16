import asyncio
import json
from datetime import UTC, datetime

import pytest

from crawler.discovery.search import discover
from crawler.discovery.visit import VisitLimits
from crawler.discovery.visit_result import Discovery
from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import MAX_LINK_CHARACTERS, Validators
from crawler.robots.robots_cache import RobotsCache
from crawler.tasks.convert import fetched_bodies
from registry.formats.detect import parse_page
from registry.formats.document import Parsed
from registry.formats.inspection import inspect
from registry.sites.host import parse_host
from registry.sites.hosts_file import Endpoint
from tests.crawler.net import HOST, HonestSite, Net, Page, silent

NOW = datetime(2026, 11, 20, tzinfo=UTC)
ROOT = f"https://{HOST}"
HTML = "text/html; charset=utf-8"
SOFT_404 = Page(b"<!doctype html><title>Oops</title>", HTML)
FAILING = Page(b"", status="500 Oops")


def json_page(content: object) -> Page:
    return Page(json.dumps(content).encode())


def page(head: str, **headers: str) -> Page:
    html = f"<!doctype html><html><head>{head}</head><body></body></html>"
    return Page(html.encode(), HTML, headers=headers)


def manifest(catalogue: str) -> Page:
    """Of AWAS, for MCP agents."""
    return json_page(
        {"name": "Shop", "version": "1.0.0", "endpoints": {"actions": catalogue}}
    )


WAB = json_page(
    {"wab_version": "1.0", "provider": {"name": "Shop", "category": "retail"}}
)
AWAS = json_page(
    {
        "version": "1.0",
        "name": "Shop",
        "actions": [{"id": "order", "path": "/order", "method": "POST"}],
    }
)
WEBMCP = json_page({"spec": "webmcp", "tools": [{"name": "search"}]})
ABP = json_page({"abp": "0.1", "app": {"id": "x"}, "capabilities": [{"name": "a.b"}]})
ARD = json_page({"specVersion": "1.0", "entries": [{"identifier": "x", "url": "/x"}]})
MCP_MANIFEST = "/.well-known/mcp-manifest.json"
A2A_MANIFEST = "/.well-known/a2a-manifest.json"
CATALOGUE = "/.well-known/awas.json"
AI_ACTIONS = "/.well-known/ai-actions.json"


class Zone(dict[str, list[str]]):
    """TXT records, and which names were asked for."""

    def __init__(self, *texts: str) -> None:
        super().__init__({f"_wab.{HOST}": list(texts)} if texts else {})
        self.looked_up: list[str] = []

    def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
        self.looked_up.append(name)
        return super().get(name, default)


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


def notes(discovery: Discovery) -> list[str]:
    return [note.code for note in discovery.notes]


async def look(net: Net, pages: dict[str, Page], zone: Zone | None = None) -> Discovery:
    """An undeclared visit to a site that serves these."""
    await net.serve(HonestSite(pages))
    server = await net.serve_dns(zone if zone is not None else Zone())
    return await visit(net.fetcher(dns_server=server))


async def test_the_places_that_formats_know_are_asked(net: Net) -> None:
    site = HonestSite(
        {
            "/.well-known/wab.json": WAB,
            "/.well-known/agent-card.json": Page(b'{"name":"x"}'),
            "/.well-known/webmcp": Page(WEBMCP.body, "text/plain"),
        }
    )
    await net.serve(site)
    result = await visit(net.fetcher())
    assert urls(result) == [
        "/.well-known/webmcp",
        "/.well-known/agent-card.json",
        "/.well-known/wab.json",
    ]
    assert result.failures == ()
    assert {document.fetched_at for document in result.documents} == {NOW}
    assert site.paths[0] == "/robots.txt"
    assert "/.well-known/webmcp.json" not in site.paths


async def test_a_host_without_a_document_is_asked_fifteen_times(net: Net) -> None:
    site = HonestSite()
    await net.serve(site)
    result = await visit(net.fetcher())
    assert len(site.paths) == len(set(site.paths)) == 15
    assert (result.documents, result.failures, result.notes) == ((), (), ())


async def test_nothing_is_asked_twice(net: Net) -> None:
    head = f"""<meta name="wab-discovery" content="/agent-bridge.json">
        <link rel="ai-actions" href="{AI_ACTIONS}">"""
    pages = {AI_ACTIONS: manifest(CATALOGUE), CATALOGUE: AWAS, "/": page(head)}
    site = HonestSite(pages)
    await net.serve(site)
    server = await net.serve_dns(Zone("v=wab1; path=/agent-bridge.json"))
    known = {f"{ROOT}{CATALOGUE}": Validators(), f"{ROOT}/": Validators()}
    result = await visit(net.fetcher(dns_server=server), known=known)
    assert len(site.paths) == len(set(site.paths))
    assert set(urls(result)) == set(pages)


META = page('<meta name="wab-discovery" content="/meta.json">')
RECORD = "v=wab1; path=/dns.json"
POLICY = json_page({"wab_version": "1.0", "platform": {"name": "x"}, "compliance": {}})


@pytest.mark.parametrize(
    ("pages", "read", "passed_over"),
    [
        pytest.param(
            {"/agent-bridge.json": WAB, "/.well-known/wab.json": WAB, "/": META},
            "/agent-bridge.json",
            ["/.well-known/wab.json", "/meta.json", "/dns.json", "DNS"],
            id="at its first place",
        ),
        pytest.param(
            {"/.well-known/wab.json": WAB, "/": META},
            "/.well-known/wab.json",
            ["/meta.json", "/dns.json", "DNS"],
            id="at its second place",
        ),
        pytest.param(
            {"/agent-bridge.json": SOFT_404, "/.well-known/wab.json": WAB},
            "/.well-known/wab.json",
            ["/dns.json", "DNS"],
            id="behind a soft 404",
        ),
        pytest.param(
            {
                "/agent-bridge.json": json_page({"error": "x"}),
                "/.well-known/wab.json": WAB,
            },
            "/.well-known/wab.json",
            ["/dns.json", "DNS"],
            id="behind a 404 that says 200",
        ),
        pytest.param(
            {"/agent-bridge.json": POLICY, "/.well-known/wab.json": WAB},
            "/.well-known/wab.json",
            ["/dns.json", "DNS"],
            id="behind a policy",
        ),
        pytest.param(
            {"/agent-bridge.json": FAILING, "/.well-known/wab.json": WAB},
            "/.well-known/wab.json",
            ["/dns.json", "DNS"],
            id="behind a failure",
        ),
        pytest.param(
            {"/agent.json": WAB, "/": META},
            "/agent.json",
            ["/meta.json", "/dns.json", "DNS"],
            id="at another format's place",
        ),
        pytest.param({"/": META}, "/meta.json", ["/dns.json", "DNS"], id="by the page"),
        pytest.param(
            {"/": META, "/meta.json": SOFT_404},
            "/dns.json",
            [],
            id="by the DNS, the page being wrong",
        ),
        pytest.param({}, "/dns.json", [], id="by the DNS"),
    ],
)
async def test_a_wab_document_is_looked_for_in_the_order_of_the_specification(
    net: Net, pages: dict[str, Page], read: str, passed_over: list[str]
) -> None:
    zone = Zone(RECORD)
    site = HonestSite({"/meta.json": WAB, "/dns.json": WAB, **pages})
    await net.serve(site)
    server = await net.serve_dns(zone)
    result = await visit(net.fetcher(dns_server=server))
    bodies = {document.url: document.body for document in result.documents}
    assert [url for url in bodies if bodies[url] == WAB.body] == [ROOT + read]
    assert "/" in site.paths, "for what it says of other formats"
    query = {*site.paths, *(["DNS"] if zone.looked_up else [])}
    assert query.isdisjoint(passed_over)


async def test_the_catalogue_of_ard_has_two_names(net: Net) -> None:
    both = {"/.well-known/ai-catalog.json": ARD, "/.well-known/ard.json": ARD}
    assert urls(await look(net, both)) == ["/.well-known/ai-catalog.json"]
    second = {**both, "/.well-known/ai-catalog.json": SOFT_404}
    assert urls(await look(net, second)) == ["/.well-known/ard.json"]


async def test_a_page_for_people_is_no_document(net: Net) -> None:
    soft = Page(b"<!doctype html><p>Oops", HTML)
    lying = Page(b"\n <html>", "application/json")
    site = HonestSite({"/agent.json": soft, "/agent-bridge.json": lying})
    await net.serve(site)
    result = await visit(net.fetcher())
    assert (result.documents, result.failures) == ((), ())
    assert {f"{ROOT}/agent.json", f"{ROOT}/agent-bridge.json"} <= set(result.absent)
    assert "/.well-known/wab.json" in site.paths


async def test_the_head_of_the_page_is_followed(net: Net) -> None:
    html = b"""<html><head><link rel="abp-manifest" href="/abp.json">
        <link rel="ai-actions" href="https://cdn.test/actions.json"></head></html>"""
    await net.serve(HonestSite({"/": Page(html, HTML), "/abp.json": ABP}))
    elsewhere = HonestSite({"/actions.json": AWAS})
    await net.serve(elsewhere, "cdn.test")
    result = await visit(net.fetcher())
    assert urls(result) == ["/", "/abp.json", "https://cdn.test/actions.json"]
    assert [document.found_by for document in result.documents] == [
        "page",
        "linked",
        "linked",
    ]
    assert [document.is_page for document in result.documents] == [True, False, False]
    assert elsewhere.paths[0] == "/robots.txt"


async def test_the_links_of_a_page_are_read_in_its_encoding(net: Net) -> None:
    html = "<link rel=abp-manifest href='/цветы.json'>".encode("cp1251")
    served = Page(html, "text/html; charset=windows-1251")
    site = HonestSite({"/": served})
    await net.serve(site)
    await visit(net.fetcher())
    assert "/%D1%86%D0%B2%D0%B5%D1%82%D1%8B.json" in site.paths


async def test_a_page_points_by_its_link_header_too(net: Net) -> None:
    header = '</t.json>; rel="webmcp", </a.json>; rel=ai-actions, </abp.json>; rel=next'
    pages = {
        "/": page("", Link=header, link="</abp.json>; rel=abp-manifest"),
        "/t.json": WEBMCP,
        "/a.json": AWAS,
        "/abp.json": ABP,
    }
    result = await look(net, pages)
    assert urls(result) == ["/", "/t.json", "/a.json", "/abp.json"]
    assert [document.found_by for document in result.documents] == [
        "page",
        *["linked"] * 3,
    ]


async def test_the_head_speaks_before_the_link_header(net: Net) -> None:
    header = "</h.json>; rel=abp-manifest, </t.json>; rel=webmcp-manifest"
    head = '<link rel="abp-manifest" href="/abp.json">'
    pages = {"/": page(head, Link=header), "/t.json": WEBMCP}
    pages |= {"/abp.json": ABP, "/h.json": ABP}
    assert urls(await look(net, pages)) == ["/", "/abp.json", "/t.json"]


async def test_a_page_is_followed_to_four_documents(net: Net) -> None:
    head = "".join(f'<link rel="webmcp" href="/{n}.json">' for n in range(9))
    pages = {"/": page(head), **{f"/{n}.json": WEBMCP for n in range(9)}}
    result = await look(net, pages)
    assert urls(result) == ["/", *(f"/{n}.json" for n in range(4))]


async def test_link_headers_are_kept_whole_and_within_bounds(net: Net) -> None:
    short, long = "</a>; rel=webmcp", f"</{'x' * MAX_LINK_CHARACTERS}>; rel=webmcp"
    pages = {
        "/short": Page(headers={"Link": short, "link": f"{short}, {short}"}),
        "/long": Page(headers={"Link": short, "link": long, "LINK": short}),
        "/none": Page(),
    }
    await net.serve(HonestSite(pages))
    links = {}
    for path in pages:
        fetched = await net.fetcher().fetch(
            ROOT + path, Wanted(accept=("application/json",))
        )
        assert isinstance(fetched, Fetched)
        links[path] = fetched.links
    assert links == {
        "/short": (short, f"{short}, {short}"),
        "/long": (short,),
        "/none": (),
    }


@pytest.mark.parametrize(
    ("pages", "read"),
    [
        pytest.param(
            {MCP_MANIFEST: manifest(CATALOGUE), A2A_MANIFEST: manifest(CATALOGUE)},
            [MCP_MANIFEST, CATALOGUE],
            id="by the first manifest",
        ),
        pytest.param(
            {A2A_MANIFEST: manifest(ROOT + CATALOGUE)},
            [A2A_MANIFEST, CATALOGUE],
            id="by the second, absolutely",
        ),
        pytest.param(
            {AI_ACTIONS: SOFT_404, MCP_MANIFEST: manifest(CATALOGUE)},
            [MCP_MANIFEST, CATALOGUE],
            id="behind a soft 404",
        ),
        pytest.param(
            {AI_ACTIONS: manifest(CATALOGUE), MCP_MANIFEST: manifest("/x.json")},
            [AI_ACTIONS, CATALOGUE],
            id="by the place of the actions themselves",
        ),
        pytest.param(
            {"/agent.json": manifest(CATALOGUE), MCP_MANIFEST: manifest("/x.json")},
            ["/agent.json", CATALOGUE],
            id="by a manifest at another place",
        ),
    ],
)
async def test_the_manifests_of_awas_lead_to_its_catalogue(
    net: Net, pages: dict[str, Page], read: list[str]
) -> None:
    result = await look(net, {CATALOGUE: AWAS, **pages})
    assert urls(result) == read
    assert result.documents[-1].found_by == "referenced"
    assert (result.failures, result.notes) == ((), ())


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param({AI_ACTIONS: AWAS}, id="actions at their own place"),
        pytest.param({AI_ACTIONS: FAILING}, id="perhaps actions at their own place"),
        pytest.param({"/agent.json": AWAS}, id="actions at another place"),
        pytest.param(
            {"/": page('<link rel="ai-actions" href="/my.json">'), "/my.json": AWAS},
            id="actions the page points to",
        ),
    ],
)
async def test_the_manifests_of_awas_are_asked_only_where_its_actions_are_absent(
    net: Net, pages: dict[str, Page]
) -> None:
    site = HonestSite({MCP_MANIFEST: manifest(CATALOGUE), CATALOGUE: AWAS, **pages})
    await net.serve(site)
    await visit(net.fetcher())
    assert {MCP_MANIFEST, A2A_MANIFEST, CATALOGUE}.isdisjoint(site.paths)


@pytest.mark.parametrize(
    ("catalogue", "why"),
    [
        pytest.param({}, "no such catalogue", id="absent"),
        pytest.param({CATALOGUE: SOFT_404}, "no such catalogue", id="soft 404"),
        pytest.param({CATALOGUE: WAB}, "no such catalogue", id="another format"),
        pytest.param({CATALOGUE: Page(b"{")}, "no such catalogue", id="unreadable"),
        pytest.param(
            {CATALOGUE: manifest("/further.json"), "/further.json": AWAS},
            "no such catalogue",
            id="a manifest again",
        ),
    ],
)
async def test_a_dangling_reference_is_reported_and_no_failure(
    net: Net, catalogue: dict[str, Page], why: str
) -> None:
    site = HonestSite({MCP_MANIFEST: manifest(CATALOGUE), **catalogue})
    await net.serve(site)
    result = await visit(net.fetcher())
    assert (codes(result), notes(result)) == ([], ["reference_dangling"])
    assert result.notes[0] in result.problems
    detail = result.notes[0].detail
    assert detail.startswith(f"{ROOT}{MCP_MANIFEST} points to {ROOT}{CATALOGUE}, ")
    assert why in detail
    assert A2A_MANIFEST in site.paths, "it may lead to another"
    assert "/further.json" not in site.paths, "one hop"


async def test_a_catalogue_on_another_site_is_not_read(net: Net) -> None:
    elsewhere = HonestSite({"/awas.json": AWAS})
    await net.serve(elsewhere, "elsewhere.test")
    result = await look(
        net, {MCP_MANIFEST: manifest("https://elsewhere.test/awas.json")}
    )
    assert notes(result) == ["reference_dangling"]
    assert "another site" in result.notes[0].detail
    assert elsewhere.requests == []


async def test_a_catalogue_on_another_host_of_the_site_is_read(net: Net) -> None:
    await net.serve(HonestSite({"/awas.json": AWAS}), f"api.{HOST}")
    url = f"https://api.{HOST}/awas.json"
    result = await look(net, {MCP_MANIFEST: manifest(url)})
    assert [document.url for document in result.documents] == [
        f"{ROOT}{MCP_MANIFEST}",
        url,
    ]
    assert notes(result) == []


async def test_two_manifests_may_dangle_alike(net: Net) -> None:
    pages = {MCP_MANIFEST: manifest(CATALOGUE), A2A_MANIFEST: manifest(CATALOGUE)}
    site = HonestSite(pages)
    await net.serve(site)
    result = await visit(net.fetcher())
    assert [note.detail.split()[0] for note in result.notes] == [
        ROOT + MCP_MANIFEST,
        ROOT + A2A_MANIFEST,
    ]
    assert site.paths.count(CATALOGUE) == 1


async def test_a_manifest_that_points_to_itself_goes_nowhere(net: Net) -> None:
    pages = {MCP_MANIFEST: manifest(A2A_MANIFEST), A2A_MANIFEST: manifest(A2A_MANIFEST)}
    result = await look(net, pages)
    assert urls(result) == [MCP_MANIFEST, A2A_MANIFEST]
    assert notes(result) == ["reference_dangling"] * 2


async def test_a_catalogue_that_can_not_be_had_now_does_not_dangle(net: Net) -> None:
    pages = {MCP_MANIFEST: manifest(CATALOGUE), CATALOGUE: FAILING}
    result = await look(net, pages)
    assert (codes(result), notes(result)) == (["status"], [])
    assert result.failures[0].found_by == "referenced"


async def test_what_declared_documents_point_to_is_read_with_them(net: Net) -> None:
    pages = {
        MCP_MANIFEST: manifest(CATALOGUE),
        CATALOGUE: AWAS,
        "/tools": page('<link rel="abp-manifest" href="/abp.json">'),
        "/abp.json": ABP,
        "/manifest": manifest("/gone.json"),
        "/agent.json": WAB,
    }
    await net.serve(HonestSite(pages))
    declared = (
        f"{ROOT}{MCP_MANIFEST}",
        f"{ROOT}/tools",
        f"{ROOT}/manifest",
        f"{ROOT}{CATALOGUE}",
    )
    result = await visit(net.fetcher(), declared=declared)
    assert set(urls(result)) == set(pages) - {"/agent.json"}
    assert [note.detail.split()[0] for note in result.notes] == [f"{ROOT}/manifest"]


async def test_what_an_unchanged_declared_page_pointed_to_is_asked_again(
    net: Net,
) -> None:
    head = '<link rel="abp-manifest" href="/abp.json">'
    pages = {"/tools": page(head, ETag='"1"'), "/abp.json": ABP}
    await net.serve(HonestSite(pages))
    known = {
        f"{ROOT}/tools": Validators(etag='"1"'),
        f"{ROOT}/abp.json": Validators(etag='"old"'),
    }
    result = await visit(net.fetcher(), declared=(f"{ROOT}/tools",), known=known)
    assert result.unchanged == (f"{ROOT}/tools",)
    assert urls(result) == ["/abp.json"]


async def test_a_declared_document_is_fetched_and_nothing_else(net: Net) -> None:
    pages = {"/my.json": Page(b'{"a":1}'), "/agent.json": Page()}
    site = HonestSite(pages)
    await net.serve(site)
    declared = (f"{ROOT}/my.json", f"{ROOT}/gone.json", "http://shop.test/")
    result = await visit(net.fetcher(), declared=declared)
    assert urls(result) == ["/my.json"]
    assert sorted(codes(result)) == ["scheme", "status"]
    assert sorted(site.paths) == ["/gone.json", "/my.json", "/robots.txt"]


async def test_a_declared_page_counts_as_a_document(net: Net) -> None:
    await net.serve(HonestSite({"/tools": Page(b"<html>", HTML)}))
    result = await visit(net.fetcher(), declared=(f"{ROOT}/tools",))
    assert urls(result) == ["/tools"]


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
    pages = {"/agent-bridge.json": WAB, "/.well-known/wab.json": WAB}
    await net.serve(HonestSite(pages))
    known = {
        f"{ROOT}/.well-known/wab.json": Validators(),
        f"{ROOT}/old.json": Validators(),
    }
    result = await visit(net.fetcher(), known=known)
    assert urls(result) == ["/agent-bridge.json", "/.well-known/wab.json"]
    assert f"{ROOT}/old.json" in result.absent


async def test_a_long_page_is_read_as_lint_reads_it_but_a_long_document_is_refused(
    net: Net,
) -> None:
    page = b"<form toolname=a tooldescription=b></form>" + b" " * 600_000
    pages = {"/page": Page(page, HTML), "/doc": Page(b"{}" + b" " * 300_000)}
    await net.serve(HonestSite(pages))
    declared = (f"{ROOT}/page", f"{ROOT}/doc")
    result = await visit(net.fetcher(), declared=declared)
    (document,) = result.documents
    assert codes(result) == ["body_wire"]
    read = parse_page(document.body, url=document.url)
    assert isinstance(read, Parsed)
    assert [deviation.rule for deviation in read.document.deviations] == ["limit"]
    assert inspect(page, url=document.url).result == read


async def test_robots_txt_is_honoured_and_shown(net: Net) -> None:
    rules = b"User-agent: FairRegistryBot\nDisallow: /private"
    pages = {"/robots.txt": Page(rules, "text/plain"), "/private/a.json": Page()}
    site = HonestSite(pages)
    await net.serve(site)
    result = await visit(net.fetcher(), declared=(f"{ROOT}/private/a.json",))
    assert codes(result) == ["robots_disallowed"]
    assert site.paths == ["/robots.txt"]


async def test_robots_txt_is_honoured_where_a_redirect_leads(net: Net) -> None:
    moved = Page(b"", status="302 Found", headers={"Location": "/private/a.json"})
    rules = Page(b"User-agent: *\nDisallow: /private", "text/plain")
    site = HonestSite({"/robots.txt": rules, "/a.json": moved})
    await net.serve(site)
    result = await visit(net.fetcher(), declared=(f"{ROOT}/a.json",))
    assert codes(result) == ["robots_disallowed"]
    assert "/private/a.json" not in site.paths


async def test_without_robots_txt_of_a_failing_server_nothing_is_fetched(
    net: Net,
) -> None:
    site = HonestSite({"/robots.txt": Page(status="500 Oops"), "/agent.json": Page()})
    await net.serve(site)
    result = await visit(net.fetcher())
    assert codes(result) == ["robots_unreachable"]
    assert result.is_outage
    assert site.paths == ["/robots.txt"]


async def test_a_host_that_asks_us_to_leave_is_left(net: Net) -> None:
    busy = Page(b"", status="429 Slow down", headers={"Retry-After": "300"})
    site = HonestSite({"/agent-bridge.json": busy, "/agent.json": busy})
    await net.serve(site)
    result = await visit(net.fetcher())
    assert len(site.paths) <= 5
    assert {failure.retry_after for failure in result.failures} == {"300"}


async def test_a_host_gets_at_most_four_requests_at_once(net: Net) -> None:
    slow = Page(b"", status="404 Not Found", delay_s=0.02)
    site = HonestSite({f"/{n}.json": slow for n in range(12)})
    await net.serve(site)
    await visit(net.fetcher(), declared=tuple(f"{ROOT}/{n}.json" for n in range(12)))
    assert site.most_at_once == 4


async def test_a_visit_has_a_budget_of_requests(net: Net) -> None:
    site = HonestSite()
    await net.serve(site)
    result = await visit(
        net.fetcher(), declared=tuple(f"{ROOT}/{n}.json" for n in range(30))
    )
    assert len(site.paths) == VisitLimits().requests == 24
    assert codes(result).count("budget") == 7


async def test_the_budget_is_enough_for_a_site_that_uses_every_place(net: Net) -> None:
    """And does every one of them wrong, so that each alternative is tried."""
    head = """<meta name="wab-discovery" content="/w.json">
        <link rel="ai-actions" href="/a.json"><link rel="webmcp" href="/t.json">
        <link rel="abp-manifest" href="/abp.json">"""
    manifests = {MCP_MANIFEST: manifest("/1.json"), A2A_MANIFEST: manifest("/2.json")}
    site = HonestSite({"/": page(head), **manifests})
    await net.serve(site)
    server = await net.serve_dns(Zone("v=wab1; path=/dns.json"))
    result = await visit(net.fetcher(dns_server=server))
    assert {"/w.json", "/abp.json", "/1.json", "/2.json", "/dns.json"} < set(site.paths)
    assert (codes(result), len(site.paths)) == ([], 22)


async def test_a_visit_that_takes_too_long_keeps_what_it_found(net: Net) -> None:
    slow = Page(delay_s=5)
    await net.serve(HonestSite({"/a.json": Page(b'{"a":1}'), "/b.json": slow}))
    result = await visit(
        net.fetcher(),
        declared=(f"{ROOT}/a.json", f"{ROOT}/b.json"),
        limits=VisitLimits(deadline_s=0.3),
    )
    assert urls(result) == ["/a.json"]
    assert codes(result) == ["deadline"]


async def test_a_silent_host_costs_one_timeout(net: Net) -> None:
    await net.serve(silent)
    async with asyncio.timeout(1):
        result = await visit(net.fetcher(step_timeout_s=0.1))
    assert codes(result) == ["timeout"]


async def test_the_wab_record_in_the_dns_is_followed(net: Net) -> None:
    for record in (f"v=wab1; endpoint={ROOT}/bridge", "v=wab1; path=/bridge"):
        result = await look(net, {"/bridge": WAB}, Zone(record))
        assert urls(result) == ["/bridge"]
        assert [document.found_by for document in result.documents] == ["dns"]
        assert result.notes == ()


PAUSED = "v=wab1; path=/paused.json; status=paused"
DEPRECATED = "v=wab1; path=/deprecated.json; status=deprecated"
ACTIVE = "v=wab1; path=/active.json; status=active"


@pytest.mark.parametrize(
    ("records", "read", "told_of"),
    [
        pytest.param([PAUSED], [], ["wab_record_paused"], id="paused"),
        pytest.param(
            [DEPRECATED],
            ["/deprecated.json"],
            ["wab_record_deprecated"],
            id="deprecated",
        ),
        pytest.param(
            [PAUSED, DEPRECATED],
            ["/deprecated.json"],
            ["wab_record_deprecated"],
            id="paused and deprecated",
        ),
        pytest.param(
            [PAUSED, DEPRECATED, ACTIVE], ["/active.json"], [], id="one active"
        ),
        pytest.param(
            [ACTIVE, PAUSED.replace("wab1", "wab2")],
            [],
            ["wab_record_paused"],
            id="paused in the higher version",
        ),
    ],
)
async def test_the_status_of_the_wab_record_is_heeded_and_reported(
    net: Net, records: list[str], read: list[str], told_of: list[str]
) -> None:
    pages = dict.fromkeys(["/paused.json", "/deprecated.json", "/active.json"], WAB)
    result = await look(net, pages, Zone(*records))
    assert (urls(result), notes(result)) == (read, told_of)
    assert not result.is_outage
    for note in result.notes:
        assert note.detail.startswith(f"dns:_wab.{HOST}?type=TXT says status=")


async def test_a_record_that_leads_to_a_dead_host_does_not_end_the_visit(
    net: Net,
) -> None:
    net.hosts["dead.test"] = Endpoint("127.0.0.1", 1)
    site = HonestSite({"/kept.json": WAB})
    await net.serve(site)
    server = await net.serve_dns(Zone("v=wab1; endpoint=https://dead.test/x.json"))
    known = {f"{ROOT}/kept.json": Validators()}
    result = await visit(net.fetcher(dns_server=server), known=known)
    assert codes(result) == ["connect"]
    assert urls(result) == ["/kept.json"]


async def test_each_problem_names_its_address(net: Net) -> None:
    pages = {"/a.json": FAILING, "/b.json": Page(content_type="image/png")}
    await net.serve(HonestSite(pages))
    declared = tuple(ROOT + path for path in pages)
    result = await visit(net.fetcher(), declared=declared)
    assert fetched_bodies(result) == []
    assert sorted(problem.detail for problem in result.problems) == [
        f"{ROOT}/a.json: the server answered 500",
        f"{ROOT}/b.json: it is image/png",
    ]


async def test_the_record_of_the_apex_does_not_speak_for_a_subdomain(net: Net) -> None:
    site = HonestSite({"/bridge": Page()})
    await net.serve(site, HOST, f"api.{HOST}")
    record = f"v=wab1; endpoint={ROOT}/bridge"
    server = await net.serve_dns({f"_wab.{HOST}": [record]})
    result = await visit(net.fetcher(dns_server=server), host=f"api.{HOST}")
    assert result.documents == ()
    assert "/bridge" not in site.paths


async def test_a_misspelt_wab_record_is_reported(net: Net) -> None:
    await net.serve(HonestSite())
    server = await net.serve_dns({f"_wab.{HOST}": ["v=wab1; manifest=/x"]})
    result = await visit(net.fetcher(dns_server=server))
    assert [failure.found_by for failure in result.failures] == ["dns"]


async def test_a_host_that_is_down_is_an_outage(net: Net) -> None:
    net.hosts[HOST] = Endpoint("127.0.0.1", 1)
    result = await visit(net.fetcher())
    assert result.is_outage
