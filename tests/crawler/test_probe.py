import asyncio
import json
from itertools import pairwise

import pytest

from crawler.http.head import Validators
from crawler.probes import bridge
from crawler.probes.http_probe import check_bridge, probe
from crawler.probes.outcome import Outcome
from crawler.probes.targets import document_at, ping_of
from crawler.restraint.breakers import RULES, BreakerRule
from crawler.restraint.politeness import LIMITS, Politeness, PolitenessConfig
from crawler.robots.robots_cache import RobotsCache
from registry.sites.hosts_file import Endpoint
from tests.crawler.net import HOST, HonestSite, Net, Page, raw, silent
from tests.unit.crawler.test_bridge import RESULTS, response

BASE_URL = f"https://{HOST}/api/wab"
DOCUMENT_URL = f"https://{HOST}/agent.json"
FORBIDDING = Page(b"User-agent: *\nDisallow: /", "text/plain")
PONG = Page(b'{"status":"ok"}')
WAB = json.dumps(RESULTS["discover"]).encode()
AWP = b'{"awp_version":"0.2","domain":"shop.test","intent":"orders","actions":[]}'
TOOLS = b'<form toolname="order" tooldescription="Order"><input name="dish"></form>'


@pytest.mark.parametrize(
    ("page", "outcome", "code"),
    [
        (PONG, "alive", ""),
        (Page(response(RESULTS["ping"])), "alive", ""),
        (Page(b'{"status":"degraded"}'), "mismatch", "bridge_answer"),
        (Page(b"{}"), "mismatch", "bridge_answer"),
        (Page(b"pong"), "mismatch", "bridge_answer"),
        (Page(status="401 Who"), "auth_wall", "status"),
        (Page(status="403 No"), "auth_wall", "status"),
        (Page(status="429 Slow down"), "auth_wall", "status"),
        (Page(status="404 Not Found"), "wrong_protocol", "status"),
        (Page(b"<p>", "text/html"), "wrong_protocol", "content_type"),
        (Page(status="502 Oops"), "unreachable", "status"),
    ],
)
async def test_a_probe_tells_how_a_bridge_is(
    net: Net, page: Page, outcome: Outcome, code: str
) -> None:
    site = HonestSite({"/api/wab/ping": page})
    await net.serve(site)
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert (result.outcome, result.code) == (outcome, code)
    assert site.requests[-1].headers["x-wab-version"] == "1.0"


@pytest.mark.parametrize(
    ("stored", "served", "outcome"),
    [
        (WAB, Page(WAB), "alive"),
        (WAB, Page(WAB.replace(b"Shop", b"Cafe")), "alive"),
        (WAB, Page(WAB, "text/plain"), "alive"),
        (WAB, Page(AWP), "mismatch"),
        (WAB, Page(b'{"hello":"world"}'), "mismatch"),
        (WAB, Page(WAB[:-1]), "mismatch"),
        (WAB, Page(b"<p>", "text/html"), "wrong_protocol"),
        (TOOLS, Page(TOOLS, "text/html"), "alive"),
        (TOOLS, Page(b"<!-- new -->" + TOOLS, "text/html"), "alive"),
        (TOOLS, Page(TOOLS + b" " * 600_000, "text/html"), "alive"),
        (TOOLS, Page(b"<p>we are closed", "text/html"), "mismatch"),
        (TOOLS, Page(WAB), "wrong_protocol"),
    ],
)
async def test_a_probe_tells_whether_the_document_still_stands(
    net: Net, stored: bytes, served: Page, outcome: Outcome
) -> None:
    await net.serve(HonestSite({"/agent.json": served}))
    fetcher = net.fetcher()
    is_page = stored == TOOLS
    target = document_at(
        DOCUMENT_URL,
        promised="webmcp" if is_page else "wab",
        content_type="text/html; charset=utf-8" if is_page else "application/json",
        body=stored,
        stored=Validators(),
    )
    assert (await probe(fetcher, RobotsCache(fetcher), target)).outcome == outcome


async def test_a_document_that_did_not_change_is_alive(net: Net) -> None:
    site = HonestSite({"/agent.json": Page(headers={"ETag": '"v1"'})})
    await net.serve(site)
    fetcher = net.fetcher()
    target = document_at(
        DOCUMENT_URL,
        promised="wab",
        content_type="application/json",
        body=WAB,
        stored=Validators(etag='"v1"'),
    )
    assert (await probe(fetcher, RobotsCache(fetcher), target)).outcome == "alive"
    assert site.requests[-1].headers["if-none-match"] == '"v1"'


