"""A server that ends a kept connection just as the next request is sent."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from registry.auditor.source import RemoteSource
from registry.calls.api_call import post_json
from registry.client import RegistryClient, RegistryUnreachable

ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
)
AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER: the close is a reset."""
Requests = list[tuple[str, int]]


def read_request(peer: socket.socket) -> str:
    """Return the method, "" at the end of the connection. The body is {}."""
    received = b""
    while not received.endswith(b"{}" if received[:4] == b"POST" else b"\r\n\r\n"):
        if not (part := peer.recv(65_536)):
            return ""
        received += part
    return received.split()[0].decode()


@contextmanager
def serving(*, resets: bool) -> Iterator[tuple[str, Requests]]:
    """Give the URL, and the requests with their numbers on their connections."""
    requests: Requests = []

    def serve(peer: socket.socket) -> None:
        with peer:
            for number in (1, 2):
                if method := read_request(peer):
                    requests.append((method, number))
                if number == 1:
                    peer.sendall(ANSWER)
            if resets:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)

    def accept() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(peer,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", requests
        listener.shutdown(socket.SHUT_RDWR)


@pytest.fixture(params=[False, True], ids=["closed", "reset"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, Requests]]:
    with serving(resets=request.param) as served:
        yield served


async def test_what_changes_nothing_is_sent_once_more(
    server: tuple[str, Requests],
) -> None:
    url, requests = server
    async with RegistryClient(url) as client:
        for _ in range(2):
            assert await client.get("/v1/policy") == {}
    assert requests[:3] == [("GET", 1), ("GET", 2), ("GET", 1)]


async def test_what_might_count_twice_is_not(server: tuple[str, Requests]) -> None:
    url, requests = server
    async with RegistryClient(url) as client:
        await client.get("/v1/policy")
        with pytest.raises(RegistryUnreachable):
            await client.send(post_json("/v1/selections", {}))
        assert requests == [("GET", 1), ("POST", 2)]


async def test_what_has_a_key_counts_once_and_is_sent_once_more(
    server: tuple[str, Requests],
) -> None:
    url, requests = server
    async with RegistryClient(url) as client:
        await client.get("/v1/policy")
        answer = await client.send(post_json("/v1/selections", {}, key="any"))
        assert answer.status == 200
    assert requests == [("GET", 1), ("POST", 2), ("POST", 1)]


async def test_an_auditor_asks_once_more(server: tuple[str, Requests]) -> None:
    url, requests = server
    with closing(RemoteSource(url)) as source:
        for _ in range(2):
            assert await source.get_json("/v1/log") == {}
        assert await source.fetch("checkpoint") == b"{}"
    assert requests[:3] == [("GET", 1), ("GET", 2), ("GET", 1)]
