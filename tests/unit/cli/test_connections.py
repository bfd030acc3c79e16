"""What a server of a log may do wrong, byte by byte."""

import gzip
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from registry.auditor import connections
from registry.auditor.connections import Connections, NotAnswered

OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def answering(*answers: bytes) -> Iterator[Connections]:
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
    with closing(Connections(f"http://127.0.0.1:{port}/log/")) as opened:
        yield opened
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


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
def test_what_is_no_answer_is_told(answer: bytes, is_passing: bool) -> None:
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


@pytest.mark.parametrize("url", ["http://", "http://a:port", "http://a:99999"])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Connections(url)
