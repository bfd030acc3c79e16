"""A search is answered alike around the framework and through it."""

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from litestar import Litestar
from litestar.connection.base import empty_receive, empty_send
from litestar.types import Message

from registry.app import create_app
from registry.errors import RateLimited, Unauthorized, Unavailable
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.refusals import TOO_MANY_REQUESTS
from registry.interfaces.rest.search.search_shortcut import plain_search
from registry.records.promise import Promise
from registry.records.record import Record
from registry.settings import Settings
from registry.sites.gazetteer import Gazetteer
from registry.usecases.ids import utc_now
from registry.usecases.refusals import CREDENTIALS_INVALID, NOT_READY
from registry.usecases.search.answer_search import Answer
from registry.usecases.search.search_query import SearchQuery

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
RECORD_ID = "01M7X9V14RTW7B5DBF5C4YMN31"
SHORT, LONG = "/v1/search", "/v1/search/"
HOST = (b"host", b"registry.example")
Headers = tuple[tuple[bytes, bytes], ...]


class Reply(NamedTuple):
    """calls: what reached the use case."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes
    calls: list[Any]


class Searching:
    """A use case that gives one answer, or raises."""

    def __init__(self) -> None:
        self.follower = SimpleNamespace(policy=SimpleNamespace(digest="sha256:0"))
        self.error: BaseException | None = None
        self.calls: list[Any] = []

    async def search(self, *given: Any) -> Answer:
        self.calls.append(given)
        if self.error is not None:
            raise self.error
        return Answer(
            record=Record(id=RECORD_ID, kind="ranking", body=b"{}"),
            number=None,
            policy="sha256:0",
            generated_at=NOW,
            eligible=0,
            is_exact=True,
            corrected={},
            near=(),
            mentions=(),
            facets={},
            results=(),
            brief=(),
            promise=Promise(unix_ms=0, key_id="0" * 16, signature=b""),
            continuation=None,
        )


class Operators:
    async def of_api_key(self, key: str) -> str:
        if key != "known":
            raise Unauthorized(CREDENTIALS_INVALID)
        return "OPERATOR"


class OneLimit:
    """A limit that tells of itself in each answer, and may be used up."""

    def __init__(self) -> None:
        self.is_used_up = False

    async def admit(self, scope: Any, kind: Kind, account: str | None = None) -> None:
        headers_of_answer(scope)["RateLimit"] = f'"{kind.value}";r={account}'
        if self.is_used_up:
            raise RateLimited(TOO_MANY_REQUESTS, retry_after_s=7)


class BothWays:
    """The application of the web processes, but for what is behind the use case."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self.searching = Searching()
        self.limits = OneLimit()
        self._app: Litestar = create_app(Settings())
        self._app.state.services = SimpleNamespace(
            searcher=self.searching,
            operators=Operators(),
            gazetteer=gazetteer,
            web_key=b"k" * 32,
            clock=utc_now,
            limits=self.limits,
            origin="https://registry.example",
        )

    def ask(self, path: str, query: bytes, headers: Headers, method: str) -> Reply:
        self.searching.calls.clear()
        scope = scope_of(query, path=path, headers=headers, method=method)
        messages = asyncio.run(self._call(scope))
        start, *rest = messages
        return Reply(
            status=start["status"],
            headers=[
                (name, value)
                for name, value in start["headers"]
                if name != b"x-request-id"
            ],
            body=b"".join(message["body"] for message in rest),
            calls=[*self.searching.calls],
        )

    async def _call(self, scope: Any) -> list[Any]:
        messages: list[Message] = []

        async def send(message: Message) -> None:
            messages.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        await self._app(scope, receive, send)
        return messages


def scope_of(query: bytes, **others: Any) -> Any:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "scheme": "http",
        "path": SHORT,
        "raw_path": SHORT.encode(),
        "root_path": "",
        "method": "GET",
        "query_string": query,
        "headers": [HOST],
        "client": ("192.0.2.1", 50_000),
        "server": ("192.0.2.2", 80),
        "extensions": {},
    }
    return {**scope, **others}


@pytest.fixture(scope="module")
def both(gazetteer: Gazetteer) -> BothWays:
    return BothWays(gazetteer)


def answered_alike(
    both: BothWays, query: bytes, headers: Headers = (HOST,), method: str = "GET"
) -> Reply:
    """Return the answer, which is the same by both ways."""
    long = both.ask(LONG, query, headers, method)
    assert both.ask(SHORT, query, headers, method) == long
    return long


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param(b"q=book+a%20table&lat=-31.95&lon=35&limit=20", 200, id="plain"),
        pytest.param(b"q=null&city=Amman&nonce=true", 200, id="texts"),
        pytest.param(b"q=a&requiresAuth=false&facets=country,action", 200, id="lists"),
        pytest.param(b"q=a&detail=brief", 200, id="in brief"),
        pytest.param(b"q=a=b&country=jo", 200, id="an equals sign"),
        pytest.param("q=caf\u00e9".encode(), 200, id="not ASCII"),
        pytest.param(b"q=a&city=", 200, id="an empty city"),
        pytest.param(b"q=a&&limit=2", 200, id="an empty pair"),
        pytest.param(b"", 400, id="nothing"),
        pytest.param(b"lat=1&lon=2", 400, id="without words"),
        pytest.param(b"q=", 400, id="empty words"),
        pytest.param(b"q=%20", 400, id="words that say nothing"),
        pytest.param(b"q=a&q=b", 400, id="twice"),
        pytest.param(b"q=a&unknown=1", 400, id="unknown"),
        pytest.param(b"q=a&limit=0&lat=91&lon=nan", 400, id="several are wrong"),
        pytest.param(b"q=a&limit=1.5", 400, id="no whole number"),
        pytest.param(b"q=a&lat=1", 400, id="half a point"),
        pytest.param(b"q=a&requiresAuth=1", 400, id="no boolean"),
        pytest.param(b"q=a&facets=colour", 400, id="no facet"),
        pytest.param(b"q=a&format=none", 400, id="no format"),
        pytest.param(b"q=a&cursor=no", 400, id="no cursor"),
        pytest.param(b"q=a&city=Nowhereville", 400, id="no city"),
        pytest.param(b"q=%ff", 400, id="not UTF-8"),
        pytest.param(b"q=a%00", 400, id="a control character"),
        pytest.param(b"q=a;limit=2", 200, id="another separator"),
        pytest.param(b"q=" + b"a" * 1_001, 400, id="too long"),
    ],
)
def test_both_ways_answer_alike(both: BothWays, query: bytes, status: int) -> None:
    assert answered_alike(both, query).status == status


