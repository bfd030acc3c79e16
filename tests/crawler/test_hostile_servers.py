"""The hostile table, by its ids: what a server may do to the crawler, and can't.

Real sockets, a real name server, real TLS, all on loopback. URLs and addresses (U, A) and
documents (J) stand in tests/unit/crawler.
"""

import asyncio
import gzip
import zlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from time import thread_time

import pytest
import trustme

from crawler.control.fetch_evidence import fetch_evidence
from crawler.http.body import BodyLimits
from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher, FetcherConfig
from crawler.http.head import JSON_TYPES
from crawler.http.resolve import Resolver, ResolverConfig, SystemLookup
from crawler.refusals import UnexpectedStatus
from crawler.robots.robots_cache import load_robots
from registry.errors import Refused
from registry.formats.detect import parse_document
from registry.formats.document import Rejected
from registry.sites.host import parse_host
from registry.sites.hosts_file import Endpoint
from tests.crawler.net import (
    HOST,
    NXDOMAIN,
    Handler,
    HonestSite,
    Net,
    Page,
    raw,
    read_request,
    silent,
)
from tests.crawler.relentless_server import Endless, RelentlessServer

URL = f"https://{HOST}/doc.json"


async def code_of(fetcher: Fetcher, url: str = URL) -> str:
    with pytest.raises(Refused) as refused:
        await fetcher.fetch(url, Wanted(accept=JSON_TYPES))
    return refused.value.code


def answer(*headers: str, body: bytes = b"{}", length: bool = True) -> bytes:
    lines = ["HTTP/1.1 200 OK", *headers]
    if not any(line.lower().startswith("content-type") for line in headers):
        lines.append("Content-Type: application/json")
    if length:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def case(name: str, *values: object) -> object:
    return pytest.param(*values, id=name)


# The DNS

REBOUND = ["127.77.0.1"], ["10.0.0.1"]
DIALLED = {"connect", "tls"}  # nobody listens at 443, or some server of the machine


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        case("D1-public-and-private", [["127.0.0.1", "10.0.0.1"]], "address"),
        case("D2-mapped-v6", [["::ffff:10.0.0.1"]], "address"),
        case(
            "D3-40-addresses", [[f"127.0.0.{n}" for n in range(1, 41)]], "dns_too_many"
        ),
        case("D4-no-address", [[]], "dns_none"),
        case("D5-metadata", [["169.254.169.254"]], "address"),
        case("D6-unspecified", [["0.0.0.0"]], "address"),
        case("D7-nat64", [["64:ff9b::a00:1"]], "address"),
        case("D8-no-such-name", [NXDOMAIN], "dns_failed"),
        case("D9-silent-name-server", [None], "dns_timeout"),
    ],
)
async def test_a_hostile_dns_answer_is_refused(
    net: Net, answers: Sequence[Sequence[str] | None], code: str
) -> None:
    names = await net.serve_addresses(*answers)
    assert await code_of(net.fetcher(look_up=names.look_up)) == code


@pytest.mark.parametrize("answers", [case("D10-rebinding", REBOUND)])
async def test_an_answer_that_changes_is_vetted_again(
    net: Net, answers: Sequence[Sequence[str]]
) -> None:
    names = await net.serve_addresses(*answers)
    fetcher = net.fetcher(look_up=names.look_up)
    assert await code_of(fetcher) in DIALLED
    assert await code_of(fetcher) == "address"
    assert names.questions == {"A": 2, "AAAA": 2}


@pytest.mark.parametrize(
    "addresses",
    [case("D11-one-look-up", ["127.77.0.1", "127.77.0.2", "127.77.0.3"])],
)
async def test_a_connection_looks_up_once_whatever_it_dials(
    net: Net, addresses: Sequence[str]
) -> None:
    names = await net.serve_addresses(addresses, ["10.0.0.1"])
    assert await code_of(net.fetcher(look_up=names.look_up)) in DIALLED
    assert names.questions == {"A": 1, "AAAA": 1}


async def test_a_slow_dns_is_within_the_deadline_too(net: Net) -> None:
    names = await net.serve_addresses(None)
    fetcher = net.fetcher(look_up=names.look_up, deadline_s=0.1, dns_timeout_s=30)
    assert await code_of(fetcher) == "deadline"


