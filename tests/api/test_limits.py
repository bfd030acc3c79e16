"""What a network, an operator and an auditor may use, and what who goes beyond is told."""

import asyncio
import gc
import re
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from litestar import Litestar, get, post
from litestar.testing import AsyncTestClient
from structlog.testing import capture_logs

from registry.errors import RateLimited, RegistryError, Unauthorized, Unavailable
from registry.interfaces.http.bucket_table import BucketTable, Quota
from registry.interfaces.http.client_networks import networks_of
from registry.interfaces.http.credentials import Call, admit_caller
from registry.interfaces.http.envelope import Envelope
from registry.interfaces.http.limits import (
    HOLD_UP_S,
    LIMITS,
    TOGETHER,
    Kind,
    Limits,
    limit_accounts,
    limit_writes,
)
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.streams import STREAMS, STREAMS_OF_CLIENT
from registry.usecases.refusals import OPERATOR_KEY_UNKNOWN
from tests.api import expect
from tests.api.running import RunningRegistry

IPV4, IPV6 = "192.0.2.1", "2001:db8:1:1::1"
OPERATOR, AUDITOR = "operator-id", "auditor-id"


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def room() -> Any:
    return SimpleNamespace(is_short=False)


@pytest.fixture
def limits(clock: Clock, room: Any) -> Limits:
    buckets = BucketTable(None, b"k" * 32)
    return Limits(buckets, clock=clock, auditors=frozenset([AUDITOR]), room=room)


def refusal(
    limits: Limits,
    address: str = IPV4,
    kind: Kind = Kind.SEARCH,
    account: str | None = None,
) -> RegistryError | None:
    refuse = limits.allow(asgi_scope(address), kind, account).refusal
    return refuse() if refuse else None


def asgi_scope(address: str) -> Any:
    return {"type": "http", "client": (address, 1), "headers": [], "state": {}}


def passes(limits: Limits, address: str = IPV4, **given: Any) -> int:
    """How many pass before one is refused."""
    passed = 0
    while refusal(limits, address, **given) is None:
        passed += 1
    return passed


def test_an_honest_agent_may_search_three_hundred_times_at_once(
    limits: Limits, clock: Clock
) -> None:
    assert passes(limits) == 300
    clock.now_s += 1
    assert passes(limits) == 20


def test_an_operator_with_a_key_has_more_and_shares_it_with_nobody(
    limits: Limits,
) -> None:
    assert passes(limits) == 300
    assert passes(limits, account=OPERATOR) == 1_000
    assert passes(limits, account="another") == 1_000


def test_many_accounts_in_one_network_are_bounded_together(limits: Limits) -> None:
    passed = [passes(limits, account=str(number)) for number in range(10)]
    assert sum(passed) == TOGETHER * 1_000
    assert passes(limits, "192.0.2.2", account="elsewhere") == 1_000


def test_each_kind_is_counted_by_itself(limits: Limits) -> None:
    for kind, row in LIMITS.items():
        assert passes(limits, kind=kind) == row.anonymous.burst, kind


def test_a_network_of_ipv6_is_bounded_however_many_addresses_it_has(
    limits: Limits,
) -> None:
    assert passes(limits, "2001:db8:1:1::1") == 300
    assert passes(limits, "2001:db8:1:1::2") == 0
    assert passes(limits, "2001:db8:1:2::1") == 300
    in_the_48 = sum(passes(limits, f"2001:db8:1:{n:x}::1") for n in range(3, 3_000))
    assert 600 + in_the_48 == TOGETHER * 300
    assert passes(limits, "2001:db8:2:1::1") == 300


def test_a_48_pushes_nobody_out(limits: Limits) -> None:
    """65,536 networks knock; he who has spent what he had is still known."""
    passes(limits, IPV4)
    for number in range(1 << 16):
        refusal(limits, f"2001:db8:1:{number:x}::1")
    assert refusal(limits, IPV4) is not None


