"""Connections on which nothing comes keep nobody from the registry."""

import contextlib
import selectors
import socket
from collections.abc import Iterator

import httpx
import pytest

from registry import keyring
from registry.db.engine.embedded import EmbeddedPostgres
from registry.process import raise_file_limit
from registry.settings import Settings
from tests.api.running import web_process
from tests.ports import free_port
from tests.waiting import awaited

CONNECTIONS = 1_200
GRANIANS_OWN_LIMIT = 1_024
HALF_A_HEAD = b"GET /health/live HTTP/1.1\r\nHost: a.test\r\nX-"


@pytest.fixture(scope="module")
def origin(
    postgres: EmbeddedPostgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A web process of its own, which others need not share with the flood."""
    postgres.create_database("idle", "template_migrated")
    settings = Settings(
        data=tmp_path_factory.mktemp("idle"),
        database_url=postgres.url("idle").render_as_string(hide_password=False),
        port=free_port(),
        allow_loopback=True,
    )
    keyring.create_keyring(settings.keys, settings.log_origin)
    with web_process(settings):
        awaited("the web process", lambda: is_live(settings.origin))
        yield settings.origin


def is_live(origin: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(f"{origin}/health/live", timeout=2).status_code == 200
    return False


@contextlib.contextmanager
def connections(origin: str, sent: bytes) -> Iterator[list[socket.socket]]:
    address = httpx.URL(origin)
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(CONNECTIONS):
            connection = socket.create_connection((address.host, address.port), 10)
            opened.append(stack.enter_context(connection))
            connection.sendall(sent)
        yield opened


def still_open(opened: list[socket.socket]) -> int:
    """How many the server has not closed: it never answers them."""
    with selectors.DefaultSelector() as selector:
        for connection in opened:
            selector.register(connection, selectors.EVENT_READ)
        return len(opened) - len(selector.select(0))


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD], ids=["idle", "half a head"])
def test_many_connections_on_which_nothing_comes_keep_nobody_out(
    origin: str, sent: bytes
) -> None:
    raise_file_limit(4 * CONNECTIONS)

    def is_live_beside_them() -> bool:
        """They are closed after some seconds, so that a late answer proves nothing."""
        with connections(origin, sent) as opened:
            return is_live(origin) and still_open(opened) > GRANIANS_OWN_LIMIT

    awaited("an answer beside them", is_live_beside_them)


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD], ids=["idle", "half a head"])
def test_a_head_is_not_waited_for_as_long_as_the_peer_likes(
    origin: str, sent: bytes
) -> None:
    address = httpx.URL(origin)
    with socket.create_connection((address.host, address.port)) as connection:
        connection.sendall(sent)
        connection.settimeout(25)  # granian's own limit is 30 seconds, or none
        assert connection.recv(1) == b"", "it is closed"