async def test_look_ups_that_wait_for_slow_zones_are_not_held_against_others(
    net: Net,
) -> None:
    answered = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ask(host: str) -> list[str]:
        asyncio.run_coroutine_threadsafe(answered.wait(), loop).result()
        return ["10.0.0.1"]

    fetcher = net.fetcher(look_up=SystemLookup(threads=1, query=ask), dns_timeout_s=5)
    stuck = asyncio.create_task(code_of(fetcher, "https://tarpit.test/"))
    await asyncio.sleep(0.05)
    assert await code_of(fetcher) == "network_busy"
    answered.set()
    assert await stuck == "address"
    assert await code_of(fetcher) == "address"


async def test_loopback_is_refused_outside_development(net: Net) -> None:
    names = await net.serve_addresses(["127.0.0.1"])
    hosts = {"shop.io": Endpoint("127.0.0.1", await net.serve(HonestSite()))}
    resolver = Resolver(ResolverConfig(hosts=hosts), look_up=names.look_up)
    fetcher = Fetcher(FetcherConfig(user_agent="T/1", resolver=resolver))
    assert await code_of(fetcher, "https://shop.io/") == "address"


# Redirects


def redirect(location: str, status: str = "302 Found") -> Page:
    return Page(b"", status=status, headers={"Location": location})


@pytest.mark.parametrize(
    ("page", "code"),
    [
        case("R1-private-address", redirect("https://10.0.0.1/"), "ip_literal"),
        case("R2-private-name", redirect("https://db.shop.test/"), "address"),
        case("R3-http", redirect("http://shop.test/"), "scheme"),
        case("R4-file", redirect("file:///etc/passwd"), "scheme"),
        case("R5-other-port", redirect("https://shop.test:6379/"), "port"),
        case("R6-other-site", redirect("https://other.test/"), "redirect_cross_site"),
        case("R7-userinfo", redirect("https://me:pw@shop.test/"), "userinfo"),
        case("R8-metadata", redirect("//169.254.169.254/latest"), "ip_literal"),
        case("R9-to-itself", redirect("/doc.json"), "redirect_loop"),
        case("R11-no-location", Page(status="302 Found"), "redirect_no_location"),
        case("R12-long-location", redirect("/" + "a" * 5000), "url_length"),
        case("R13-partial-content", Page(status="206 Partial Content"), "status"),
        case("R14-unasked-304", Page(b"", status="304 Not Modified"), "status"),
    ],
)
async def test_a_hostile_redirect_is_refused(net: Net, page: Page, code: str) -> None:
    site = HonestSite({"/doc.json": page})
    await net.serve(site)
    names = await net.serve_addresses(["10.0.0.5"])
    assert await code_of(net.fetcher(look_up=names.look_up)) == code
    assert site.paths == ["/doc.json"]


@pytest.mark.parametrize("length", [case("R10-endless-redirects", 20)])
async def test_endless_redirects_end_at_the_third(net: Net, length: int) -> None:
    pages = {f"/{n}": redirect(f"/{n + 1}") for n in range(length)}
    site = HonestSite({"/doc.json": redirect("/0"), **pages})
    await net.serve(site)
    assert await code_of(net.fetcher()) == "redirect_limit"
    assert site.paths == ["/doc.json", "/0", "/1", "/2"]


@pytest.mark.parametrize("host", [case("OK11-same-site-redirect", "www.shop.test")])
async def test_a_redirect_within_the_site_is_followed_without_cookies(
    net: Net, host: str
) -> None:
    first = redirect(f"https://{host}/new")
    first.headers["Set-Cookie"] = "session=1"
    site = HonestSite({"/doc.json": first, "/new": Page(b'{"a":1}')})
    await net.serve(site, HOST, host)
    fetched = await net.fetcher().fetch(URL, Wanted(accept=JSON_TYPES))
    assert isinstance(fetched, Fetched)
    assert (fetched.url, fetched.body) == (f"https://{host}/new", b'{"a":1}')
    assert [request.headers["host"] for request in site.requests] == [HOST, host]
    assert not any("cookie" in request.headers for request in site.requests)