def test_a_known_auditor_has_more_reports(limits: Limits) -> None:
    kind = Kind.REPORT
    assert [
        passes(limits, kind=kind, account=account)
        for account in (None, OPERATOR, AUDITOR)
    ] == [6, 12, 30]


def test_without_room_the_anonymous_go_first(limits: Limits, room: Any) -> None:
    room.is_short = True
    for kind in (Kind.SEARCH, Kind.SELECTION):
        refused = refusal(limits, kind=kind)
        assert isinstance(refused, Unavailable)
        assert refused.code == "anonymous_turned_away"
        assert refused.retry_after_s
        assert refusal(limits, kind=kind, account=OPERATOR) is None
    for kind in (Kind.ERASURE, Kind.REPORT, Kind.WRITE):
        assert refusal(limits, kind=kind) is None


@pytest.mark.parametrize(
    ("item", "two", "is_same"),
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
    item: str, two: str, *, is_same: bool
) -> None:
    assert (networks_of(item)[0] == networks_of(two)[0]) is is_same


@asynccontextmanager
async def application(limits: Limits) -> AsyncIterator[AsyncTestClient[Litestar]]:
    @post("/write", guards=[limit_writes])
    async def write() -> None: ...

    @post("/account", guards=[limit_accounts])
    async def account() -> None: ...

    @get("/search")
    async def search(request: Call) -> None:
        await admit_caller(request, app.state.services, Kind.SEARCH)

    class Operators:
        async def of_api_key(self, api_key: str) -> str:
            if api_key != "right":
                raise Unauthorized(OPERATOR_KEY_UNKNOWN)
            return OPERATOR

    app = Litestar(
        [write, account, search],
        exception_handlers=EXCEPTION_HANDLERS,
        openapi_config=None,
        logging_config=None,
    )
    app.asgi_handler = Envelope(app.asgi_handler)
    app.state.services = SimpleNamespace(limits=limits, operators=Operators())
    async with AsyncTestClient(app) as client:
        yield client


async def test_the_refusal_says_when_to_come_back(limits: Limits) -> None:
    async with application(limits) as client:
        passed = [await client.post("/account") for _ in range(10)]
        refused = await client.post("/account")
        other = await client.post("/write")
    assert [answer.status_code for answer in (*passed, other)] == [201] * 11
    assert passed[0].headers["RateLimit-Policy"] == '"account";q=10;w=600'
    assert passed[0].headers["RateLimit"] == '"account";r=9;t=60'
    expect.problem(refused, 429, "too_many_requests")
    assert refused.headers["Retry-After"] == "60"
    assert refused.headers["RateLimit"] == '"account";r=0;t=600'
    assert other.headers["RateLimit"] == '"writes";r=119;t=1'


