"""The hostile table, by its ids: what a server may do to the crawler, and can't."""

import asyncio
import gzip
import os
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import pytest
import trustme

from crawler.fetch import JSON_TYPES, Fetched, Fetcher, FetcherConfig
from crawler.refusals import UnexpectedStatus
from crawler.resolve import Endpoint, Resolver, ResolverConfig
from registry.errors import Refused
from registry.formats.detect import parse_document
from registry.formats.document import Rejected
from tests.crawler.net import (
    HOST,
    Handler,
    HonestSite,
    Net,
    Page,
    raw,
    read_request,
    silent,
)

URL = f"https://{HOST}/doc.json"


async def code_of(fetcher: Fetcher, url: str = URL) -> str:
    with pytest.raises(Refused) as refused:
        await fetcher.fetch(url, accept=JSON_TYPES)
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


def scripted(*answers: Sequence[str]) -> tuple[Callable[[str], object], list[str]]:
    """A DNS that gives one answer after the other, the last for ever."""
    asked: list[str] = []

    async def look_up(host: str) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    return look_up, asked


@pytest.mark.parametrize(
    ("addresses", "code"),
    [
        case("D1", ["127.0.0.1", "10.0.0.1"], "address"),
        case("D2", ["::ffff:10.0.0.1"], "address"),
        case("D3", ["127.0.0.1"] * 40, "dns_too_many"),
        case("D4", [], "dns_none"),
        case("D5", ["169.254.169.254"], "address"),
        case("D6", ["0.0.0.0"], "address"),
        case("D7", ["64:ff9b::a00:1"], "address"),
    ],
)
async def test_a_hostile_dns_answer_is_refused(
    net: Net, addresses: Sequence[str], code: str
) -> None:
    look_up, asked = scripted(addresses)
    assert await code_of(net.fetcher(look_up=look_up)) == code
    assert asked == [HOST]


async def test_d8_a_name_that_does_not_resolve_is_refused(net: Net) -> None:
    async def look_up(host: str) -> Sequence[str]:
        raise OSError(-2, "Name or service not known")

    assert await code_of(net.fetcher(look_up=look_up)) == "dns_failed"


async def test_d9_a_dns_that_takes_30_seconds_is_not_waited_for(net: Net) -> None:
    async def look_up(host: str) -> Sequence[str]:
        await asyncio.sleep(30)
        return ["127.0.0.1"]

    assert await code_of(net.fetcher(look_up=look_up)) == "dns_timeout"
    in_a_hurry = net.fetcher(look_up=look_up, deadline_s=0.1)
    assert await code_of(in_a_hurry) == "deadline"


async def test_d10_an_answer_that_changes_is_vetted_again(net: Net) -> None:
    look_up, asked = scripted(["127.77.0.1"], ["10.0.0.1"])
    fetcher = net.fetcher(look_up=look_up)
    assert await code_of(fetcher) == "connect"
    assert await code_of(fetcher) == "address"
    assert asked == [HOST, HOST]


async def test_d11_a_connection_looks_up_once_whatever_it_dials(net: Net) -> None:
    look_up, asked = scripted(["127.77.0.1", "127.77.0.2", "127.77.0.3"])
    assert await code_of(net.fetcher(look_up=look_up)) == "connect"
    assert asked == [HOST]


async def test_loopback_is_refused_outside_development(net: Net) -> None:
    look_up, _ = scripted(["127.0.0.1"])
    hosts = {"shop.io": Endpoint("127.0.0.1", await net.serve(HonestSite()))}
    resolver = Resolver(ResolverConfig(hosts=hosts), look_up=look_up)
    fetcher = Fetcher(FetcherConfig(user_agent="T/1", resolver=resolver))
    assert await code_of(fetcher, "https://shop.io/") == "address"


# Redirects


