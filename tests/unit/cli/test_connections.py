"""What a server of a log may do wrong, byte by byte."""

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from itertools import chain, cycle
from typing import cast

import pytest

from registry.auditor import connections
from registry.auditor import source as source_module
from registry.auditor.connections import Connections, NotAnswered
from registry.auditor.reports import logged_reports
from registry.auditor.source import LogSource, LogUnreadable, RemoteSource
from registry.client import CallFailed, Json, RegistryClient

OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def serving(*answers: bytes) -> Iterator[str]:
    """Each connection is given the next answer, and is then closed."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for answer in answers:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            with peer:
                peer.recv(4096)
                peer.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    port = listening.getsockname()[1]
    yield f"http://127.0.0.1:{port}/log/"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


@contextmanager
def answering(*answers: bytes) -> Iterator[Connections]:
    with serving(*answers) as url, closing(Connections(url)) as opened:
        yield opened


@contextmanager
def registry_answering(*answers: bytes) -> Iterator[RemoteSource]:
    with serving(*answers) as url, closing(RemoteSource(url)) as opened:
        yield opened


def sized(body: bytes, *headers: bytes) -> bytes:
    lines = [b"Content-Length: %d" % len(body), *headers]
    return OK + b"\r\n".join(lines) + b"\r\n\r\n" + body


ZIPPED = gzip.compress(b"tile" * 1000)
GZIP = b"Content-Encoding: gzip"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        pytest.param(sized(b"tile"), b"tile", id="sized"),
        pytest.param(sized(b""), b"", id="empty"),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nti\r\n2\r\nle\r\n0\r\n\r\n",
            b"tile",
            id="in chunks",
        ),
        pytest.param(OK + b"\r\ntile", b"tile", id="until the end"),
        pytest.param(sized(ZIPPED, GZIP), b"tile" * 1000, id="gzip"),
        pytest.param(
            b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", None, id="absent"
        ),
    ],
)
def test_a_part_is_given_as_it_was_meant(answer: bytes, body: bytes | None) -> None:
    with answering(answer) as server:
        assert server.get("tile/0/000") == body


@pytest.mark.parametrize(
    ("answer", "is_passing"),
    [
        pytest.param(b"", True, id="nothing"),
        pytest.param(b"\x00" * 100, True, id="noise"),
        pytest.param(sized(b"tile")[:-1], True, id="cut off"),
        pytest.param(
            OK + b"Transfer-Encoding: chunked\r\n\r\n9\r\nti", True, id="chunk"
        ),
        pytest.param(OK + b"X: " + b"x" * 70_000, True, id="endless header"),
        pytest.param(
            b"HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n", True, id="503"
        ),
        pytest.param(
            b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n", False, id="301"
        ),
        pytest.param(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", False, id="403"),
        pytest.param(sized(b"no gzip", GZIP), False, id="no gzip"),
        pytest.param(sized(ZIPPED[:-9], GZIP), False, id="gzip cut off"),
    ],
)
def test_what_is_no_answer_is_reported(answer: bytes, is_passing: bool) -> None:
    with answering(answer) as server, pytest.raises(NotAnswered) as output:
        server.get("tile/0/000")
    assert output.value.is_passing is is_passing


@pytest.mark.parametrize(
    "answer", [sized(b"x" * 2_000), sized(gzip.compress(b"x" * 2_000), GZIP)]
)
def test_no_more_is_read_than_a_log_can_have(
    answer: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_RESPONSE_BYTES", 1_000)
    with answering(answer) as server, pytest.raises(NotAnswered) as output:
        server.get("tile/entries/000")
    assert not output.value.is_passing


def test_a_server_that_ended_all_idle_connections_fails_a_reader_only_once() -> None:
    """Six of them would use up all five tries of a part."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        idle = [listening.accept()[0] for _ in range(3)]
        for peer in (*idle, None):
            with peer or listening.accept()[0] as answering_:
                answering_.recv(4096)
                answering_.sendall(sized(b"tile"))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with (
        listening,
        closing(Connections(f"http://127.0.0.1:{listening.getsockname()[1]}")) as log,
        ThreadPoolExecutor(3) as readers,
    ):
        assert list(readers.map(log.get, ["tile"] * 3)) == [b"tile"] * 3
        with pytest.raises(NotAnswered):
            log.get("tile")
        assert log.get("tile") == b"tile"
        thread.join()