async def test_a_refusal_is_gone_with_its_request(
    limits: Limits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits for the garbage collector makes it stop a process for 30 ms at once."""
    monkeypatch.setattr("registry.interfaces.http.limits.HOLD_UP_S", 0.0)
    passes(limits)
    scope = _Scope(asgi_scope(IPV4))
    left = weakref.ref(scope)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(RateLimited) as refused:
            await limits.admit(scope, Kind.SEARCH)
        del scope, refused
        assert left() is None
    finally:
        gc.enable()


class _Scope(dict[str, Any]):
    """A scope that a weak reference may name."""


async def test_who_is_refused_waits_a_little_and_nobody_else(limits: Limits) -> None:
    """So that a client without pause can not have a core of refusals."""
    loop, scope = asyncio.get_running_loop(), asgi_scope(IPV4)
    passes(limits, kind=Kind.REPORT)
    began = loop.time()
    refusals = [limits.admit(scope, Kind.REPORT) for _ in range(3)]
    ended = await asyncio.gather(*refusals, return_exceptions=True)
    assert all(isinstance(refused, RateLimited) for refused in ended)
    assert loop.time() - began >= HOLD_UP_S * 0.99
    assert limits._held_up == 0


async def test_who_guesses_keys_is_counted_as_anonymous(limits: Limits) -> None:
    async with application(limits) as client:

        async def ask(key: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {key}"}
            return await client.get("/search", headers=headers)

        statuses = [(await ask("wrong")).status_code for _ in range(301)]
        assert statuses == [401] * 300 + [429]
        assert (await client.get("/search")).status_code == 429
        assert (await ask("right")).headers["RateLimit"] == '"search-key";r=999;t=1'


def test_errors_that_are_limits_say_the_pace(limits: Limits) -> None:
    passes(limits, kind=Kind.REPORT)
    refused = refusal(limits, kind=Kind.REPORT)
    assert isinstance(refused, RateLimited)
    assert refused.problem.detail == "6 may come at once, and 1 in 20 s after that"


def test_what_costs_work_is_limited(registry: RunningRegistry) -> None:
    http = registry.http
    ranking = registry.search()["ranking"]
    selection = {"rankingId": ranking["id"], "siteId": None}
    signed = {"Content-Type": "application/jose"}
    for policy, answer in (
        ("writes", http.post("/v1/challenges", json={"host": "a.test"})),
        ("writes", registry.submit("x")),
        ("account", http.post("/v1/operators", content="x", headers=signed)),
        ("search", http.get("/v1/search", params={"q": "book a table"})),
        ("search", http.post("/v1/search", json={"q": "book a table"})),
        ("search", http.get("/", params={"q": "book a table"})),
        (
            "search",
            http.get("/v1/search", params={"q": " "}),
        ),  # a mistake, and it counts
        ("selection", http.post("/v1/selections", json=selection)),
        ("erasure", http.post(f"/v1/rankings/{ranking['id']}/erase")),
        ("report", http.get("/v1/reports/fairness")),
        ("lint", http.post("/v1/lint", json={})),
        ("lint", http.get("/v1/sites/zaytoun-table.test/advice")),
    ):
        assert answer.headers["RateLimit-Policy"].startswith(f'"{policy}";q='), policy
        assert re.fullmatch(rf'"{policy}";r=\d+;t=\d+', answer.headers["RateLimit"])
    assert "RateLimit" not in http.get("/v1/policy").headers


def test_the_page_has_the_table() -> None:
    root = Path(__file__).parents[2]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (root / "docs/limits.md").read_text().splitlines()
        if line.startswith("|")
    ]
    stated = {(row[4].strip("`"), row[2].replace(",", ""), row[3]) for row in rows}
    for kind, row in LIMITS.items():
        columns = {kind.value: row.anonymous, f"{kind.value}-key": row.operator}
        for name, limit in columns.items():
            if kind is Kind.INQUIRY:
                continue  # it has auditors only
            if limit is not None:
                assert (name, str(limit.burst), pace_of(limit)) in stated, name
    report, inquiry = LIMITS[Kind.REPORT].auditor, LIMITS[Kind.INQUIRY].anonymous
    assert report
    assert ("report-key", str(report.burst), pace_of(report)) in stated
    assert ("inquiry-key", str(inquiry.burst), pace_of(inquiry)) in stated
    assert f"{STREAMS_OF_CLIENT} at once" in {row[2] for row in rows}
    assert f"{STREAMS} at once" in {row[2] for row in rows}


def pace_of(limit: Quota) -> str:
    if limit.per_s >= 1:
        return f"{limit.per_s:g}/s"
    return f"{limit.per_s * 60:g}/min"


@pytest.mark.parametrize(
    ("address", "lines"), [("10.0.0.1", 1), ("127.0.0.1", 1), ("1.1.1.1", 0)]
)
def test_a_proxy_that_is_counted_for_its_clients_is_named_once(
    limits: Limits, address: str, lines: int
) -> None:
    scope = asgi_scope(address) | {"headers": [(b"x-forwarded-for", b"192.0.2.1")]}
    with capture_logs() as logged:
        for _ in range(10):
            limits.allow(scope, Kind.REPORT)
    assert [line["event"] for line in logged] == ["proxy_not_trusted"] * lines
