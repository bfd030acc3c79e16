"""Heads of requests that two readers could read in two ways."""

import json
import socket
from urllib.parse import urlsplit

import pytest

from tests.api.running import RunningRegistry

END = b"Connection: close\r\n\r\n"


def answer_to(registry: RunningRegistry, request: bytes) -> tuple[int, bytes]:
    """Send a request as it stands, and return the status and the body."""
    parts = urlsplit(registry.origin)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as opened:
        opened.sendall(request)
        answer = b""
        while part := opened.recv(65_536):
            answer += part
    received, _, body = answer.partition(b"\r\n\r\n")
    return int(received.split()[1]), body


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"GET /v1/policy HTTP/1.1\r\n", id="no host"),
        pytest.param(
            b"GET /v1/policy HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n",
            id="two hosts",
        ),
    ],
)
def test_ambiguous_head_is_refused(registry: RunningRegistry, head: bytes) -> None:
    status, answer = answer_to(registry, head + END)
    assert (status, json.loads(answer)["code"]) == (400, "host_ambiguous")


def test_a_head_that_does_not_end_is_not_kept(registry: RunningRegistry) -> None:
    """Thousands of them at once had 400 KB each in the web process's memory."""
    line = b"X-Pad: " + 1_000 * b"a" + b"\r\n"
    start = b"GET /health/live HTTP/1.1\r\nHost: any.test\r\n"
    assert answer_to(registry, start + 8 * line + END)[0] == 200
    assert answer_to(registry, start + 17 * line + END)[0] == 431


@pytest.mark.parametrize("other", [b"Content-Length: 3\r\n", b"Content-Length: +2\r\n"])
def test_lengths_that_differ_are_refused(
    registry: RunningRegistry, other: bytes
) -> None:
    head = b"POST /v1/challenges HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n"
    assert answer_to(registry, head + other + END + b"{}")[0] == 400


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"GET /health/live HTTP/1.1\r\nHost: any.test\r\n", id="one host"),
        pytest.param(b"GET /health/live HTTP/1.0\r\n", id="an older client"),
    ],
)
def test_plain_head_is_answered(registry: RunningRegistry, head: bytes) -> None:
    assert answer_to(registry, head + END)[0] == 200


@pytest.mark.parametrize(
    ("path", "choice"),
    [
        ("/v1/sites/zaytoun-table.test?as=awp", "wab-entry"),
        ("/v1/sites/zaytoun-table.test/document?as=openapi", "mcp-tools"),
        ("/v1/search?q=table&conformance=loose", "strict"),
    ],
)
def test_value_outside_a_list_is_refused_with_the_list(
    registry: RunningRegistry, path: str, choice: str
) -> None:
    answer = registry.http.get(path)
    assert answer.status_code == 400
    assert choice in answer.json()["detail"]
    if path.startswith("/v1/search"):
        body = {"q": "table", "conformance": "loose"}
        answer = registry.http.post("/v1/search", json=body)
        assert answer.status_code == 400
        assert choice in answer.json()["detail"]
