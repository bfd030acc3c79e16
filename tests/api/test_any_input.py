"""Whatever is sent, the answer is the call's own or a problem, and never a 5xx."""

import json
from typing import Any

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api import expect

EXAMPLES = settings(max_examples=120)
FEWER = settings(max_examples=50)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=40)
    | st.text(alphabet="\0\t\x1b\ud800\udfff\u202e\ufffeé🦊aÅ", max_size=12)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def members_of(**likely: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with these members, or with some of them spoiled, or others."""
    sound = st.fixed_dictionaries({}, optional=likely)
    spoiled = st.dictionaries(
        st.sampled_from(sorted(likely)) | st.text(max_size=8), values, max_size=3
    )
    return st.builds(lambda item, two: {**item, **two}, sound, spoiled | st.just({}))


words = st.sampled_from(["book a table", "repair a bicycle", "a", "🦊 ñandú", "the"])
searches = members_of(
    q=words | st.text(max_size=60),
    lat=st.floats(-90, 90),
    lon=st.floats(-180, 180),
    city=st.sampled_from(["Amman", "Berlin", "", "Nowhereville"]),
    country=st.sampled_from(["JO", "Germany", "", "Narnia"]),
    category=st.text(max_size=12),
    format=st.sampled_from(["wab", "awp", "none"]),
    conformance=st.sampled_from(["strict", "tolerated", "none"]),
    permission=st.text(max_size=12),
    requiresAuth=st.booleans(),
    action=st.text(max_size=12),
    language=st.text(max_size=12),
    facets=st.lists(st.sampled_from(["country", "requiresAuth", "action"]), max_size=9),
    limit=st.integers(-5, 200),
    cursor=st.text(max_size=80),
    nonce=st.text(max_size=70),
)
challenges = members_of(
    host=st.text(max_size=80) | st.sampled_from(["a.test", "x.com"])
)
selections = members_of(
    rankingId=st.text(max_size=60) | st.just("01M7X9V14RTW7B5DBF5C4YMN31.x"),
    siteId=st.none() | st.text(max_size=14),
    outcome=st.none() | st.text(max_size=40),
)


def check(answer: httpx.Response, *statuses: int) -> None:
    if answer.status_code in statuses:
        assert answer.headers["Content-Type"] == "application/json"
        answer.json()
    else:
        assert 400 <= answer.status_code < 500, answer.text
        expect.problem(answer, answer.status_code)


def post(http: httpx.Client, path: str, sent: Any) -> httpx.Response:
    content = json.dumps(sent).encode()
    headers = {"Content-Type": "application/json"}
    return http.post(path, content=content, headers=headers)


@EXAMPLES
@given(query=searches | values)
def test_any_search_is_answered(http: httpx.Client, query: Any) -> None:
    check(post(http, "/v1/search", query), 200)


@FEWER
@given(query=challenges | values)
def test_any_challenge_is_answered(http: httpx.Client, query: Any) -> None:
    check(post(http, "/v1/challenges", query), 201)


@FEWER
@given(query=selections | values)
def test_any_selection_is_answered(http: httpx.Client, query: Any) -> None:
    check(post(http, "/v1/selections", query), 201)


@FEWER
@given(
    content=st.binary(max_size=200),
    path=st.sampled_from(["search", "challenges", "selections", "registrations"]),
)
def test_any_bytes_are_answered(http: httpx.Client, content: bytes, path: str) -> None:
    kind = "application/jose" if path == "registrations" else "application/json"
    headers = {"Content-Type": kind}
    check(http.post(f"/v1/{path}", content=content, headers=headers), 200, 201, 202)


@FEWER
@given(parts=st.lists(st.binary(max_size=30), min_size=3, max_size=3))
def test_any_token_is_answered(http: httpx.Client, parts: list[bytes]) -> None:
    headers = {"Content-Type": "application/jose"}
    check(http.post("/v1/registrations", content=b".".join(parts), headers=headers))


@EXAMPLES
@given(
    path=st.sampled_from(
        ["/v1/search", "/v1/sites", "/v1/reports/fairness", "/v1/sites/a.test"]
    ),
    query=st.lists(
        st.tuples(
            st.sampled_from(
                [
                    *("q", "lat", "lon", "limit", "cursor", "from", "to", "as"),
                    *("form", "operator", "category"),
                ]
            )
            | st.text(alphabet=st.characters(codec="utf-8"), max_size=6),
            st.text(alphabet=st.characters(codec="utf-8"), max_size=30),
        ),
        max_size=4,
    ),
)
def test_any_query_is_answered(
    http: httpx.Client, path: str, query: list[tuple[str, str]]
) -> None:
    check(http.get(path, params=query), 200)


@FEWER
@given(
    prefix=st.sampled_from(
        ["/v1/sites/", "/v1/rankings/", "/v1/registrations/", "/tile/", "/problems/"]
    ),
    rest=st.binary(min_size=1, max_size=30),
)
def test_any_path_is_answered(http: httpx.Client, prefix: str, rest: bytes) -> None:
    escaped = "".join(f"%{byte:02x}" for byte in rest)
    check(http.get(prefix + escaped), 200)