# Bodies


def endless(head: bytes, chunk: bytes, pause_s: float = 0) -> Handler:
    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await read_request(reader)
        writer.write(head)
        while True:
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return handle


def bomb(megabytes: int) -> bytes:
    """Each megabyte stands alone, so that the second is all the others too."""
    packer = zlib.compressobj(9, wbits=31)
    first, other = (
        packer.compress(bytes(1_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
        for _ in range(2)
    )
    return first + other * (megabytes - 1)


GZIP = "Content-Encoding: gzip"
CHUNKED = answer("Transfer-Encoding: chunked", body=b"", length=False)
UNBOUNDED = answer("Connection: close", body=b"", length=False)
PACKED = gzip.compress(b"{}")


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        case(
            "B1-10-gb-announced",
            raw(answer("Content-Length: 10000000000", length=False)),
            "body_wire",
        ),
        case(
            "B2-endless-chunks",
            endless(CHUNKED, b"4000\r\n" + b"a" * 0x4000 + b"\r\n"),
            "body_wire",
        ),
        case("B3-endless-until-close", endless(UNBOUNDED, b"a" * 0x4000), "body_wire"),
        case("B4-bomb-of-200-mb", raw(answer(GZIP, body=bomb(200))), "body_decoded"),
        case(
            "B5-ratio-too-high",
            raw(answer(GZIP, body=gzip.compress(b"a" * 400_000))),
            "body_ratio",
        ),
        case(
            "B6-two-codings",
            raw(answer("Content-Encoding: gzip, gzip", body=b"x")),
            "encoding_stack",
        ),
        case("B7-brotli", raw(answer("Content-Encoding: br", body=b"x")), "encoding"),
        case("B8-corrupt", raw(answer(GZIP, body=b"no gzip")), "encoding_corrupt"),
        case("B9-truncated", raw(answer(GZIP, body=PACKED[:-3])), "encoding_corrupt"),
        case(
            "B10-trailing-bytes",
            raw(answer(GZIP, body=PACKED + b"x")),
            "encoding_trailer",
        ),
    ],
)
async def test_a_hostile_body_is_refused(net: Net, handler: Handler, code: str) -> None:
    await net.serve(handler)
    assert await code_of(net.fetcher()) == code


EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\n\r\n"


@pytest.mark.parametrize(
    "answered",
    [
        case("OK9-gzip", answer(GZIP, body=PACKED)),
        case("OK10-plus-json", answer("Content-Type: application/ld+json; a=b")),
        case("OK12-chunked", CHUNKED + b"2\r\n{}\r\n0\r\n\r\n"),
        case("OK13-until-close", UNBOUNDED + b"{}"),
        case("OK14-early-hints", EARLY_HINTS + answer()),
        case("8 early hints", EARLY_HINTS * 8 + answer()),
        case("OK15-identity", answer("Content-Encoding: identity")),
        case("upper case", answer("Content-Type: APPLICATION/JSON")),
        case("100 headers", answer(*[f"X-{n}: y" for n in range(98)])),
    ],
)
async def test_a_sound_answer_is_taken(net: Net, answered: bytes) -> None:
    await net.serve(raw(answered))
    fetched = await net.fetcher().fetch(URL, Wanted(accept=JSON_TYPES))
    assert isinstance(fetched, Fetched)
    assert fetched.body == b"{}"


# Time and TLS


def dripping(text: bytes) -> Handler:
    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await read_request(reader)
        for byte in text:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.05)

    return handle