@pytest.mark.parametrize(
    ("headers", "method", "status"),
    [
        pytest.param((HOST,), "HEAD", 200, id="without the content"),
        pytest.param((HOST, (b"authorization", b"Bearer known")), "GET", 200, id="key"),
        pytest.param((HOST, (b"authorization", b"Bearer no")), "GET", 401, id="no key"),
        pytest.param((HOST, (b"authorization", b"a")), "GET", 401, id="no bearer"),
        pytest.param((HOST, *[(b"authorization", b"a")] * 2), "GET", 401, id="two"),
        pytest.param((HOST, (b"origin", b"https://a.example")), "GET", 200, id="page"),
        pytest.param((HOST, (b"accept", b"text/html")), "GET", 200, id="accept"),
        pytest.param((), "GET", 400, id="no host"),
        pytest.param(((b"host", b"[::1]:8080"),), "GET", 200, id="an address"),
        pytest.param(((b"host", b"a b"),), "GET", 400, id="a wrong host"),
        pytest.param((HOST,), "DELETE", 405, id="another method"),
        pytest.param((HOST,), "OPTIONS", 400, id="options"),
    ],
)
def test_whoever_asks_is_answered_alike(
    both: BothWays, headers: Headers, method: str, status: int
) -> None:
    assert answered_alike(both, b"q=a", headers, method).status == status


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Unavailable(NOT_READY, retry_after_s=1), 503),
        (TimeoutError(), 503),
        (ConnectionResetError(), 503),
        (RecursionError(), 400),
        (KeyError("secret"), 500),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_what_fails_is_reported_alike(
    both: BothWays, error: Exception, status: int
) -> None:
    both.searching.error = error
    try:
        assert answered_alike(both, b"q=a").status == status
    finally:
        both.searching.error = None


def test_limits_hold_on_both_ways(both: BothWays) -> None:
    assert b"ratelimit" in dict(answered_alike(both, b"q=a").headers)
    both.limits.is_used_up = True
    try:
        assert answered_alike(both, b"q=a").status == 429
    finally:
        both.limits.is_used_up = False


NAMES = [field.encode_name for field in msgspec.structs.fields(SearchQuery)]
VALUES = st.sampled_from(
    ["", "a", "1", "0", "35.5", "-1e1", "nan", "null", "true", "Amman", "JO", "wab"]
) | st.text(max_size=12)
PAIRS = st.lists(st.tuples(st.sampled_from([*NAMES, "q", "Q", ""]), VALUES), max_size=5)
SPELLINGS = st.binary(max_size=40) | st.text("q=&%+;a1/", max_size=20).map(str.encode)


@given(
    query=PAIRS.map(lambda pairs: urlencode([("q", "a"), *pairs]).encode())
    | PAIRS.map(lambda pairs: urlencode(pairs, errors="surrogatepass").encode())
    | SPELLINGS
)
def test_whatever_is_asked_is_answered_alike(both: BothWays, query: bytes) -> None:
    answered_alike(both, query)


@pytest.mark.parametrize(
    ("query", "others"),
    [
        pytest.param(b"", {}, id="a parameter is missing"),
        pytest.param(b"q=a&q=b", {}, id="twice"),
        pytest.param(b"q=a&unknown=1", {}, id="unknown"),
        pytest.param(b"q=a", {"method": "POST"}, id="another method"),
        pytest.param(b"q=a", {"path": LONG}, id="another path"),
        pytest.param(b"q=a", {"type": "websocket"}, id="no HTTP"),
        pytest.param(b"q=a", {"root_path": "/under"}, id="under a path"),
        pytest.param(b"q=a", {"headers": [HOST, HOST]}, id="two hosts"),
        pytest.param(
            *(b"q=a", {"headers": [HOST, (b"origin", b"null")]}), id="from a page"
        ),
    ],
)
def test_what_the_framework_decides_goes_its_way(
    query: bytes, others: dict[str, Any]
) -> None:
    def is_plain(scope: Any) -> bool:
        return plain_search(scope, empty_receive, empty_send) is not None

    assert is_plain(scope_of(b"q=a&limit=5"))
    assert not is_plain(scope_of(query, **others))


def test_a_search_names_the_network_of_its_client(both: BothWays) -> None:
    """What a process remembers of a request is for that network alone."""
    ((resolved, _),) = both.ask(SHORT, b"q=bread", (HOST,), "GET").calls

    assert resolved.network == "192.0.2.1"