async def test_what_robots_txt_forbids_is_not_asked(net: Net) -> None:
    site = HonestSite({"/robots.txt": FORBIDDING, "/api/wab/ping": PONG})
    await net.serve(site)
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert (result.outcome, result.code) == ("blocked_by_robots", "robots_disallowed")
    assert result.elapsed_ms == 0
    assert site.paths == ["/robots.txt"]


async def test_the_time_of_robots_txt_does_not_count(net: Net) -> None:
    slow_rules = Page(b"", "text/plain", delay_s=2.0)
    await net.serve(HonestSite({"/robots.txt": slow_rules, "/api/wab/ping": PONG}))
    fetcher = net.fetcher(step_timeout_s=5, deadline_s=9)
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert result.outcome == "alive"
    assert result.elapsed_ms < 2_000


async def test_a_host_that_is_down_is_unreachable(net: Net) -> None:
    net.hosts[HOST] = Endpoint("127.0.0.1", 1)
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert (result.outcome, result.code) == ("unreachable", "connect")


async def test_a_host_that_went_down_since_is_unreachable(net: Net) -> None:
    await net.serve(HonestSite({"/api/wab/ping": PONG}))
    fetcher = net.fetcher()
    robots = RobotsCache(fetcher)
    assert (await probe(fetcher, robots, ping_of(BASE_URL))).outcome == "alive"
    net.hosts[HOST] = Endpoint("127.0.0.1", 1)
    result = await probe(fetcher, robots, ping_of(BASE_URL))
    assert (result.outcome, result.code) == ("unreachable", "connect")


async def test_what_we_did_not_ask_is_never_checked(net: Net) -> None:
    rule = BreakerRule(opens_at=1, min_open_s=60, max_open_s=60)
    config = PolitenessConfig(limits=LIMITS, rules=dict.fromkeys(RULES, rule))
    net.hosts[HOST] = Endpoint("127.0.0.1", 1)
    fetcher = net.fetcher(politeness=Politeness(config))
    for outcome in ("unreachable", "never_checked"):
        result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
        assert result.outcome == outcome
    assert (result.code, result.elapsed_ms) == ("breaker_open", 0)


async def test_a_bridge_that_answers_to_the_letter_conforms(net: Net) -> None:
    site = HonestSite(
        {f"/api/wab/{name}": Page(response(RESULTS[name])) for name in bridge.METHODS}
    )
    await net.serve(site)
    fetcher = net.fetcher()
    result = await check_bridge(fetcher, RobotsCache(fetcher), BASE_URL)
    assert {name: item.outcome for name, item in result.items()} == dict.fromkeys(
        bridge.METHODS, "alive"
    )
    assert site.paths == [
        "/robots.txt",
        *(f"/api/wab/{name}" for name in ("ping", "discover", "actions", "context")),
    ]
    assert all(
        request.headers["x-wab-version"] == "1.0" for request in site.requests[1:]
    )


async def test_a_bridge_that_conforms_in_part_is_reported_in_what(net: Net) -> None:
    await net.serve(
        HonestSite(
            {
                "/api/wab/ping": PONG,
                "/api/wab/actions": Page(response(RESULTS["actions"])),
                "/api/wab/context": Page(status="401 Who"),
            }
        )
    )
    fetcher = net.fetcher()
    result = await check_bridge(fetcher, RobotsCache(fetcher), BASE_URL)
    assert {name: item.outcome for name, item in result.items()} == {
        "ping": "mismatch",
        "discover": "wrong_protocol",
        "actions": "alive",
        "context": "auth_wall",
    }
    assert result["ping"].detail == f"{BASE_URL}/ping: /id: id is missing"


# robots.txt


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


async def test_robots_txt_is_read_once_in_half_a_day(net: Net) -> None:
    site = HonestSite()
    await net.serve(site)
    clock = Clock()
    robots = RobotsCache(net.fetcher(), clock)
    await robots.robots_of(HOST)
    await robots.robots_of(HOST)
    assert site.paths == ["/robots.txt"]
    clock.now_s += 13 * 3600
    await robots.robots_of(HOST)
    assert site.paths == ["/robots.txt"] * 2


@pytest.mark.parametrize("failed_after_h", [13, 23])
async def test_a_copy_serves_while_robots_txt_fails_but_no_longer_than_a_day(
    net: Net, failed_after_h: int
) -> None:
    site = HonestSite()
    await net.serve(site)
    clock = Clock()
    robots = RobotsCache(net.fetcher(), clock)
    await robots.robots_of(HOST)
    site.pages["/robots.txt"] = Page(status="503 Busy")
    clock.now_s += failed_after_h * 3600
    assert (await robots.robots_of(HOST)).rules is not None
    clock.now_s = 1000 + 24 * 3600
    assert (await robots.robots_of(HOST)).rules is None
    site.pages.clear()
    clock.now_s += 600
    assert (await robots.robots_of(HOST)).rules is not None


