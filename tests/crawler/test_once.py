"""One visit, told step by step, with nothing but the network behind it."""

import io
import json
from typing import Any

import pytest

from crawler import once
from crawler.http.fetch import Fetcher
from registry.usecases.ids import utc_now
from tests.crawler.net import HOST, HonestSite, Net, Page
from tests.db.scene import wab

ROOT = f"https://{HOST}"
DAY_S = 86400
ROBOTS = Page(b"User-agent: *\nDisallow: /agent.json\n", "text/plain")
SOFT = Page(b"<!doctype html><title>Oops</title>", "text/html")
WAB = Page(json.dumps(wab()).encode())
FAILING = Page(b"", status="500 Oops")


async def look(
    fetcher: Fetcher, *declared: str, host: str = HOST
) -> tuple[bool, list[dict[str, Any]]]:
    written = io.StringIO()
    result = await once.look(
        fetcher,
        host,
        declared=declared,
        clock=utc_now,
        test_hosts=True,
        write=written,
    )
    assert written.getvalue().isascii()
    return result, [json.loads(line) for line in written.getvalue().splitlines()]


def of(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == name]


async def test_each_address_is_reported_with_what_came_of_it(net: Net) -> None:
    elsewhere = {"Location": "https://evil.test/"}
    pages = {
        "/robots.txt": ROBOTS,
        "/agent-bridge.json": SOFT,
        "/.well-known/wab.json": WAB,
        "/.well-known/mcp.json": FAILING,
        "/.well-known/ard.json": Page(b"", status="302 Found", headers=elsewhere),
    }
    await net.serve(HonestSite(pages))
    result, events = await look(net.fetcher())
    assert result
    assert events[0] == {"event": "visit_begun", "host": HOST, "declared": []}
    assert of(events, "resolved")[0]["addresses"] == [
        {"address": "127.0.0.1", "allowed": True}
    ]
    [robots] = of(events, "robots_apply")
    assert (robots["agent"], robots["permits"]) == ("*", "some")
    refused = {
        event["url"].removeprefix(ROOT): event for event in of(events, "not_taken")
    }
    assert {
        path: (refusal["code"], refusal["status"]) for path, refusal in refused.items()
    } == {
        "/agent.json": ("robots_disallowed", 0),
        "/.well-known/mcp.json": ("status", 500),
        "/.well-known/ard.json": ("redirect_cross_site", 0),
    }
    assert all(refusal["fix"] for refusal in refused.values())
    [redirect] = of(events, "redirected")
    assert redirect["location"] == elsewhere["Location"]
    soft = {event["url"]: event["soft"] for event in of(events, "absent")}
    assert soft[f"{ROOT}/agent-bridge.json"]
    assert not soft[f"{ROOT}/.well-known/webmcp"]


async def test_what_was_understood_and_what_comes_next_is_reported(net: Net) -> None:
    await net.serve(HonestSite({"/agent-bridge.json": WAB}))
    _, events = await look(net.fetcher())
    [answer] = of(events, "answered")
    assert (answer["status"], answer["body_bytes"]) == (200, len(WAB.body))
    [recognised], [understood] = of(events, "recognised"), of(events, "understood")
    assert (recognised["format"], recognised["actions"]) == ("wab", 1)
    assert understood["named"] == ["bookTable"]
    [document] = understood["documents"]
    assert document["deviations"] == recognised["deviations"]
    [next_] = of(events, "scheduled")
    assert next_["result"] == "fetched"
    assert 0 < next_["earliest_s"] < next_["latest_s"] <= 1.1 * 7 * DAY_S