@contextmanager
def trickling(head: bytes, again: bytes) -> Iterator[str]:
    """A server that sends a byte at a time: first the head, then the rest for ever."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        peer, _ = listening.accept()
        with peer, suppress(OSError):  # until the reader has had enough
            for byte in chain(head, cycle(again)):
                peer.sendall(bytes([byte]))
                time.sleep(0.001)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


TRICKLES = [
    pytest.param(sized(b"")[:-5] + b"9000000\r\n\r\n", b"x", id="a long body"),
    pytest.param(OK + b"\r\n", b"x", id="a body without an end"),
    pytest.param(OK + b"X: ", b"x", id="a head without an end"),
    pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="continue, continue"),
    pytest.param(
        OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x", id="a chunk's extension"
    ),
]


@pytest.mark.parametrize(("head", "again"), TRICKLES)
async def test_an_answer_that_trickles_has_an_end(head: bytes, again: bytes) -> None:
    """And its thread too, for which the source waits as it is closed."""
    with (
        trickling(head, again) as url,
        closing(RemoteSource(url, whole_s=0.2)) as source,
        pytest.raises(LogUnreadable, match=r"not there whole in 0\.2 s"),
    ):
        await source.fetch("checkpoint")


async def test_who_waits_no_longer_leaves_no_thread_that_waits() -> None:
    with (
        trickling(OK + b"\r\n", b"x") as url,
        closing(RemoteSource(url)) as source,
        suppress(TimeoutError),
    ):
        async with asyncio.timeout(0.2):
            await source.fetch("checkpoint")


@pytest.mark.parametrize(("head", "again"), TRICKLES)
async def test_what_the_registry_itself_trickles_has_an_end_too(
    head: bytes, again: bytes
) -> None:
    with trickling(head, again) as url:
        async with RegistryClient(url, timeout_s=0.2) as client:
            with pytest.raises(CallFailed):
                await client.get("/v1/log")
    with (
        trickling(head, again) as url,
        closing(RemoteSource(url, answer_s=0.2)) as source,
        pytest.raises(LogUnreadable, match=r"/v1/log: no answer in 0\.2 s"),
    ):
        await source.get_json("/v1/log")


REFUSED = b"HTTP/1.1 404 No\r\n" + sized(b'{"code":"not_found","detail":"none"}')[17:]


@pytest.mark.parametrize(
    ("answers", "failure"),
    [
        pytest.param([REFUSED], "not_found: none", id="a refusal"),
        pytest.param([sized(b"[]")], "not the documented answer", id="no object"),
        pytest.param([sized(ZIPPED, GZIP)], "not the documented answer", id="zipped"),
        pytest.param([b"", b""], "RemoteDisconnected", id="nothing twice"),
    ],
)
async def test_what_a_registry_does_not_answer_is_reported(
    answers: list[bytes], failure: str
) -> None:
    with (
        registry_answering(*answers) as source,
        pytest.raises(LogUnreadable, match=f"/v1/log: {failure}"),
    ):
        await source.get_json("/v1/log")


async def test_an_ended_connection_is_asked_once_more() -> None:
    signed = sized(b"file", b"X-JWS-Signature: a..b")
    with registry_answering(b"", sized(b"{}"), signed) as source:
        assert await source.get_json("/v1/log") == {}
        assert await source.signed_file("/v1/report") == (b"a..b", b"file")


async def test_of_an_answer_no_more_is_read_than_a_call_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(source_module, "MAX_ANSWER_BYTES", 1_000)
    with (
        registry_answering(sized(b"x" * 2_000)) as source,
        pytest.raises(LogUnreadable, match="more than 1000 bytes"),
    ):
        await source.get_json("/v1/log")


async def test_a_list_that_never_ends_has_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class EndlessList:
        async def get_json(self, path: str) -> Json:
            return {"nextCursor": path[-9:] + "x"}

    monkeypatch.setattr(logged_reports, "MAX_PAGES", 5)
    listed = logged_reports.pages(
        cast("LogSource", EndlessList()), "/v1/reports?limit=9"
    )
    with pytest.raises(LogUnreadable, match="more than 5 pages"):
        [page async for page in listed]


@pytest.mark.parametrize("url", ["http://", "http://a:port", "http://a:99999"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Connections(url)