@pytest.mark.parametrize(
    ("status", "allowed"),
    [
        *(("404 Not Found", True), ("403 Forbidden", True), ("410 Gone", True)),
        *(("500 Oops", False), ("503 Busy", False), ("429 Slow down", False)),
    ],
)
async def test_absent_rules_allow_and_failing_ones_forbid(
    net: Net, status: str, allowed: bool
) -> None:
    await net.serve(HonestSite({"/robots.txt": Page(status=status)}))
    assert ((await RobotsCache(net.fetcher()).robots_of(HOST)).rules == ()) is allowed


async def test_rules_of_a_network_that_fails_forbid(net: Net) -> None:
    for handler in (silent, raw(b"")):
        await net.serve(handler)
        robots = RobotsCache(net.fetcher(step_timeout_s=0.2))
        assert (await robots.robots_of(HOST)).rules is None


@pytest.mark.parametrize(("hops", "followed"), [(5, True), (6, False)])
async def test_five_redirects_of_robots_txt_are_followed(
    net: Net, hops: int, followed: bool
) -> None:
    places = ["/robots.txt", *(f"/{n}" for n in range(1, hops + 1))]
    pages = {
        place: Page(b"", status="301 Moved", headers={"Location": to})
        for place, to in pairwise(places)
    }
    site = HonestSite({**pages, places[-1]: FORBIDDING})
    await net.serve(site)
    robots = await RobotsCache(net.fetcher()).robots_of(HOST)
    assert robots.rules == (("-/",) if followed else None)


@pytest.mark.parametrize(
    ("location", "rules"),
    [
        ("https://chain.test/robots.txt", ("-/",)),
        ("https://chain.test/orders?cancel=all", None),
    ],
)
async def test_robots_txt_may_lead_to_the_robots_txt_of_another_site(
    net: Net, location: str, rules: tuple[str, ...] | None
) -> None:
    moved = Page(b"", status="301 Moved", headers={"Location": location})
    await net.serve(HonestSite({"/robots.txt": moved}))
    other = HonestSite({"/robots.txt": FORBIDDING, "/orders?cancel=all": FORBIDDING})
    await net.serve(other, "chain.test")
    assert (await RobotsCache(net.fetcher()).robots_of(HOST)).rules == rules
    assert other.paths == (["/robots.txt"] if rules else [])


async def test_a_robots_txt_without_end_is_cut_off(net: Net) -> None:
    rules = b"User-agent: *\nDisallow: /api\n" + b"# padding\n" * 100_000
    site = HonestSite({"/robots.txt": Page(rules, "text/plain")})
    await net.serve(site)
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert result.outcome == "blocked_by_robots"


async def test_a_rule_that_the_limit_cuts_in_two_is_no_rule(net: Net) -> None:
    start, rule = b"User-agent: *\n", b"Disallow: /api/elsewhere\n"
    filler = b"#" * (500 * 1024 - len(start) - len(b"\nDisallow: /api")) + b"\n"
    pages = {
        "/robots.txt": Page(start + filler + rule, "text/plain"),
        "/api/wab/ping": PONG,
    }
    await net.serve(HonestSite(pages))
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert result.outcome == "alive"


async def test_visits_of_one_host_share_one_reading_of_robots_txt(net: Net) -> None:
    site = HonestSite({"/robots.txt": Page(b"", "text/plain", delay_s=0.05)})
    await net.serve(site)
    fetcher = net.fetcher()
    robots = RobotsCache(fetcher)
    target = fetcher.target_of(BASE_URL)
    async with asyncio.TaskGroup() as visits:
        for _ in range(5):
            visits.create_task(robots.permit(target))
    assert site.paths == ["/robots.txt"]


async def test_the_cache_forgets_what_was_read_longest_ago(net: Net) -> None:
    rules = b"User-agent: *\n" + b"".join(b"Disallow: /%d\n" % n for n in range(999))
    hosts = [f"{n}.test" for n in range(4)]
    site = HonestSite({"/robots.txt": Page(rules, "text/plain")})
    await net.serve(site, *hosts)
    robots = RobotsCache(net.fetcher(), max_size=20_000)
    for host in hosts:
        await robots.robots_of(host)
    assert len(site.paths) == 4
    for host in reversed(hosts):
        await robots.robots_of(host)
    assert 5 <= len(site.paths) <= 7
