"""Ports that tests give to servers: each is nobody else's."""

import secrets
import socket

import pytest

from tests.ports import LOWEST, free_port

randbelow = secrets.randbelow


def draw_first(monkeypatch: pytest.MonkeyPatch, port: int) -> None:
    """Have this one drawn next, and then any."""
    draws = [port - LOWEST]
    monkeypatch.setattr(
        secrets, "randbelow", lambda below: draws.pop() if draws else randbelow(below)
    )


def test_a_port_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    given = free_port()
    draw_first(monkeypatch, given)
    assert free_port() != given


def test_a_port_that_is_listened_at_is_not_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        draw_first(monkeypatch, taken)
        assert free_port() != taken
