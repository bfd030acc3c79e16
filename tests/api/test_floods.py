"""What a client sends without end, or too fast, or never finishes."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.api import expect
from tests.api.running import RunningRegistry
from tests.waiting import PATIENCE_S

GIGABYTE = 1 << 30
CHUNK = b"a" * 65_536
GROWTH_BYTES = 48 << 20
SILENCE_S = 1.0
PATHS = ["/v1/search", "/v1/challenges", "/v1/selections", "/v1/registrations"]


def media_type(path: str) -> str:
    return "application/jose" if path == "/v1/registrations" else "application/json"


def resident_bytes(pid: int) -> int:
    """Of the process and its children: granian's workers."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS")]
    own = int(line.split()[1]) * 1024
    return own + sum(resident_bytes(int(child)) for child in children)


def converse(
    registry: RunningRegistry, *parts: bytes, answers_within_s: float = PATIENCE_S
) -> bytes:
    """What the server says to these bytes, until it closes or falls silent."""
    address = (registry.settings.host, registry.settings.port)
    with socket.create_connection(address, answers_within_s) as connection:
        text = b""
        with contextlib.suppress(TimeoutError, ConnectionError):  # it reads no more
            for part in parts:
                connection.sendall(part)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while received := connection.recv(65_536):
                text += received
                connection.settimeout(SILENCE_S)
    return text


@pytest.mark.parametrize("path", PATHS)
def test_a_gigabyte_that_is_announced_is_refused_unread(
    registry: RunningRegistry, path: str
) -> None:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {media_type(path)}\r\n"
        f"Content-Length: {GIGABYTE}\r\n\r\n"
    )
    # The rest never comes: who waits for it gives no answer.
    received = converse(registry, head.encode(), b"a" * 1000)
    assert received.startswith(b"HTTP/1.1 413 ")
    assert b"body_too_large" in received


@pytest.mark.parametrize("path", PATHS)
def test_a_gigabyte_in_chunks_is_refused_early(
    registry: RunningRegistry, path: str
) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < GIGABYTE:
            sent += len(CHUNK)
            yield CHUNK

    before = resident_bytes(registry.web_pid)
    headers = {"Content-Type": media_type(path)}
    try:
        url = registry.origin + path
        answer = httpx.post(url, content=endless(), headers=headers, timeout=60)
        expect.problem(answer, 413, "body_too_large")
    except (httpx.WriteError, httpx.ReadError, httpx.RemoteProtocolError):
        pass  # the server closed while we went on sending
    assert sent < 32 << 20
    assert resident_bytes(registry.web_pid) - before < GROWTH_BYTES


def test_chunks_that_grow_too_large_get_their_answer(
    registry: RunningRegistry,
) -> None:
    head = (
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n"
    )
    chunk = b"%x\r\n%s\r\n" % (len(CHUNK), CHUNK)
    received = converse(registry, head, chunk, chunk)
    assert received.startswith(b"HTTP/1.1 413 ")


def test_many_floods_at_once_stay_bounded(registry: RunningRegistry) -> None:
    before = resident_bytes(registry.web_pid)
    head = (
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: 65000\r\n\r\n"
    )
    threads = [
        threading.Thread(
            target=converse,
            args=(registry, head, b"[" * 64_000),
            kwargs={"answers_within_s": 1},
        )
        for _ in range(40)
    ]
    for thread in threads:
        thread.start()
    assert registry.search()["results"]
    assert resident_bytes(registry.web_pid) - before < GROWTH_BYTES
    for thread in threads:
        thread.join()


def test_after_a_refusal_the_connection_is_closed_by_word(
    registry: RunningRegistry,
) -> None:
    """Or the client would send its next request into a connection that is gone."""
    content = b"a" * 70_000
    headers = {"Content-Type": "application/json"}
    for _ in range(5):
        answer = registry.http.post("/v1/search", content=content, headers=headers)
        expect.problem(answer, 413, "body_too_large")
        assert answer.headers["Connection"] == "close"
        assert registry.http.get("/health/live").status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-A: b\r\n" * 5_000,
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"a" * 2_000_000 + b"\r\n",
        b"GET /" + b"a" * 2_000_000 + b" HTTP/1.1\r\nHost: x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX-\x00: a\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n",
        b"GET / HTTP/9.9\r\nHost: x\r\n",
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n",
        (
            b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
            b"Content-Length: 2\r\n"
        ),
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"\r\n" * 5_000,
    ],
    ids=[
        "many headers",
        "long header",
        "long target",
        "NUL in a name",
        "space before the colon",
        "NUL in the target",
        "unknown version",
        "negative length",
        "two lengths",
        "TLS",
        "blank lines",
    ],
)
def test_a_bomb_of_headers_harms_nobody(registry: RunningRegistry, head: bytes) -> None:
    before = resident_bytes(registry.web_pid)
    received = converse(registry, head, b"\r\n", answers_within_s=1)
    assert not received.startswith(b"HTTP/1.1 5")
    assert registry.http.get("/health/live").status_code == 200
    assert resident_bytes(registry.web_pid) - before < GROWTH_BYTES


def test_smuggled_lengths_are_not_read_as_a_second_request(
    registry: RunningRegistry,
) -> None:
    smuggled = b"GET /v1/policy HTTP/1.1\r\nHost: x\r\n\r\n"
    head = (
        b"POST /v1/search HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ) % (5 + len(smuggled))
    received = converse(registry, head + smuggled)
    assert received.count(b"HTTP/1.1 ") == 1
    assert b"codeDigest" not in received


def test_a_client_that_leaves_in_the_middle_is_no_fault_of_ours(
    registry: RunningRegistry,
) -> None:
    before = registry.log.read_text()
    address = (registry.settings.host, registry.settings.port)
    for _ in range(5):
        with socket.create_connection(address, 2) as connection:
            connection.sendall(
                b"POST /v1/search HTTP/1.1\r\nHost: x\r\n"
                b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
            )
    time.sleep(0.2)
    assert registry.http.get("/health/live").status_code == 200
    assert registry.log.read_text() == before