@pytest.mark.parametrize(
    ("location", "code"),
    [
        case("R1", "https://10.0.0.1/", "ip_literal"),
        case("R2", "https://db.shop.test/", "address"),
        case("R3", "http://shop.test/", "scheme"),
        case("R4", "file:///etc/passwd", "scheme"),
        case("R5", "https://shop.test:6379/", "port"),
        case("R6", "https://other.test/", "redirect_cross_site"),
        case("R7", "https://me:pw@shop.test/", "userinfo"),
        case("R8", "//169.254.169.254/latest", "ip_literal"),
        case("R9", "/doc.json", "redirect_loop"),
        case("R12", "/" + "a" * 5000, "url_length"),
    ],
)
async def test_a_hostile_redirect_is_refused(
    net: Net, location: str, code: str
) -> None:
    site = HonestSite({"/doc.json": redirect(location)})
    await net.serve(site)
    look_up, _ = scripted(["10.0.0.5"])
    assert await code_of(net.fetcher(look_up=look_up)) == code
    assert site.paths == ["/doc.json"]


def redirect(location: str, status: str = "302 Found") -> Page:
    return Page(b"", status=status, headers={"Location": location})


async def test_r10_endless_redirects_end_at_the_third(net: Net) -> None:
    pages = {f"/{n}": redirect(f"/{n + 1}") for n in range(20)}
    site = HonestSite({"/doc.json": redirect("/0"), **pages})
    await net.serve(site)
    assert await code_of(net.fetcher()) == "redirect_limit"
    assert site.paths == ["/doc.json", "/0", "/1", "/2"]


@pytest.mark.parametrize(
    ("page", "code"),
    [
        case("R11", Page(b"", status="302 Found"), "redirect_no_location"),
        case("R13", Page(status="206 Partial Content"), "status"),
        case("R14", Page(b"", status="304 Not Modified"), "status"),
    ],
)
async def test_other_statuses_are_refused(net: Net, page: Page, code: str) -> None:
    await net.serve(HonestSite({"/doc.json": page}))
    assert await code_of(net.fetcher()) == code


async def test_a_redirect_within_the_site_is_followed_without_cookies(
    net: Net,
) -> None:
    first = redirect("https://www.shop.test/new")
    first.headers["Set-Cookie"] = "session=1"
    site = HonestSite({"/doc.json": first, "/new": Page(b'{"a":1}')})
    await net.serve(site, HOST, "www.shop.test")
    fetched = await net.fetcher().fetch(URL, accept=JSON_TYPES)
    assert isinstance(fetched, Fetched)
    assert (fetched.url, fetched.body) == ("https://www.shop.test/new", b'{"a":1}')
    assert [request.headers["host"] for request in site.requests] == [
        "shop.test",
        "www.shop.test",
    ]
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
    packer = zlib.compressobj(9, wbits=31)
    packed = [packer.compress(bytes(1_000_000)) for _ in range(megabytes)]
    return b"".join([*packed, packer.flush()])


GZIP = "Content-Encoding: gzip"
CHUNKED = answer("Transfer-Encoding: chunked", body=b"", length=False)
UNBOUNDED = answer("Connection: close", body=b"", length=False)


@pytest.mark.parametrize(
    ("handler", "code"),
    [
        case(
            "B1",
            raw(answer("Content-Length: 10000000000", length=False)),
            "body_wire",
        ),
        case(
            "B2", endless(CHUNKED, b"4000\r\n" + b"a" * 0x4000 + b"\r\n"), "body_wire"
        ),
        case("B3", endless(UNBOUNDED, b"a" * 0x4000), "body_wire"),
        case("B4", raw(answer(GZIP, body=bomb(200))), "body_decoded"),
        case("B5", raw(answer(GZIP, body=gzip.compress(b"a" * 400_000))), "body_ratio"),
        case(
            "B6",
            raw(answer("Content-Encoding: gzip, gzip", body=b"x")),
            "encoding_stack",
        ),
        case("B7", raw(answer("Content-Encoding: br", body=b"x")), "encoding"),
        case("B8", raw(answer(GZIP, body=b"no gzip")), "encoding_corrupt"),
        case(
            "B9", raw(answer(GZIP, body=gzip.compress(b"{}")[:-3])), "encoding_corrupt"
        ),
        case(
            "B10",
            raw(answer(GZIP, body=gzip.compress(b"{}") + b"x")),
            "encoding_trailer",
        ),
    ],
)
async def test_a_hostile_body_is_refused(net: Net, handler: Handler, code: str) -> None:
    await net.serve(handler)
    assert await code_of(net.fetcher()) == code


