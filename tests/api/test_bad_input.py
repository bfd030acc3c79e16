"""Every bad request gets a problem document that says what to do, and never a 5xx."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from registry import keyring
from registry.interfaces.rest.paging import LIFETIME, seal_cursor
from registry.usecases.ids import utc_now
from tests.api import expect
from tests.api.running import RunningRegistry

JSON = {"Content-Type": "application/json"}
LONE = '{"q":"\\ud800"}'


FILTERS = (
    *("category", "country", "format", "conformance"),
    *("permission", "action", "language"),
)
QUERIES: list[tuple[str, str, str | None]] = [
    # query, code, pointer
    ("", "parameter_missing", "q"),
    ("lat=1&lon=1", "parameter_missing", "q"),
    ("q=", "parameter_invalid", "q"),
    ("q=%20%09%0a", "parameter_invalid", "q"),
    ("q=" + "a" * 10_000, "parameter_invalid", "q"),
    ("q=a%00b", "text_invalid", "q"),
    ("q=a%ffb", "text_invalid", "q"),
    ("q=a%c3%28", "text_invalid", "q"),
    ("q=a%ed%a0%80", "text_invalid", "q"),
    ("q=a%1bb", "text_invalid", "q"),
    ("q=a&q=b", "parameter_invalid", "q"),
    ("q=a&limit=1&limit=1", "parameter_invalid", "limit"),
    ("q=a&colour=red", "parameter_unknown", "colour"),
    ("q=a&services=1", "parameter_unknown", "services"),
    ("q[]=a", "parameter_unknown", "q[]"),
    ("Q=a", "parameter_unknown", "Q"),
    ("q=a&%ff=1", "parameter_unknown", "\ufffd"),
    ("q=a&" + "n" * 500 + "=1", "parameter_unknown", "n" * 80),
    ("q=a&limit=0", "parameter_invalid", "limit"),
    ("q=a&limit=101", "parameter_invalid", "limit"),
    ("q=a&limit=-1", "parameter_invalid", "limit"),
    ("q=a&limit=abc", "parameter_invalid", "limit"),
    ("q=a&limit=1e9", "parameter_invalid", "limit"),
    ("q=a&limit=1.5", "parameter_invalid", "limit"),
    ("q=a&limit=", "parameter_invalid", "limit"),
    ("q=a&limit=" + "9" * 5000, "parameter_invalid", "limit"),
    ("q=a&lat=91&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=-90.1&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=0&lon=180.1", "parameter_invalid", "lon"),
    ("q=a&lat=NaN&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=0&lon=nan", "parameter_invalid", "lon"),
    ("q=a&lat=inf&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=-Infinity&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=1e999&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=one&lon=0", "parameter_invalid", "lat"),
    ("q=a&lat=&lon=", "parameter_invalid", "lat"),
    ("q=a&lat=1", "parameter_invalid", "lon"),
    ("q=a&lon=1", "parameter_invalid", "lat"),
    ("q=a&city=Nowhereville", "city_unknown", "city"),
    ("q=a&city=Amman&country=DE", "city_unknown", "city"),
    ("q=a&city=%20", "city_unknown", "city"),
    ("q=a&city=%00", "text_invalid", "city"),
    ("q=a&country=Narnia", "country_unknown", "country"),
    ("q=a&city=Amman&country=Narnia", "country_unknown", "country"),
    ("q=a&country=%00", "text_invalid", "country"),
    ("q=a&category=%00", "text_invalid", "category"),
    ("q=a&format=%7f", "text_invalid", "format"),
    ("q=a&format=none-such", "parameter_invalid", "format"),
    ("q=a&conformance=loose", "parameter_invalid", "conformance"),
    ("q=a&format=" + "x" * 60, "parameter_invalid", "format"),
    *(
        row
        for name in FILTERS
        for row in (
            (f"q=a&{name}=", "parameter_invalid", name),
            (f"q=a&{name}=%20%09", "parameter_invalid", name),
            (f"q=a&{name}=a%00b", "text_invalid", name),
            (f"q=a&{name}=a%ffb", "text_invalid", name),
            (f"q=a&{name}=" + "x" * 201, "parameter_invalid", name),
            (f"q=a&{name}=JO&{name}=JO", "parameter_invalid", name),
        )
    ),
    ("q=a&requiresAuth=", "parameter_invalid", "requiresAuth"),
    ("q=a&requiresAuth=maybe", "parameter_invalid", "requiresAuth"),
    ("q=a&requiresAuth=null", "parameter_invalid", "requiresAuth"),
    ("q=a&requiresAuth=1", "parameter_invalid", "requiresAuth"),
    ("q=a&requiresAuth=true%0a", "parameter_invalid", "requiresAuth"),
    ("q=a&requires_auth=true", "parameter_unknown", "requires_auth"),
    ("q=a&facets=", "parameter_invalid", "facets"),
    ("q=a&facets=,", "parameter_invalid", "facets"),
    ("q=a&facets=colour", "parameter_invalid", "facets"),
    ("q=a&facets=country;format", "parameter_invalid", "facets"),
    ("q=a&facets=requires_auth", "parameter_invalid", "facets"),
    ("q=a&facets=country,%00", "parameter_invalid", "facets"),
    ("q=a&facets=" + "country," * 30, "parameter_invalid", "facets"),
    ("q=a&nonce=%00", "text_invalid", "nonce"),
    ("q=a&nonce=" + "x" * 65, "parameter_invalid", "nonce"),
    ("q=a&cursor=abc", "cursor_invalid", "cursor"),
    ("q=a&cursor=%00", "cursor_invalid", "cursor"),
    ("q=a&cursor=%ff", "cursor_invalid", "cursor"),
    ("q=a&cursor=%F0%9F%A6%8A", "cursor_invalid", "cursor"),
    ("q=a&cursor=" + "A" * 60, "cursor_invalid", "cursor"),
    ("q=a&cursor=" + "A" * 2000, "parameter_invalid", "cursor"),
]


@pytest.mark.parametrize(("query", "code", "pointer"), QUERIES)
def test_a_bad_query_is_refused(
    http: httpx.Client, query: str, code: str, pointer: str | None
) -> None:
    refused = expect.problem(http.get(f"/v1/search?{query}"), 400, code)
    assert refused.get("pointer") == pointer


def body(**members: Any) -> str:
    return json.dumps({"q": "a table", **members})


BODIES: list[tuple[str, str | bytes, str, str | None]] = [
    ("empty", "", "body_invalid", None),
    ("blank", "  ", "json_syntax", None),
    ("null", "null", "body_invalid", ""),
    ("a list", "[]", "body_invalid", ""),
    ("a text", '"x"', "body_invalid", ""),
    ("no member", "{}", "body_invalid", "/q"),
    ("nested deep", "[" * 3000 + "]" * 3000, "json_too_deep", "/0" * 16),
    ("nested deep in a member", '{"q":' * 3000 + "1" + "}" * 3000, "json_too_deep", "/q" * 16),
    ("never closed", "[" * 60_000, "json_too_deep", "/0" * 16),
    ("key twice", '{"q":"a","q":"b"}', "json_duplicate_key", None),
    ("trailing garbage", '{"q":"a"} x', "json_syntax", None),
    ("two values", '{"q":"a"}{"q":"a"}', "json_syntax", None),
    ("a comment", '{"q":"a"} // x', "json_syntax", None),
    ("a trailing comma", '{"q":"a",}', "json_syntax", None),
    ("single quotes", "{'q':'a'}", "json_syntax", None),
    ("UTF-16", '{"q":"a"}'.encode("utf-16"), "json_encoding", None),
    ("no UTF-8", b'{"q":"\xff"}', "json_encoding", None),
    ("surrogate in UTF-8", b'{"q":"\xed\xa0\x80"}', "json_encoding", None),
    ("NUL", b'{"q":"\0"}', "json_encoding", None),
    ("escaped NUL", '{"q":"\\u0000"}', "json_character", "/q"),
    ("lone surrogate", LONE, "json_character", "/q"),
    ("escaped control", '{"q":"a\\u001bb"}', "text_invalid", "/q"),
    ("unknown member", body(colour="red"), "body_invalid", "/colour"),
    ("member of another spelling", body(Limit=1), "body_invalid", "/Limit"),
    ("number for a text", '{"q":1}', "body_invalid", "/q"),
    ("null for a text", '{"q":null}', "body_invalid", "/q"),
    ("list for a text", '{"q":["a"]}', "body_invalid", "/q"),
    ("object for a text", '{"q":{"$ne":""}}', "body_invalid", "/q"),
    ("text for a number", body(limit="3"), "body_invalid", "/limit"),
    ("fraction for a number", body(limit=1.5), "body_invalid", "/limit"),
    ("truth for a number", body(limit=True), "body_invalid", "/limit"),
    ("null for a number", body(limit=None), "body_invalid", "/limit"),
    ("limit 0", body(limit=0), "body_invalid", "/limit"),
    ("limit 101", body(limit=101), "body_invalid", "/limit"),
    ("text for a point", body(lat="31", lon="35"), "body_invalid", "/lat"),
    ("beyond the pole", body(lat=90.5, lon=0), "body_invalid", "/lat"),
    ("NaN", body(lat=float("nan"), lon=0), "json_number", None),
    ("infinite", '{"q":"a","lat":1e400,"lon":0}', "json_number", None),
    ("a number of 5,000 digits", '{"q":"a","limit":' + "9" * 5000 + "}", "json_number", None),
    ("half a point", body(lat=1), "parameter_invalid", "/lon"),
    ("blank filter", body(action=" "), "parameter_invalid", "/action"),
    ("text for a truth", body(requiresAuth="true"), "body_invalid", "/requiresAuth"),
    ("number for a truth", body(requiresAuth=1), "body_invalid", "/requiresAuth"),
    ("text for a list", body(facets="country"), "body_invalid", "/facets"),
    ("no facet", body(facets=["country", "x"]), "body_invalid", "/facets/1"),
    ("too many facets", body(facets=["country"] * 10), "body_invalid", "/facets"),
    ("blank q", body(q="  "), "parameter_invalid", "/q"),
    ("long q", body(q="a" * 10_000), "body_invalid", "/q"),
    ("unknown city", body(city="Nowhereville"), "city_unknown", "/city"),
    ("forged cursor", body(cursor="AAAA"), "cursor_invalid", "/cursor"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "code", "pointer"),
    [row[1:] for row in BODIES],
    ids=[row[0] for row in BODIES],
)
def test_a_bad_body_is_refused(
    http: httpx.Client, content: str | bytes, code: str, pointer: str | None
) -> None:
    answer = http.post("/v1/search", content=content, headers=JSON)
    assert expect.problem(answer, 400, code).get("pointer") == pointer


@pytest.mark.parametrize("path", ["/v1/search", "/v1/challenges", "/v1/selections"])
@pytest.mark.parametrize(
    "media_type",
    [
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/xml",
        "application/json; charset=utf-16",
        ";;;",
        "json",
    ],
)
def test_a_body_that_is_not_said_to_be_json_is_refused(
    http: httpx.Client, path: str, media_type: str
) -> None:
    headers = {"Content-Type": media_type} if media_type else {}
    answer = http.post(path, content=b'{"q":"a"}', headers=headers)
    problem = expect.problem(answer, 415, "media_type_unsupported")
    assert problem["detail"] == "The body is application/json, in UTF-8"


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "Application/JSON; charset=UTF-8", "application/ld+json"],
)
def test_json_is_known_by_any_of_its_names(http: httpx.Client, media_type: str) -> None:
    headers = {"Content-Type": media_type}
    answer = http.post("/v1/search", content=b'{"q":"a table"}', headers=headers)
    assert answer.status_code == 200


def test_a_byte_order_mark_does_no_harm(http: httpx.Client) -> None:
    content = b'\xef\xbb\xbf{"q":"a table"}'
    assert http.post("/v1/search", content=content, headers=JSON).status_code == 200


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("", "body_invalid"),
        ("   ", "no_host"),
        ("a" * 300, "host_form"),
        ("a" * 64 + ".com", "host_form"),
        ("a" * 10_000, "body_invalid"),
        ("localhost", "special_tld"),
        ("shop.example", "special_tld"),
        ("com", "public_suffix"),
        ("co.uk", "public_suffix"),
        ("github.io", "public_suffix"),
        ("127.0.0.1", "ip_literal"),
        ("2130706433", "ip_literal"),
        ("0x7f.1", "ip_literal"),
        ("[::1]", "ip_literal"),
        ("https://shop.com", "host_form"),
        ("shop.com/x", "host_form"),
        ("user@shop.com", "host_form"),
        ("shop.com:8080", "host_form"),
        ("shop.com.", "trailing_dot"),
        ("shop%2ecom", "host_escape"),
        ("🦊.com", "idna"),
        ("sh\u200bop.com", "idna"),
        ("shop\u202e.com", "idna"),
        ("shop\x1b.com", "text_invalid"),
    ],
)
def test_a_bad_host_gets_no_challenge(http: httpx.Client, host: str, code: str) -> None:
    answer = http.post("/v1/challenges", json={"host": host})
    assert expect.problem(answer, 400, code)["pointer"] == "/host"


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ("{}", "/host"),
        ('{"host":null}', "/host"),
        ('{"host":7}', "/host"),
        ('{"host":["a.com"]}', "/host"),
        ('{"host":"a.com","port":1}', "/port"),
    ],
)
def test_a_challenge_is_asked_for_with_a_host_alone(
    http: httpx.Client, content: str, pointer: str
) -> None:
    answer = http.post("/v1/challenges", content=content, headers=JSON)
    assert expect.problem(answer, 400, "body_invalid")["pointer"] == pointer


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ("{}", "/rankingId"),
        ('{"rankingId":"x"}', "/siteId"),
        ('{"rankingId":1,"siteId":null}', "/rankingId"),
        ('{"rankingId":"x","siteId":7}', "/siteId"),
        ('{"rankingId":"x","siteId":"' + "A" * 254 + '"}', "/siteId"),
        ('{"rankingId":"' + "x" * 101 + '","siteId":null}', "/rankingId"),
        ('{"rankingId":"x","siteId":null,"outcome":"it went well"}', "/outcome"),
        ('{"rankingId":"x","siteId":null,"outcome":"' + "a" * 33 + '"}', "/outcome"),
        ('{"ranking_id":"x","siteId":null}', "/ranking_id"),
    ],
)
def test_a_selection_of_another_shape_is_refused(
    http: httpx.Client, content: str, pointer: str
) -> None:
    answer = http.post("/v1/selections", content=content, headers=JSON)
    assert expect.problem(answer, 400, "body_invalid")["pointer"] == pointer


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/v1/sites?limit=0", "parameter_invalid"),
        ("/v1/sites?limit=101", "parameter_invalid"),
        ("/v1/sites?cursor=AAAA", "cursor_invalid"),
        ("/v1/sites?country=Narnia", "country_unknown"),
        ("/v1/sites?category=%00", "text_invalid"),
        ("/v1/sites?q=x", "parameter_unknown"),
        ("/v1/sites/zaytoun-table.test?as=pdf", "parameter_invalid"),
        ("/v1/sites/zaytoun-table.test?host=x", "parameter_unknown"),
        ("/v1/sites/zaytoun-table.test/history?limit=x", "parameter_invalid"),
        ("/v1/sites/zaytoun-table.test/document?url=" + "x" * 3000, "parameter_invalid"),
        ("/v1/reports/fairness?from=yesterday", "parameter_invalid"),
        ("/v1/reports/fairness?from=2026-01-01", "parameter_invalid"),
        ("/v1/reports/fairness?from=1767225600", "parameter_invalid"),
        ("/v1/reports/fairness?from=", "parameter_invalid"),
        ("/v1/reports/fairness?from=2026-01-01T00:00:00", "window_invalid"),
        ("/v1/reports/fairness?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "window_invalid"),
        ("/v1/reports/fairness?from=2000-01-01T00:00:00Z", "window_invalid"),
        ("/v1/reports/fairness?from=9999-12-31T23:59:59Z", "window_invalid"),
        ("/v1/reports/fairness?to=0001-01-01T00:00:00Z", "window_invalid"),
        ("/v1/reports/fairness?to=9999-12-31T23:59:59-14:00", "window_invalid"),
        ("/v1/reports/fairness?operator=" + "x" * 257, "parameter_invalid"),
        ("/v1/reports/fairness?category=a%00b", "text_invalid"),
        ("/v1/reports/fairness?operator=a&operator=b", "parameter_invalid"),
        ("/v1/reports/fairness?category=" + "x" * 257, "parameter_invalid"),
        ("/v1/reports/fairness?category=%ff", "text_invalid"),
        ("/v1/reports/fairness?category=a&category=b", "parameter_invalid"),
        ("/v1/reports/fairness?form=pdf", "parameter_invalid"),
        ("/v1/reports/fairness?form=", "parameter_invalid"),
        ("/v1/policy?x=1", "parameter_unknown"),
        ("/checkpoint?x=1", "parameter_unknown"),
        ("/?x=1", "parameter_unknown"),
    ],
)  # fmt: skip
def test_a_bad_parameter_is_refused(http: httpx.Client, path: str, code: str) -> None:
    expect.problem(http.get(path), 400, code)


@pytest.mark.parametrize(
    "path",
    [
        "/v1/rankings/x",
        "/v1/rankings/" + "0" * 26,
        "/v1/rankings/" + "9" * 5000,
        "/v1/rankings/%00",
        "/v1/rankings/01M7X9V14RTW7B5DBF5C4YMN31",
        "/v1/rankings/01M7X9V14RTW7B5DBF5C4YMN31.%ff",
        "/tile/../../etc/passwd",
        "/tile/..%2f..%2fetc%2fpasswd",
        "/tile/0/%2e%2e/%2e%2e/000",
        "/tile/0/x999/999",
        "/tile/64/000",
        "/tile/-1/000",
        "/tile/0/0",
        "/tile/0/000.p/0",
        "/tile/0/000.p/256",
        "/tile/0/999.p/255",
        "/tile/0/000.p/" + "9" * 3000,
        "/tile/0/" + "x999/" * 500 + "999",
        "/tile/entries/x000/000",
        "/tile/%00",
        "/tile/%ff",
        "/tile/",
        "/tile",
        "/static/../app.py",
        "/static/..%2f..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/style.css%00.py",
        "/static/",
        "/problems/none_such",
        "/problems/%00",
        "/problems/..%2fbase",
        "/schema/openapi.yaml",
        "/nothing",
        "/v1",
        "/v2/search",
        "/.env",
        "/%ff",
        "/" + "a" * 8000,
    ],
)
def test_what_is_not_there_is_not_found(http: httpx.Client, path: str) -> None:
    expect.problem(http.get(path), 404)


def cursor_of(registry: RunningRegistry, **query: Any) -> str:
    cursor = registry.search(limit=1, **query)["nextCursor"]
    assert cursor
    return str(cursor)


def test_a_cursor_goes_on_with_its_own_request_only(registry: RunningRegistry) -> None:
    cursor = cursor_of(registry)
    q = "book a table for two"
    assert registry.search(q, cursor=cursor)["results"]
    for query in (
        {"q": "another thing"},
        {"q": q, "city": "Amman"},
        {"q": q, "lat": 31.9, "lon": 35.9},
        {"q": q, "country": "PE"},
        {"q": q, "category": "restaurant"},
        {"q": q, "format": "wab"},
    ):
        answer = registry.http.get("/v1/search", params={**query, "cursor": cursor})
        expect.problem(answer, 400, "cursor_invalid")
    expect.problem(
        registry.http.get("/v1/sites", params={"cursor": cursor}), 400, "cursor_invalid"
    )


def test_a_changed_cursor_is_refused(registry: RunningRegistry) -> None:
    cursor = cursor_of(registry)
    for position in range(0, len(cursor), 7):
        other = "A" if cursor[position] != "A" else "B"
        forged = cursor[:position] + other + cursor[position + 1 :]
        params = {"q": "book a table for two", "cursor": forged}
        answer = registry.http.get("/v1/search", params=params)
        expect.problem(answer, 400, "cursor_invalid")


def test_a_cursor_of_another_registry_is_refused(registry: RunningRegistry) -> None:
    foreign = seal_cursor(b"k" * 32, "sites None None", b"[]", utc_now())
    answer = registry.http.get("/v1/sites", params={"cursor": foreign})
    expect.problem(answer, 400, "cursor_invalid")


def test_an_old_cursor_is_refused(registry: RunningRegistry) -> None:
    key = keyring.load_web_key(registry.settings.keys)
    # A cursor counts from the end of its hour.
    sealed_at = utc_now() - LIFETIME - timedelta(hours=1, seconds=1)
    old = seal_cursor(key, "sites None None", b"[]", sealed_at)
    answer = registry.http.get("/v1/sites", params={"cursor": old})
    expect.problem(answer, 400, "cursor_expired")


def test_a_cursor_whose_state_has_another_shape_is_refused(
    registry: RunningRegistry,
) -> None:
    key = keyring.load_web_key(registry.settings.keys)
    earlier = seal_cursor(key, "sites None None", b"[]", utc_now())
    answer = registry.http.get("/v1/sites", params={"cursor": earlier})
    expect.problem(answer, 400, "cursor_invalid")


@pytest.mark.parametrize("city", ["Amman", "عمان", "amman ", "AMMAN"])
def test_a_city_is_known_by_its_spellings(registry: RunningRegistry, city: str) -> None:
    place = registry.search(city=city)["place"]
    assert (place["name"], place["country"]) == ("Amman", "JO")


@pytest.mark.parametrize(
    ("given", "helps"),
    [
        ({"city": "Nowhereville"}, "15,000"),
        ({"city": "Amman", "country": "DE"}, "JO"),
        ({"country": "Narnia"}, "ISO 3166-1"),
    ],
)
def test_an_unknown_place_is_answered_with_help(
    http: httpx.Client, given: dict[str, str], helps: str
) -> None:
    answer = http.get("/v1/search", params={"q": "a table", **given})
    refused = expect.problem(answer, 400)
    assert helps in refused["detail"] + refused["fix"]


def test_what_was_sent_is_not_echoed_as_markup(http: httpx.Client) -> None:
    hostile = "<script>alert(1)</script>"
    shown = http.get(f"/?q={quote(hostile)}&city={quote(hostile)}")
    assert shown.headers["Content-Type"].startswith("text/html")
    assert hostile not in shown.text
    refused = http.get("/v1/search", params={"q": "a", "city": hostile})
    assert refused.headers["X-Content-Type-Options"] == "nosniff"
    expect.problem(refused, 400, "city_unknown")
