import pytest

from crawler.fetch import Validators
from crawler.probe import Outcome, ProbeTarget, ping_of, probe
from crawler.resolve import Endpoint
from crawler.robots_cache import RobotsCache
from tests.crawler.net import HOST, HonestSite, Net, Page

BASE_URL = f"https://{HOST}/api/wab"
FORBIDDING = Page(b"User-agent: *\nDisallow: /api", "text/plain")


@pytest.mark.parametrize(
    ("pages", "outcome", "code"),
    [
        ({"/api/wab/ping": Page()}, "alive", ""),
        ({"/api/wab/ping": Page(status="403 No")}, "auth_wall", "status"),
        ({"/api/wab/ping": Page(status="502 Oops")}, "unreachable", "status"),
        (
            {"/api/wab/ping": Page(b"<p>", "text/html")},
            "wrong_protocol",
            "content_type",
        ),
        ({}, "wrong_protocol", "status"),
        ({"/robots.txt": FORBIDDING}, "blocked_by_robots", "robots_disallowed"),
    ],
)
async def test_a_probe_tells_how_a_bridge_is(
    net: Net, pages: dict[str, Page], outcome: Outcome, code: str
) -> None:
    await net.serve(HonestSite(pages))
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert (result.outcome, result.code) == (outcome, code)


async def test_the_time_of_robots_txt_does_not_count(net: Net) -> None:
    slow_rules = Page(b"", "text/plain", delay_s=2.0)
    await net.serve(HonestSite({"/robots.txt": slow_rules, "/api/wab/ping": Page()}))
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert result.elapsed_ms < 2_000


async def test_a_document_that_did_not_change_is_alive(net: Net) -> None:
    site = HonestSite({"/a.json": Page(headers={"ETag": '"v1"'})})
    await net.serve(site)
    fetcher = net.fetcher()
    conditional = Validators(etag='"v1"')
    target = ProbeTarget(url=f"https://{HOST}/a.json", conditional=conditional)
    assert (await probe(fetcher, RobotsCache(fetcher), target)).outcome == "alive"
    assert site.requests[-1].headers["if-none-match"] == '"v1"'


async def test_a_host_that_is_down_is_unreachable(net: Net) -> None:
    net.hosts[HOST] = Endpoint("127.0.0.1", 1)
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert (result.outcome, result.code) == ("unreachable", "robots_unreachable")


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


async def test_a_copy_serves_while_robots_txt_fails_but_no_longer_than_a_day(
    net: Net,
) -> None:
    site = HonestSite()
    await net.serve(site)
    clock = Clock()
    robots = RobotsCache(net.fetcher(), clock)
    await robots.robots_of(HOST)
    site.pages["/robots.txt"] = Page(status="503 Busy")
    clock.now_s += 13 * 3600
    assert (await robots.robots_of(HOST)).rules is not None
    clock.now_s += 12 * 3600
    assert (await robots.robots_of(HOST)).rules is None
    site.pages.clear()
    clock.now_s += 600
    assert (await robots.robots_of(HOST)).rules is not None


async def test_a_robots_txt_without_end_is_cut_off(net: Net) -> None:
    rules = b"User-agent: *\nDisallow: /api\n" + b"# padding\n" * 100_000
    site = HonestSite({"/robots.txt": Page(rules, "text/plain")})
    await net.serve(site)
    fetcher = net.fetcher()
    result = await probe(fetcher, RobotsCache(fetcher), ping_of(BASE_URL))
    assert result.outcome == "blocked_by_robots"