@pytest.mark.parametrize(
    ("answered", "body"),
    [
        case("gzip", answer(GZIP, body=gzip.compress(b'{"a":1}')), b'{"a":1}'),
        case("+json", answer("Content-Type: application/ld+json; a=b"), b"{}"),
        case("upper case", answer("Content-Type: APPLICATION/JSON"), b"{}"),
        case("chunked", CHUNKED + b"2\r\n{}\r\n0\r\n\r\n", b"{}"),
        case("until close", UNBOUNDED + b"{}", b"{}"),
        case("after 103", b"HTTP/1.1 103 Early Hints\r\n\r\n" + answer(), b"{}"),
        case("identity", answer("Content-Encoding: identity"), b"{}"),
        case("100 headers", answer(*[f"X-{n}: y" for n in range(98)]), b"{}"),
    ],
)
async def test_a_sound_answer_is_taken(net: Net, answered: bytes, body: bytes) -> None:
    await net.serve(raw(answered))
    fetched = await net.fetcher().fetch(URL, accept=JSON_TYPES)
    assert isinstance(fetched, Fetched)
    assert fetched.body == body


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


MANY_HEADERS = [f"X-{n}: y" for n in range(5000)]


@pytest.mark.parametrize(
    ("handler", "codes"),
    [
        case("T1", dripping(answer()), {"deadline"}),
        case("T2", endless(UNBOUNDED, b" ", 0.05), {"deadline"}),
        case("T3", silent, {"timeout"}),
        case("T4", raw(answer("X: " + "a" * 300_000)), {"protocol"}),
        case("T5", raw(answer(*MANY_HEADERS)), {"headers_count"}),
        case(
            "T6",
            endless(b"HTTP/1.1 200 OK\r\n", b"X-More: y\r\n"),
            {"protocol", "deadline"},
        ),
        case("T7", endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), {"deadline"}),
    ],
)
async def test_time_is_bounded(net: Net, handler: Handler, codes: set[str]) -> None:
    await net.serve(handler)
    fetcher = net.fetcher(deadline_s=0.4, step_timeout_s=0.3)
    assert await code_of(fetcher) in codes


async def test_t8_a_certificate_for_another_name_is_refused(net: Net) -> None:
    await net.serve(HonestSite(), certified=["other.test"])
    assert await code_of(net.fetcher()) == "tls"


