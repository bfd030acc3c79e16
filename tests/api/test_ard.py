"""The face for clients of Agentic Resource Discovery."""

from urllib.parse import quote

import httpx
import pytest

from tests.api import expect
from tests.api.expect import Json
from tests.api.running import LISTED, RunningRegistry

WAB_TYPE = "application/wab+json"
MCP_TYPE = "application/mcp-server-card+json"
MORE = "errorCode message"


def search(http: httpx.Client, text: str = "book a table", **members: object) -> Json:
    body = {"query": {"text": text, **members.pop("query", {})}, **members}  # type: ignore[dict-item]
    answer = http.post("/ard/search", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_result_has_what_the_specification_asks_for(
    registry: RunningRegistry,
) -> None:
    answer = search(registry.http, city="Amman", country="JO")
    for result in answer["results"]:
        host = result["identifier"].split(":")[2]
        assert result["identifier"] == f"urn:air:{host}:site"
        assert result["type"] == WAB_TYPE
        assert result["source"] == f"{registry.origin}/ard"
        assert isinstance(result["score"], int)
        assert 0 <= result["score"] <= 100
        assert registry.http.get(result["url"]).status_code == 200
    scores = [result["score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert "referrals" not in answer


def test_the_fair_order_is_that_of_the_search_and_on_record(
    registry: RunningRegistry,
) -> None:
    place = {"city": "Amman", "country": "JO"}
    fair = search(registry.http, order="fair", **place)
    rest = registry.search(q="book a table", **place)
    assert [result["identifier"] for result in fair["results"]] == [
        f"urn:air:{result['site']['host']}:site" for result in rest["results"]
    ]
    record = registry.http.get(f"/v1/rankings/{fair['ranking']}").json()
    assert record["record"]["kind"] == "ranking"


def test_pages_follow_one_another(registry: RunningRegistry) -> None:
    whole = search(registry.http, order="fair", pageSize=100)
    first = search(registry.http, order="fair", pageSize=1)
    second = search(
        registry.http, order="fair", pageSize=1, pageToken=first["pageToken"]
    )
    assert first["results"] != second["results"]
    assert len(whole["results"]) > 2


def test_a_type_chooses_the_sites_that_have_it(registry: RunningRegistry) -> None:
    both = {"filter": {"type": [MCP_TYPE, WAB_TYPE]}}
    assert search(registry.http, query=both)["results"]
    for types in ([MCP_TYPE], ["application/unheard-of"]):
        chosen = {"filter": {"type": types}}
        assert search(registry.http, query=chosen)["results"] == []
    strict = {"filter": {"type": WAB_TYPE, "country": "TR", "tags": ["restaurant"]}}
    (only,) = search(registry.http, query=strict)["results"]
    assert only["identifier"] == "urn:air:galata-tables.test:site"


def test_referrals_are_none_for_want_of_an_upstream(registry: RunningRegistry) -> None:
    assert search(registry.http, federation="referrals")["referrals"] == []


@pytest.mark.parametrize("host", LISTED)
def test_an_entry_is_had_by_its_identifier(
    registry: RunningRegistry, host: str
) -> None:
    identifier = f"urn:air:{host}:site"
    entry = registry.http.get(f"/ard/agents/{quote(identifier, safe='')}").json()
    assert entry["identifier"] == identifier
    assert entry["displayName"]
    assert not {"score", "source", "data"} & set(entry)
    document = registry.http.get(entry["url"]).json()
    assert document["wab_version"] == "1.0"


def test_all_listed_sites_are_entries_page_by_page(registry: RunningRegistry) -> None:
    items: list[Json] = []
    token: str | None = None
    while True:
        params = {"pageSize": 3, **({"pageToken": token} if token else {})}
        page = registry.http.get("/ard/agents", params=params).json()
        items += page["items"]
        token = page.get("pageToken")
        if token is None:
            break
    named = [item["identifier"] for item in items]
    assert len(named) == len(set(named))
    assert {f"urn:air:{host}:site" for host in LISTED} <= set(named)


@pytest.mark.parametrize(
    ("identifier", "status", "code"),
    [
        ("urn:air:nobody.example:site", 404, "NOT_FOUND"),
        ("urn:air:zaytoun-table.test:mcp", 404, "NOT_FOUND"),
        ("urn:air:Zaytoun-Table.test:site", 404, "NOT_FOUND"),
        ("urn:air:zaytoun-table.test:a:site", 404, "NOT_FOUND"),
        ("urn:air:not_a_host:site", 400, "INVALID_ARGUMENT"),
        ("not-a-valid-ard-urn", 400, "INVALID_ARGUMENT"),
        ("urn:air:", 400, "INVALID_ARGUMENT"),
        ("urn:air:zaytoun-table.test:site\n", 400, "INVALID_ARGUMENT"),
        ("urn:air:" + "a." * 400 + "test:site", 404, "NOT_FOUND"),
        ("%00", 400, "INVALID_ARGUMENT"),
    ],
)
def test_other_identifiers_are_refused_with_its_codes(
    http: httpx.Client, identifier: str, status: int, code: str
) -> None:
    answer = http.get(f"/ard/agents/{quote(identifier, safe='')}")
    problem = expect.problem(answer, status, more=MORE)
    assert problem["errorCode"] == code
    assert problem["message"] == problem["detail"]


def explore(http: httpx.Client, *fields: str, **query: object) -> httpx.Response:
    wanted = {"facets": [{"field": field} for field in fields]}
    return http.post("/ard/explore", json={"query": query, "resultType": wanted})


def test_values_are_counted_over_all_that_match(registry: RunningRegistry) -> None:
    answer = explore(registry.http, "type", "country", text="book a table").json()
    assert answer["resultType"] == "facets"
    (every,) = answer["facets"]["type"]["buckets"]
    assert every["value"] == WAB_TYPE
    countries = answer["facets"]["country"]["buckets"]
    assert {"value": "JO", "count": 1} in countries
    assert sum(row["count"] for row in countries) == every["count"]
    assert answer["facets"]["country"]["otherCount"] == 0


def test_without_a_text_all_sites_are_counted(registry: RunningRegistry) -> None:
    (every,) = explore(registry.http, "type").json()["facets"]["type"]["buckets"]
    assert every["count"] >= len(LISTED)


def test_counting_is_no_answer_and_puts_nothing_on_record(
    registry: RunningRegistry,
) -> None:
    def rankings() -> int:
        text = registry.metrics()
        line = next(row for row in text.splitlines() if row.startswith(SEARCHES))
        return int(float(line.split()[1]))

    before = rankings()
    assert explore(registry.http, "country", text="book a table").status_code == 200
    assert rankings() == before


SEARCHES = "fair_registry_searches_total "


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"query": {"text": ""}}',
        b'{"query": {"text": "  "}}',
        b'{"query": {"text": 7}}',
        b'{"query": {"text": "\\u0000"}}',
        b'{"query": {"text": "\\ud800"}}',
        b'{"query": {"text": "' + b"x" * 1_001 + b'"}}',
        b'{"query": {"text": "a", "filter": {"okf:taxonomy": ["x"]}}}',
        b'{"query": {"text": "a", "filter": {"tags": []}}}',
        b'{"query": {"text": "a", "filter": {"tags": ["a", "b"]}}}',
        b'{"query": {"text": "a", "filter": {"tags": [[]]}}}',
        b'{"query": {"text": "a", "filter": {"conformance": "loose"}}}',
        b'{"query": {"text": "a", "filter": {"requiresAuth": "perhaps"}}}',
        b'{"query": {"text": "a"}, "pageSize": 0}',
        b'{"query": {"text": "a"}, "pageSize": 101}',
        b'{"query": {"text": "a"}, "pageToken": "AAAA"}',
        b'{"query": {"text": "a"}, "federation": "all"}',
        b'{"query": {"text": "a"}, "city": "Nowhere at all"}',
        b'{"query": {"text": "a"}, "lat": 1}',
    ],
)
def test_a_search_of_another_shape_is_refused(http: httpx.Client, body: bytes) -> None:
    answer = http.post(
        "/ard/search", content=body, headers={"Content-Type": "application/json"}
    )
    assert expect.problem(answer, 400, more=MORE)["errorCode"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("fields", "query"),
    [
        (["nonsense"], {"text": "a"}),
        (["country"], {}),
        (["type"], {"filter": {"tags": ["a"]}}),
        ([], {"text": "a"}),
        (["type"] * 17, {"text": "a"}),
    ],
)
def test_what_can_not_be_counted_is_refused(
    http: httpx.Client, fields: list[str], query: Json
) -> None:
    answer = explore(http, *fields, **query)
    assert expect.problem(answer, 400, more=MORE)["errorCode"] == "INVALID_ARGUMENT"


def test_the_registry_tells_of_itself_where_clients_look(
    registry: RunningRegistry,
) -> None:
    for path in ("/.well-known/ard.json", "/.well-known/ai-catalog.json"):
        (entry,) = registry.http.get(path).json()["entries"]
        assert entry["type"] == "application/ai-registry+json"
        assert entry["url"] == f"{registry.origin}/ard/"
        assert 2 <= len(entry["representativeQueries"]) <= 5
