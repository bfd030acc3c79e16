"""A visit's requests follow each other on a connection, which ends with the visit."""

import asyncio
import ssl
from collections.abc import Callable

import psutil
import pytest

from crawler import refusals
from crawler.http.connection import make_tls_context, reusing_connections
from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import ANY_TYPE
from crawler.restraint.politeness import TOWARDS_OURSELVES, Politeness
from registry.errors import Refused
from tests.crawler.net import HOST, Handler, Net, read_request
from tests.waiting import until

ROOT = f"https://{HOST}"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
GOOD = HEAD + b"Content-Length: 2\r\n\r\n{}"
ABSENT = b"HTTP/1.1 404 Not Found\r\nContent-Length: 7\r\n\r\nnothing"


class KeepingSite:
    """Answers on a connection until it is closed. most: answers of a connection."""

    def __init__(self, *answers: bytes, most: int = 100) -> None:
        self.connections = 0
        self.requests: list[dict[str, str]] = []
        self._answers = answers or (GOOD,)
        self._most = most

    async def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        for _ in range(self._most):
            request = await read_request(reader)
            answer = self._answers[min(len(self.requests), len(self._answers) - 1)]
            self.requests.append(request.headers)
            writer.write(answer)
            await writer.drain()
            if request.headers.get("connection") == "close":
                return


async def fetch(fetcher: Fetcher, path: str) -> str:
    try:
        response = await fetcher.fetch(f"{ROOT}{path}", Wanted(accept=ANY_TYPE))
    except Refused as refused:
        return refused.code
    assert isinstance(response, Fetched)
    return response.body.decode()


async def fetch_in_turn(net: Net, site: Handler, times: int = 3) -> list[str]:
    await net.serve(site)
    fetcher = net.fetcher()
    with reusing_connections():
        return [await fetch(fetcher, f"/{n}") for n in range(times)]


async def test_requests_of_a_visit_share_a_connection(net: Net) -> None:
    site = KeepingSite()
    assert await fetch_in_turn(net, site) == ["{}"] * 3
    assert (site.connections, len(site.requests)) == (1, 3)


def only_tls_1_2(context: ssl.SSLContext) -> None:
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def another_key_share(context: ssl.SSLContext) -> None:
    context.set_ecdh_curve("secp384r1")


@pytest.mark.parametrize("restrict", [only_tls_1_2, another_key_share])
async def test_a_handshake_may_take_another_round_trip(
    net: Net, restrict: Callable[[ssl.SSLContext], None]
) -> None:
    restrict(net.context(HOST))
    site = KeepingSite()
    assert await fetch_in_turn(net, site) == ["{}"] * 3
    assert site.connections == 1


def test_a_handshake_is_not_repeated_on_a_servers_wish() -> None:
    assert make_tls_context().options & ssl.OP_NO_RENEGOTIATION


async def test_without_a_visit_each_request_has_a_connection_that_it_closes(
    net: Net,
) -> None:
    site = KeepingSite()
    await net.serve(site)
    fetcher = net.fetcher()
    assert [await fetch(fetcher, "/") for _ in range(3)] == ["{}"] * 3
    assert site.connections == 3
    assert {request["connection"] for request in site.requests} == {"close"}


async def test_what_is_not_there_costs_no_new_handshake(net: Net) -> None:
    site = KeepingSite(ABSENT, ABSENT, GOOD)
    assert await fetch_in_turn(net, site) == ["status", "status", "{}"]
    assert site.connections == 1


async def test_connection_that_was_closed_meanwhile_is_replaced(net: Net) -> None:
    site = KeepingSite(most=1)
    assert await fetch_in_turn(net, site) == ["{}"] * 3
    assert site.connections == 3


async def test_connection_that_is_closed_before_any_answer_is_no_failure_of_the_site(
    net: Net,
) -> None:
    """It takes the second request and closes without a byte, as a restarting server."""
    answered = 0

    async def closes(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        nonlocal answered
        await read_request(reader)
        answered += 1
        writer.write(GOOD)
        await writer.drain()
        await read_request(reader)

    await net.serve(closes)
    fetcher = net.fetcher(politeness=Politeness(TOWARDS_OURSELVES))
    with reusing_connections():
        assert [await fetch(fetcher, "/") for _ in range(3)] == ["{}"] * 3
    assert answered == 3
    assert fetcher.config.politeness.snapshot() == {"under_way": 0}


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(GOOD + GOOD, id="an answer nobody asked for"),
        pytest.param(
            HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}", id="close"
        ),
        pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", id="HTTP/1.0"),
        pytest.param(
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 70000\r\n\r\nhalf",
            id="a body that is not all there",
        ),
    ],
)
async def test_connection_in_doubt_is_not_used_again(net: Net, answer: bytes) -> None:
    site = KeepingSite(answer)
    assert len(set(await fetch_in_turn(net, site, times=2))) == 1
    assert site.connections == 2


async def test_late_half_of_an_answer_is_not_the_next_one(net: Net) -> None:
    site = KeepingSite(HEAD + b"Content-Length: 2\r\n\r\n{}", b"HTTP/1.1 200 nonsense")
    await net.serve(site)
    fetcher = net.fetcher(step_timeout_s=0.1)
    with reusing_connections():
        findings = [await fetch(fetcher, "/"), await fetch(fetcher, "/")]
    assert findings == ["{}", refusals.TIMEOUT.code]


async def test_bytes_of_a_visit_are_counted_over_all_its_connections(net: Net) -> None:
    closing = (
        HEAD + b"Connection: close\r\nContent-Length: 20000\r\n\r\n" + b" " * 20_000
    )
    await net.serve(KeepingSite(closing))
    fetcher = net.fetcher()
    with reusing_connections(max_bytes=50_000):
        bodies = [await fetch(fetcher, f"/{n}") for n in range(3)]
    assert bodies == [" " * 20_000] * 2 + [refusals.BODY_WIRE.code]
    assert await fetch(fetcher, "/") == " " * 20_000


async def test_nothing_is_open_after_the_visit(net: Net) -> None:
    def sockets() -> int:
        return len(psutil.Process().net_connections("tcp"))

    site = KeepingSite()
    await net.serve(site)
    before = sockets()
    fetcher = net.fetcher()
    with reusing_connections():
        await asyncio.gather(*(fetch(fetcher, f"/{n}") for n in range(4)))
        assert sockets() > before
    await until("no more sockets are open", lambda: sockets() == before)