async def talk_first(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    await reader.read(1)
    writer.write(answer())
    await writer.drain()


async def break_record(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    await read_request(reader)
    below_tls = writer.transport._ssl_protocol._transport
    below_tls.write(b"\x17\x03\x03\x00\x20" + b"x" * 32)
    await asyncio.sleep(0.2)


Serve = Callable[[Net], Awaitable[object]]


def by(handler: Handler) -> Serve:
    return lambda net: net.serve(handler)


@pytest.mark.parametrize(
    ("serve", "codes"),
    [
        case("T1-dripped-head", by(dripping(answer())), {"deadline"}),
        case("T2-dripped-body", by(endless(UNBOUNDED, b" ", 0.05)), {"deadline"}),
        case("T3-silent", by(silent), {"timeout"}),
        case(
            "T6-endless-headers",
            by(endless(b"HTTP/1.1 200 OK\r\n", b"X-More: y\r\n")),
            {"protocol", "body_wire"},
        ),
        case("T7-endless-103", by(endless(b"", EARLY_HINTS)), {"protocol"}),
        case(
            "T12-silent-handshake",
            lambda net: net.serve(silent, tls=False),
            {"timeout"},
        ),
    ],
)
async def test_time_is_bounded(net: Net, serve: Serve, codes: set[str]) -> None:
    await serve(net)
    # A machine that is too busy for the one limit meets the other.
    codes = {*codes, "deadline"}
    assert await code_of(net.fetcher(deadline_s=0.5, step_timeout_s=0.3)) in codes


class Ticker:
    """Watcher of the event loop. longest_gap_s: between two of its turns.

    Seconds of the thread's CPU: that others have the processor is no fault of the fetcher.
    """

    def __init__(self) -> None:
        self.longest_gap_s = 0.0
        self._last_s = thread_time()

    def tick(self) -> None:
        now_s = thread_time()
        self.longest_gap_s = max(self.longest_gap_s, now_s - self._last_s)
        self._last_s = now_s

    async def run(self) -> None:
        while True:
            await asyncio.sleep(0.01)
            self.tick()


@contextmanager
def relentless(net: Net, response: Endless) -> Iterator[Ticker]:
    server = RelentlessServer(net.context(HOST), response)
    net.hosts[HOST] = Endpoint("127.0.0.1", server.port)
    ticker = Ticker()
    ticking = asyncio.create_task(ticker.run())
    try:
        yield ticker
    finally:
        ticker.tick()
        ticking.cancel()
        server.close()


HINTS = Endless(head=b"", blob=b"HTTP/1.1 103\r\n\r\n" * 50_000)
LONGEST_GAP_S = 0.5


@pytest.mark.parametrize(
    ("response", "codes"),
    [
        case("T13-103-without-pause", HINTS, {"protocol"}),
        case(
            "T14-chunk-extensions",
            Endless(head=CHUNKED, blob=(b"1;" + b"e" * 1000 + b"\r\na\r\n") * 2000),
            {"protocol"},
        ),
        case(
            "T15-endless-trailers",
            Endless(head=CHUNKED + b"2\r\n{}\r\n0\r\n", blob=b"X: y\r\n" * 200_000),
            {"protocol"},
        ),
        case(
            "T16-chunks-of-one-byte",
            Endless(head=CHUNKED, blob=b"1\r\na\r\n" * 200_000),
            {"protocol"},
        ),
        case(
            "T17-records-of-one-byte",
            Endless(head=UNBOUNDED, blob=b" " * 200_000, record_bytes=1),
            {"body_wire"},
        ),
        case(
            "T18-heads-in-records-of-one-byte",
            Endless(
                head=b"HTTP/1.1 200 OK\r\nX: ", blob=b"a" * 200_000, record_bytes=1
            ),
            {"body_wire"},
        ),
    ],
)
async def test_a_server_that_never_pauses_holds_up_nobody(
    net: Net, response: Endless, codes: set[str]
) -> None:
    with relentless(net, response) as ticker:
        # A machine too busy for the limit of bytes meets the deadline, or that of a step.
        assert await code_of(net.fetcher(deadline_s=3)) in {
            *codes,
            "deadline",
            "timeout",
        }
    assert ticker.longest_gap_s < LONGEST_GAP_S


@pytest.mark.parametrize("method", ["robots.txt", "key set", "post"])
async def test_every_reader_of_responses_has_the_same_limits(
    net: Net, method: str
) -> None:
    fetcher = net.fetcher(deadline_s=3)
    with relentless(net, HINTS) as ticker:
        if method == "robots.txt":
            robots = await load_robots(fetcher, HOST)
            assert robots.rules is None
        elif method == "key set":
            evidence = await fetch_evidence(fetcher, parse_host(HOST, test_hosts=True))
            assert {place.problem.code for place in evidence.unread} == {"protocol"}
        else:
            with pytest.raises(Refused, match="protocol"):
                await fetcher.post(
                    URL, b"", content_type="text/plain", limits=BodyLimits()
                )
    assert ticker.longest_gap_s < LONGEST_GAP_S


@pytest.mark.parametrize(
    ("serve", "code"),
    [
        case("T4-300-kb-header", by(raw(answer("X: " + "a" * 300_000))), "protocol"),
        case(
            "T5-5000-headers",
            by(raw(answer(*[f"X-{n}: y" for n in range(5000)]))),
            "headers_count",
        ),
        case(
            "T8-wrong-name",
            lambda net: net.serve(HonestSite(), certified=["other.test"]),
            "tls",
        ),
        case("T9-plaintext", lambda net: net.serve(talk_first, tls=False), "tls"),
        case(
            "T10-unknown-authority",
            lambda net: net.serve(HonestSite(), authority=trustme.CA()),
            "tls",
        ),
        case("T11-broken-record", by(break_record), "tls"),
    ],
)
async def test_heads_and_handshakes_are_bounded(
    net: Net, serve: Serve, code: str
) -> None:
    await serve(net)
    assert await code_of(net.fetcher()) == code


async def test_a_closed_port_is_refused(net: Net) -> None:
    port = await net.serve(HonestSite())
    await net.close()
    net.hosts[HOST] = Endpoint("127.0.0.1", port)
    assert await code_of(net.fetcher()) == "connect"


# The protocol


async def close_at_once(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    writer.close()


TWO_TYPES = answer("Content-Type: application/json", "Content-Type: text/html")


@pytest.mark.parametrize(
    ("handler", "codes"),
    [
        case("P1-http-0.9", raw(b"<html>hello</html>"), {"protocol"}),
        case("P2-two-lengths", raw(answer("Content-Length: 7")), {"protocol"}),
        case(
            "P3-negative-length",
            raw(answer("Content-Length: -1", length=False)),
            {"protocol"},
        ),
        case(
            "P4-short-body",
            raw(answer("Content-Length: 100", length=False)),
            {"protocol"},
        ),
        case("P5-bad-chunk", raw(CHUNKED + b"zz\r\n{}\r\n"), {"protocol"}),
        case("P6-nul-in-a-header", raw(answer("X: a\0b")), {"protocol"}),
        case("P7-closed-at-once", close_at_once, {"protocol", "connect"}),
        case("P8-closed-unanswered", raw(b""), {"protocol"}),
        case(
            "P9-unauthorized",
            raw(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"),
            {"status"},
        ),
        case("P10-html", raw(answer("Content-Type: text/html")), {"content_type"}),
        case("P11-no-type", raw(answer("Content-Type:")), {"content_type"}),
        case("P12-two-types", raw(TWO_TYPES), {"content_type"}),
        case("P13-space-in-a-name", raw(answer("Bad Header: a")), {"protocol"}),
        case(
            "P14-upgrade",
            raw(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n"),
            {"protocol"},
        ),
    ],
)
async def test_a_malformed_answer_is_refused(
    net: Net, handler: Handler, codes: set[str]
) -> None:
    await net.serve(handler)
    assert await code_of(net.fetcher()) in codes


@pytest.mark.parametrize("body", [b"", b'{"a":1,"a":2}', b"[" * 8000 + b"]" * 8000])
async def test_bad_json_arrives_whole_and_is_rejected(net: Net, body: bytes) -> None:
    await net.serve(raw(answer(body=body)))
    fetched = await net.fetcher().fetch(URL, Wanted(accept=JSON_TYPES))
    assert isinstance(fetched, Fetched)
    assert fetched.body == body
    assert isinstance(parse_document(fetched.body, url=URL), Rejected)


async def test_a_status_is_reported_with_its_retry_after(net: Net) -> None:
    page = Page(b"", status="503 Busy", headers={"Retry-After": "120"})
    await net.serve(HonestSite({"/doc.json": page}))
    with pytest.raises(UnexpectedStatus) as refused:
        await net.fetcher().fetch(URL, Wanted(accept=JSON_TYPES))
    assert (refused.value.status, refused.value.retry_after) == (503, "120")
