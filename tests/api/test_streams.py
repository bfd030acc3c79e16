"""Event streams have slots, so that they leave connections and database to others."""

import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from registry.errors import RateLimited, Unavailable
from registry.identity.statements.jws import sign_compact
from registry.interfaces.http.streams import StreamSlots
from tests.api import expect
from tests.api.running import RunningRegistry
from tests.waiting import awaited


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_a_client_has_some_slots_and_others_have_theirs(stack: ExitStack) -> None:
    slots = StreamSlots(streams=10, of_client=2)
    first = slots.slot("192.0.2.1")
    first.__enter__()
    stack.enter_context(slots.slot("192.0.2.1"))
    with pytest.raises(RateLimited, match="too_many_streams") as refused:
        stack.enter_context(slots.slot("192.0.2.1"))
    assert refused.value.retry_after_s
    stack.enter_context(slots.slot("192.0.2.2"))
    first.__exit__(None, None, None)
    stack.enter_context(slots.slot("192.0.2.1"))


def test_a_process_has_so_many_and_gets_them_back(stack: ExitStack) -> None:
    slots = StreamSlots(streams=3, of_client=2)
    for _ in range(5):
        with ExitStack() as held:
            for number in range(3):
                held.enter_context(slots.slot(f"192.0.2.{number}"))
            with pytest.raises(Unavailable, match="streams_taken") as refused:
                held.enter_context(slots.slot("192.0.2.9"))
            assert refused.value.retry_after_s
    assert not slots._open, "nobody who has left is remembered"


def test_a_48_has_no_more_slots_than_some_clients(stack: ExitStack) -> None:
    slots = StreamSlots(streams=1_000, of_client=2)
    for number in range(8):
        stack.enter_context(slots.slot(f"2001:db8:1:{number}::1"))
    with pytest.raises(RateLimited):
        stack.enter_context(slots.slot("2001:db8:1:99::1"))
    stack.enter_context(slots.slot("2001:db8:2:1::1"))


def test_a_stream_that_its_client_leaves_gives_its_slot_back(
    registry: RunningRegistry,
) -> None:
    """The host is nowhere; until it was tried again for minutes, nothing is decided."""
    host = "nobody-serves-here.test"
    challenge = registry.http.post("/v1/challenges", json={"host": host}).json()
    now = int(time.time())
    payload = {
        **challenge["payload"],
        "docs": [{"url": f"https://{host}/a.json"}],
        "iat": now,
        "exp": now + 600,
    }
    key = registry.town.site("zaytoun-table.test").private_key
    token = sign_compact({k: v for k, v in payload.items() if v is not None}, key)
    url = f"/v1/registrations/{registry.submit(token).json()['id']}/events"

    def opened(stack: ExitStack) -> httpx.Response:
        return stack.enter_context(registry.http.stream("GET", url))

    for _ in range(2):
        with ExitStack() as stack:
            answers = [opened(stack) for _ in range(5)]
            statuses = [answer.status_code for answer in answers]
            assert statuses == [200] * 4 + [429]
            answers[-1].read()
            expect.problem(answers[-1], 429, "too_many_streams")
            assert int(answers[-1].headers["Retry-After"]) > 0
            assert registry.http.get("/health/live").status_code == 200

        def is_free() -> bool:
            with ExitStack() as stack:
                return opened(stack).status_code == 200

        awaited("a slot to be free again", is_free)
