"""Refusals before the body was read: the client gets them, and its next request too."""

import socket
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from registry.interfaces.http.strict import MAX_BODY_BYTES
from registry.interfaces.http.unread_body import LINGER_BYTES
from tests.api.running import RunningRegistry

SERVER_BUFFER = 16_384
"""Of a body that nobody reads the server itself drops so much, and goes on."""


@pytest.fixture
def connection(registry: RunningRegistry) -> HTTPConnection:
    parts = urlsplit(registry.origin)
    assert parts.hostname
    return HTTPConnection(parts.hostname, parts.port, timeout=60)


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/policy", "/v1/search"])
def test_next_request_after_a_refusal_is_answered(
    connection: HTTPConnection, path: str
) -> None:
    """Half of the clients sent it into a close of which no header had informed them."""
    headers = {"Content-Type": "text/plain"}
    with closing(connection):
        for _ in range(10):
            connection.request("POST", path, bytes(3 * SERVER_BUFFER), headers)
            refusal = connection.getresponse()
            refusal.read()
            assert refusal.status in {404, 405, 415}
            opened = connection.sock
            connection.request("GET", "/health/live")
            assert connection.getresponse().read()
            assert connection.sock is opened


def test_what_is_too_large_can_be_sent_to_its_end_and_the_connection_ends(
    connection: HTTPConnection,
) -> None:
    """A close with unread bytes is a reset, in which a client may lose the refusal."""
    body = bytes(LINGER_BYTES)
    assert len(body) > MAX_BODY_BYTES
    with closing(connection):
        connection.connect()
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SERVER_BUFFER)
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/v1/search", body, headers)
        refusal = connection.getresponse()
        assert (refusal.status, refusal.getheader("Connection")) == (413, "close")
        assert b"body_too_large" in refusal.read()
