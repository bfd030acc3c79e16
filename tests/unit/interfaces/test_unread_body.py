"""The rest of a body: a small one is read, so that the connection can go on."""

import asyncio
from typing import Any

import pytest
from litestar.types import Message

from registry.interfaces.http import unread_body
from registry.interfaces.http.strict import MAX_BODY_BYTES
from registry.interfaces.http.unread_body import LINGER_BYTES, UnreadBody

PART = 16_384


class Sender:
    """Sends so many parts of PART bytes; then, if it stops, nothing."""

    def __init__(self, parts: int, *, stops: bool = False) -> None:
        self.received = 0
        self._parts, self._stops = parts, stops

    async def receive(self) -> Message:
        if self.received == self._parts:
            assert self._stops, "nothing is left to read"
            await asyncio.Event().wait()
        self.received += 1
        more = self._stops or self.received < self._parts
        return {"type": "http.request", "body": bytes(PART), "more_body": more}


def body_of(sender: Sender, length: int | str, **others: str) -> UnreadBody:
    headers = {"content-length": str(length), **others}
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope: Any = {"type": "http", "headers": raw}
    return UnreadBody(scope, sender.receive)


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread_body, "REST_S", 0.01)


async def test_a_small_rest_is_read() -> None:
    sender = Sender(3)
    assert await body_of(sender, 3 * PART).is_over()
    assert sender.received == 3


async def test_of_no_body_nothing_is_awaited() -> None:
    assert await body_of(Sender(0), 0).is_over()
    scope: Any = {"type": "http", "headers": []}
    assert await UnreadBody(scope, Sender(0).receive).is_over()


async def test_a_body_that_was_read_is_over() -> None:
    sender = Sender(1)
    body = body_of(sender, PART)
    await body.receive()
    assert await body.is_over()


async def test_a_large_rest_ends_the_connection_and_is_read_in_part() -> None:
    sender = Sender(1_000)
    body = body_of(sender, 1_000 * PART)
    assert not await body.is_over()
    assert sender.received == 0
    await body.skip()
    assert sender.received == LINGER_BYTES // PART


async def test_a_body_without_a_length_ends_the_connection_once_it_is_large() -> None:
    for parts in (2, 1_000):
        sender = Sender(parts)
        chunked = {"transfer-encoding": "chunked"}
        is_small = parts * PART <= MAX_BODY_BYTES
        body = body_of(sender, 0, **chunked)
        assert await body.is_over() is is_small
        assert sender.received <= MAX_BODY_BYTES // PART


async def test_a_body_that_stops_is_not_waited_for_twice() -> None:
    sender = Sender(1, stops=True)
    body = body_of(sender, 2 * PART)
    await body.receive()
    assert not await body.is_over()
    assert not await body_of(Sender(1, stops=True), 2 * PART).is_over()


async def test_who_waits_for_100_is_not_invited_to_send() -> None:
    sender = Sender(1)
    assert not await body_of(sender, PART, expect="100-continue").is_over()
    assert sender.received == 0
