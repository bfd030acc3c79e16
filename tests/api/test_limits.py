from types import SimpleNamespace

import pytest
from litestar import Litestar, post
from litestar.testing import AsyncTestClient

from registry.interfaces.http import limits
from registry.interfaces.http.envelope import Envelope
from registry.interfaces.http.limits import TokenBuckets, client_of, limit_writes
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from tests.api import expect
from tests.api.running import RunningRegistry


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def buckets(clock: Clock) -> TokenBuckets:
    return TokenBuckets(burst=3, refill_per_s=0.5, clock=clock)


def test_a_burst_passes_and_then_no_more(buckets: TokenBuckets) -> None:
    assert [buckets.take("a").wait_s for _ in range(4)] == [0, 0, 0, 2]


def test_clients_do_not_share_a_bucket(buckets: TokenBuckets) -> None:
    for _ in range(4):
        buckets.take("a")
    assert buckets.take("b").left == 2


def test_tokens_come_back_with_time(buckets: TokenBuckets, clock: Clock) -> None:
    for _ in range(3):
        buckets.take("a")
    clock.now_s = 1.9
    assert buckets.take("a").wait_s == 1
    clock.now_s = 2.1
    assert buckets.take("a").wait_s == 0
    clock.now_s = 10_000
    assert [buckets.take("a").wait_s for _ in range(4)] == [0, 0, 0, 2]


def test_a_client_that_was_told_to_wait_passes_after_it(
    buckets: TokenBuckets, clock: Clock
) -> None:
    for _ in range(3):
        buckets.take("a")
    clock.now_s += buckets.take("a").wait_s
    assert buckets.take("a").wait_s == 0


def test_many_clients_do_not_fill_the_memory(
    buckets: TokenBuckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_CLIENTS", 10)
    for number in range(100):
        buckets.take(str(number))
    assert len(buckets._buckets) == 10


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::ffff:1:2:3", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("unix:", "unix:", True),
        ("", "", True),
    ],
)
def test_a_client_is_an_address_or_a_network(
    one: str, two: str, *, is_same: bool
) -> None:
    assert (client_of(one) == client_of(two)) is is_same


async def test_the_refusal_says_when_to_come_back(buckets: TokenBuckets) -> None:
    @post("/", guards=[limit_writes])
    async def write() -> None: ...

    app = Litestar(
        [write],
        exception_handlers=EXCEPTION_HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    app.asgi_handler = Envelope(app.asgi_handler)
    app.state.services = SimpleNamespace(write_limits=buckets)
    async with AsyncTestClient(app) as client:
        passed = [await client.post("/") for _ in range(3)]
        refused = await client.post("/")
    assert [one.status_code for one in passed] == [201] * 3
    assert passed[0].headers["RateLimit-Policy"] == '"writes";q=3;w=6'
    assert passed[0].headers["RateLimit"] == '"writes";r=2;t=2'
    expect.problem(refused, 429, "too_many_requests")
    assert refused.headers["Retry-After"] == "2"
    assert refused.headers["RateLimit"] == '"writes";r=0;t=6'


def test_the_two_writes_that_cost_work_are_limited(registry: RunningRegistry) -> None:
    challenge = registry.http.post("/v1/challenges", json={"host": "a.test"})
    submitted = registry.submit("x")
    for answer in (challenge, submitted):
        assert answer.headers["RateLimit-Policy"].startswith('"writes";q=')
        assert "r=" in answer.headers["RateLimit"]
    assert "RateLimit" not in registry.http.get("/v1/policy").headers