async def test_t9_plaintext_where_tls_is_wanted_is_refused(net: Net) -> None:
    async def talk_first(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await reader.read(1)
        writer.write(answer())
        await writer.drain()

    await net.serve(talk_first, tls=False)
    assert await code_of(net.fetcher()) == "tls"


async def test_t10_an_unknown_authority_is_refused(net: Net) -> None:
    await net.serve(HonestSite(), authority=trustme.CA())
    assert await code_of(net.fetcher()) == "tls"


async def test_t11_a_broken_record_after_the_handshake_is_refused(net: Net) -> None:
    async def break_off(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await read_request(reader)
        below_tls = writer.transport._ssl_protocol._transport
        below_tls.write(b"\x17\x03\x03\x00\x20" + b"x" * 32)
        await asyncio.sleep(0.2)

    await net.serve(break_off)
    assert await code_of(net.fetcher()) == "tls"


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


@pytest.mark.parametrize(
    ("handler", "codes"),
    [
        case("P1", raw(b"<html>hello</html>"), {"protocol"}),
        case("P2", raw(answer("Content-Length: 7")), {"protocol"}),
        case("P3", raw(answer("Content-Length: -1", length=False)), {"protocol"}),
        case("P4", raw(answer("Content-Length: 100", length=False)), {"protocol"}),
        case("P5", raw(CHUNKED + b"zz\r\n{}\r\n"), {"protocol"}),
        case("P6", raw(answer("X: a\0b")), {"protocol"}),
        case("P7", close_at_once, {"protocol", "connect"}),
        case("P8", raw(b""), {"protocol"}),
        case("P9", raw(b"HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), {"status"}),
        case("P10", raw(answer("Content-Type: text/html")), {"content_type"}),
        case("P11", raw(answer("Content-Type:")), {"content_type"}),
        case(
            "P12",
            raw(answer("Content-Type: application/json", "Content-Type: text/html")),
            {"content_type"},
        ),
        case("P13", raw(answer("Bad Header: a")), {"protocol"}),
        case("P14", raw(b"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n"), {"protocol"}),
    ],
)
async def test_a_malformed_answer_is_refused(
    net: Net, handler: Handler, codes: set[str]
) -> None:
    await net.serve(handler)
    assert await code_of(net.fetcher()) in codes


# JSON that no parser agrees about


@pytest.mark.parametrize(
    "body",
    [
        case("J1", b'{"wab_version":"1.0","wab_version":"2.0"}'),
        case("J3", b'{"a":NaN}'),
        case("J5", b'{"a":1e400}'),
        case("J6", b'{"a":12345678901234567890}'),
        case("J9", rb'{"a":"\ud800"}'),
        case("J11", rb'{"a":"\u0000"}'),
        case("J13", b'{"a":"\xff"}'),
        case("J15", '{"a":1}'.encode("utf-16")),
        case("J16", b'{"a":' * 40 + b"1" + b"}" * 40),
        case("J17", b"[" * 8000 + b"]" * 8000),
        case("J19", b"{} {}"),
        case("J20", b"{/* a */}"),
        case("J22", b""),
        case("J23", b'{"a":'),
        case("J25", b"{'a':1}"),
    ],
)
async def test_bad_json_arrives_whole_and_is_rejected(net: Net, body: bytes) -> None:
    await net.serve(raw(answer(body=body)))
    fetched = await net.fetcher().fetch(URL, accept=JSON_TYPES)
    assert isinstance(fetched, Fetched)
    assert isinstance(parse_document(fetched.body, url=URL), Rejected)


async def test_a_status_is_told_with_its_retry_after(net: Net) -> None:
    page = Page(b"", status="503 Busy", headers={"Retry-After": "120"})
    await net.serve(HonestSite({"/doc.json": page}))
    with pytest.raises(UnexpectedStatus) as refused:
        await net.fetcher().fetch(URL, accept=JSON_TYPES)
    assert (refused.value.status, refused.value.retry_after) == (503, "120")


# Many at once


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux")  # noqa: PTH112
async def test_fetches_cut_off_at_random_leak_nothing(net: Net) -> None:
    rng = random.Random(7)

    async def erratic(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        await read_request(reader)
        await asyncio.sleep(rng.random() / 30)
        writer.write(UNBOUNDED)
        await asyncio.sleep(rng.random() / 30)
        writer.write(b"{}")

    await net.serve(erratic)
    fetcher = net.fetcher()
    await fetcher.fetch(URL, accept=JSON_TYPES)
    await asyncio.sleep(0.05)
    before = open_descriptors()

    async def fetch_hastily() -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(rng.random() / 10):
                await fetcher.fetch(URL, accept=JSON_TYPES)
                return True
        return False

    done: list[bool] = []
    for _ in range(20):
        done += await asyncio.gather(*(fetch_hastily() for _ in range(10)))
    assert True in done
    assert False in done
    await fetcher.fetch(URL, accept=JSON_TYPES)
    for _ in range(50):
        if open_descriptors() <= before:
            break
        await asyncio.sleep(0.02)
    assert open_descriptors() <= before


async def test_tarpits_do_not_hold_up_good_hosts(net: Net) -> None:
    await net.serve(dripping(answer() * 100), "tarpit.test")
    await net.serve(HonestSite({"/doc.json": Page()}), "good.test")
    fetcher = net.fetcher(deadline_s=3.0)

    def tarpits() -> Iterator[asyncio.Task[str]]:
        for _ in range(40):
            fetched = code_of(fetcher, "https://tarpit.test/doc.json")
            yield asyncio.create_task(fetched)

    stuck = list(tarpits())
    url = "https://good.test/doc.json"
    good = [fetcher.fetch(url, accept=JSON_TYPES) for _ in range(20)]
    assert len(await asyncio.gather(*good)) == 20
    assert not any(task.done() for task in stuck)
    for task in stuck:
        task.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)