@pytest.mark.parametrize(
    ("pages", "code"),
    [
        pytest.param({}, "document_missing", id="nothing is there"),
        pytest.param({"/agent-bridge.json": FAILING}, "status", id="an outage"),
        pytest.param({"/robots.txt": FAILING}, "robots_unreachable", id="no rules"),
    ],
)
async def test_without_a_document_it_is_tried_again_soon(
    net: Net, pages: dict[str, Page], code: str
) -> None:
    await net.serve(HonestSite(pages))
    result, events = await look(net.fetcher())
    assert not result
    [next_] = of(events, "scheduled")
    assert (next_["result"], next_["code"]) == ("failed", code)
    assert 60 <= next_["earliest_s"] <= next_["latest_s"] <= 120


async def test_who_asks_for_a_pause_gets_it(net: Net) -> None:
    busy = Page(b"", status="503 Busy", headers={"Retry-After": "7200"})
    await net.serve(HonestSite({"/here.json": busy}))
    _, events = await look(net.fetcher(), f"{ROOT}/here.json")
    assert of(events, "scheduled")[0]["earliest_s"] == 7200


async def test_why_robots_could_not_be_read_is_reported(net: Net) -> None:
    await net.serve(HonestSite({"/robots.txt": FAILING}))
    _, events = await look(net.fetcher())
    assert of(events, "robots_fetched")[0]["code"] == "status"
    assert of(events, "robots_apply")[0]["permits"] == "nothing"


async def test_a_host_that_fails_is_not_asked_on(net: Net) -> None:
    busy = Page(b"", status="503 Busy")
    site = HonestSite({"/agent-bridge.json": busy, "/agent.json": busy})
    await net.serve(site)
    _, events = await look(net.fetcher())
    assert of(events, "passed_over")
    assert len(of(events, "asked")) == len(site.paths) - 1


async def test_what_is_declared_alone_is_asked_for(net: Net) -> None:
    site = HonestSite({"/here.json": WAB})
    await net.serve(site)
    result, events = await look(net.fetcher(), f"{ROOT}/here.json")
    assert result
    assert site.paths == ["/robots.txt", "/here.json"]
    assert of(events, "asked")[0]["found_by"] == "declared"


async def test_a_refused_name_shows_each_of_its_addresses(net: Net) -> None:
    server = await net.serve_addresses(["8.8.8.8", "10.0.0.1"])
    fetcher = net.fetcher(look_up=server.look_up)
    result, events = await look(fetcher, host="public.test")
    assert not result
    allowed = {
        address["address"]: address["allowed"]
        for address in of(events, "resolved")[0]["addresses"]
    }
    assert allowed == {"8.8.8.8": True, "10.0.0.1": False}


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("127.0.0.1", id="an address"),
        pytest.param("localhost", id="a name of this machine"),
        pytest.param("https://shop.test/", id="a URL"),
        pytest.param("a b\x1b[2J.io", id="no name"),
        pytest.param("", id="nothing"),
    ],
)
async def test_what_is_no_public_host_is_refused_and_not_asked(
    net: Net, host: str
) -> None:
    result, events = await look(net.fetcher(), host=host)
    assert not result
    assert [event["event"] for event in events] == ["not_taken"]
    assert events[0]["fix"]


async def test_pages_and_the_dns_lead_on(net: Net) -> None:
    html = b'<html><head><link rel="abp-manifest" href="/abp.json"></head></html>'
    pages = {"/": Page(html, "text/html"), "/dns.json": WAB}
    await net.serve(HonestSite(pages))
    record = {f"_wab.{HOST}": ["v=wab1; path=/dns.json"]}
    fetcher = net.fetcher(dns_server=await net.serve_dns(record))
    _, events = await look(fetcher)
    [link] = of(events, "linked")
    assert (link["url"], link["format"]) == (f"{ROOT}/abp.json", "abp")
    [read] = of(events, "record_read")
    assert (read["records"], read["endpoint"]) == (1, f"{ROOT}/dns.json")
    found_by = {
        event["url"].removeprefix(ROOT): event["found_by"]
        for event in of(events, "asked")
    }
    assert found_by["/dns.json"] == "dns"
    assert found_by["/abp.json"] == "linked"
