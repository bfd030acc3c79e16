"""The store of answers: with the effect or not at all, sealed, for its caller alone."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from litestar.datastructures import Headers

from registry.errors import Conflict, Unprocessable
from registry.interfaces.rest.idempotency import (
    HEADER,
    LIFETIME,
    AnsweredBefore,
    idempotent,
)
from tests.db.scene import Scene

KEY = b"w" * 32


@pytest.fixture(autouse=True)
async def empty(scene: Scene) -> None:
    async with scene.api.begin() as connection:
        await connection.exec_driver_sql("DELETE FROM registry.idempotent_answer")


@dataclass
class FakeRequest:
    """As much of a request as is looked at."""

    key: str | None = "key-1"
    address: str = "192.0.2.1"
    content: bytes = b"{}"
    path: bytes = b"/v1/things"
    headers: Any = field(init=False)

    def __post_init__(self) -> None:
        self.headers = Headers({HEADER: self.key} if self.key else {})
        self.scope = {
            "method": "POST",
            "raw_path": self.path,
            "query_string": b"",
            "client": (self.address, 1),
        }
        self.route_handler = SimpleNamespace(status_code=201)

    async def body(self) -> bytes:
        return self.content


def services(scene: Scene, later: timedelta = timedelta(0)) -> Any:
    return SimpleNamespace(
        clock=lambda: scene.ids.clock() + later, ids=scene.ids, web_key=KEY
    )


async def call(
    scene: Scene,
    query: FakeRequest,
    view: object,
    *,
    operator: str | None = None,
    later: timedelta = timedelta(0),
) -> tuple[bool, Any]:
    """Return whether it took effect, and the body of the answer."""
    request: Any = query
    own = services(scene, later)
    try:
        async with idempotent(request, own, scene.api, operator) as current:
            return True, (await current.answer(view)).content
    except AnsweredBefore as before:
        return False, before.answer.content


async def test_it_takes_effect_once(scene: Scene) -> None:
    first = await call(scene, FakeRequest(), {"n": 1})
    assert first == (True, b'{"n":1}')
    assert await call(scene, FakeRequest(), {"n": 2}) == (False, b'{"n":1}')


async def test_without_a_key_each_takes_effect(scene: Scene) -> None:
    for number in range(2):
        took_effect, _ = await call(scene, FakeRequest(key=None), {"n": number})
        assert took_effect


@pytest.mark.parametrize(
    ("changes", "operator"),
    [
        ({"address": "192.0.2.2"}, None),
        ({"address": "2001:db8::1"}, None),
        ({"key": "key-2"}, None),
        ({}, "an-operator"),
        ({"address": "another"}, "192.0.2.1"),
    ],
)
async def test_a_stranger_neither_reads_nor_blocks_it(
    scene: Scene, changes: dict[str, Any], operator: str | None
) -> None:
    await call(scene, FakeRequest(), {"secret": 1})
    answer = await call(scene, FakeRequest(**changes), {"own": 2}, operator=operator)
    assert answer == (True, b'{"own":2}')
    assert await call(scene, FakeRequest(), {}) == (False, b'{"secret":1}')


async def test_an_operator_is_the_same_from_anywhere(scene: Scene) -> None:
    await call(scene, FakeRequest(), {"n": 1}, operator="op")
    elsewhere = FakeRequest(address="198.51.100.7")
    assert await call(scene, elsewhere, {}, operator="op") == (False, b'{"n":1}')


@pytest.mark.parametrize("changes", [{"content": b"{ }"}, {"path": b"/v1/others"}])
async def test_another_request_with_the_key_is_refused(
    scene: Scene, changes: dict[str, Any]
) -> None:
    await call(scene, FakeRequest(), {"n": 1})
    with pytest.raises(Unprocessable):
        await call(scene, FakeRequest(**changes), {"n": 2})


async def test_in_flight_the_key_is_taken(scene: Scene) -> None:
    request: Any = FakeRequest()
    async with idempotent(request, services(scene), scene.api) as first:
        with pytest.raises(Conflict):
            await call(scene, FakeRequest(), {"n": 2})
        await first.answer({"n": 1})
    assert await call(scene, FakeRequest(), {}) == (False, b'{"n":1}')


async def test_what_was_broken_off_leaves_nothing(scene: Scene) -> None:
    """As when the process is killed: the transaction ends with its connection."""
    request: Any = FakeRequest()

    async def break_off() -> None:
        async with idempotent(request, services(scene), scene.api) as first:
            await first.answer({"n": 1})
            await first.connection.exec_driver_sql("CREATE TEMP TABLE effect ()")
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await break_off()
    assert await call(scene, FakeRequest(), {"n": 2}) == (True, b'{"n":2}')


async def test_it_expires_and_what_expired_is_taken_away(scene: Scene) -> None:
    for number in range(5):
        await call(scene, FakeRequest(key=f"old-{number}"), {"n": number})
    later = LIFETIME + timedelta(seconds=1)
    assert await call(scene, FakeRequest(key="old-1"), {"n": 9}, later=later) == (
        True,
        b'{"n":9}',
    )
    (row,) = await scene.sql("SELECT count(*) AS n FROM registry.idempotent_answer")
    assert row.n == 1


async def test_nothing_of_it_can_be_read_in_the_database(scene: Scene) -> None:
    await call(scene, FakeRequest(key="tell-tale"), {"apiKey": "s3cret"})
    (row,) = await scene.sql("SELECT * FROM registry.idempotent_answer")
    stored = b"".join(bytes(value) for value in row[:3])
    for text in (b"s3cret", b"tell-tale", b"192.0.2.1"):
        assert text not in stored
