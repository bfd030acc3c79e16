import re
from typing import Any

import httpx
import pytest

from registry.tlog.note import format_vkey
from tests.api import expect
from tests.api.running import AUDITOR, RunningRegistry

READABLE = [
    "/v1/sites/zaytoun-table.test",
    "/v1/policy",
    "/v1/search?q=a+table",
    "/openapi.json",
    "/openapi",
    "/",
    "/bot",
    "/checkpoint",
    "/robots.txt",
    "/static/style.css",
    "/health/live",
]


@pytest.mark.parametrize("path", READABLE)
def test_head_is_get_without_the_content(http: httpx.Client, path: str) -> None:
    head, get = http.head(path), http.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == get.headers["Content-Type"]
    if "search" not in path and path != "/checkpoint":
        assert head.headers["Content-Length"] == get.headers["Content-Length"]


def test_head_of_events_does_not_wait(registry: RunningRegistry) -> None:
    submitted = registry.submit(registry.sign(registry.town.site("maple-spoke.test")))
    path = f"/v1/registrations/{submitted.json()['id']}/events"
    assert registry.http.head(path, timeout=10).status_code == 200


def test_head_of_nothing_is_not_found(http: httpx.Client) -> None:
    assert http.head("/nothing").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/v1/search", {"GET", "HEAD", "POST", "OPTIONS"}),
        ("DELETE", "/v1/sites/zaytoun-table.test", {"GET", "HEAD", "OPTIONS"}),
        ("PATCH", "/v1/registrations", {"POST", "OPTIONS"}),
        ("GET", "/v1/challenges", {"POST", "OPTIONS"}),
        ("HEAD", "/v1/challenges", {"POST", "OPTIONS"}),
        ("TRACE", "/", {"GET", "HEAD", "OPTIONS"}),
        ("BREW", "/v1/policy", {"GET", "HEAD", "OPTIONS"}),
        ("CONNECT", "/v1/policy", {"GET", "HEAD", "OPTIONS"}),
        ("POST", "/checkpoint", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_a_wrong_method_is_told_the_right_ones(
    http: httpx.Client, method: str, path: str, allowed: set[str]
) -> None:
    answer = http.request(method, path)
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == allowed
    if method != "HEAD":
        expect.problem(answer, 405, "method_not_allowed")


def test_options_tell_the_methods(http: httpx.Client) -> None:
    answer = http.options("/v1/webhooks")
    assert answer.status_code == 204
    assert answer.headers["Allow"] == "GET, OPTIONS, POST"
    expect.problem(http.options("/nothing"), 404, "not_found")


def test_pages_of_other_origins_may_call(http: httpx.Client) -> None:
    params = {
        "Origin": "https://agent.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    preflight = http.options("/v1/search", headers=params)
    assert preflight.status_code == 204
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    assert "content-type" in preflight.headers["Access-Control-Allow-Headers"].lower()
    for path, status in {"/v1/policy": 200, "/nothing": 404}.items():
        answer = http.get(path, headers={"Origin": "https://agent.example"})
        assert answer.status_code == status
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in answer.headers
        exposed = answer.headers["Access-Control-Expose-Headers"]
        assert {"ETag", "Location", "X-Request-Id"} <= set(exposed.split(", "))


@pytest.mark.parametrize("path", [*READABLE, "/nothing", "/v1/search", "/?q=%00"])
def test_every_answer_is_dressed(http: httpx.Client, path: str) -> None:
    headers = http.get(path).headers
    assert re.fullmatch("[0-9a-f]{16}", headers["X-Request-Id"])
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["Cache-Control"]


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/nothing", 404, "not_found"),
        ("/sites/unheard-of.test", 404, "site_unknown"),
        ("/problems/unheard-of", 404, "not_found"),
        ("/?colour=red", 400, "parameter_unknown"),
    ],
)
def test_a_browser_gets_a_refusal_as_a_page(
    http: httpx.Client, path: str, status: int, code: str
) -> None:
    shown = http.get(path, headers={"Accept": BROWSER, "Accept-Language": "de"})
    assert shown.status_code == status
    assert shown.headers["Content-Type"].startswith("text/html")
    assert shown.headers["Cache-Control"] == "no-store"
    assert f'href="/problems/{code}"' in shown.text
    document = http.get(path)
    assert (
        expect.problem(document, status, code)["fix"].split("&")[0][:20] in shown.text
    )
    for answer in (shown, document):
        assert "Accept" in answer.headers["Vary"].split(", ")
        assert answer.headers["Content-Language"] == "en"
    for accept in ("application/json, text/html", "application/problem+json", "*/*"):
        expect.problem(http.get(path, headers={"Accept": accept}), status, code)


def test_a_page_escapes_what_it_repeats(http: httpx.Client) -> None:
    shown = http.get("/?<script>alert(1)</script>=1", headers={"Accept": BROWSER})
    assert shown.status_code == 400
    assert "<script>" not in shown.text


def test_programs_get_json_whatever_they_accept(http: httpx.Client) -> None:
    for path in ("/v1/sites/unheard-of.test", "/ard/agents/x", "/api/wab/nothing"):
        answer = http.get(path, headers={"Accept": BROWSER})
        assert answer.headers["Content-Type"].startswith("application/"), path


def test_what_is_unchanged_says_what_it_depends_on(http: httpx.Client) -> None:
    tag = http.get("/v1/policy").headers["ETag"]
    again = http.get("/v1/policy", headers={"If-None-Match": tag})
    assert again.status_code == 304
    assert "Accept-Encoding" in again.headers["Vary"]


def test_every_request_has_an_id_of_its_own(http: httpx.Client) -> None:
    headers = {"X-Request-Id": "chosen-by-me"}
    seen = {http.get("/v1/log", headers=headers).headers["X-Request-Id"] for _ in "123"}
    assert len(seen) == 3
    assert "chosen-by-me" not in seen


@pytest.mark.parametrize(
    ("method", "path", "given"),
    [
        ("GET", "/v1/search", {"params": {"q": "a table"}}),
        ("POST", "/v1/search", {"json": {"q": "a table"}}),
        ("POST", "/v1/challenges", {"json": {"host": "shop.test"}}),
        ("GET", "/v1/registrations/x", {}),
    ],
)
def test_what_is_the_callers_own_is_not_kept_by_caches(
    http: httpx.Client, method: str, path: str, given: dict[str, Any]
) -> None:
    answer = http.request(method, path, **given)
    assert answer.headers["Cache-Control"] == "no-store"


def test_full_tiles_may_be_kept_for_ever_and_checkpoints_may_not(
    http: httpx.Client,
) -> None:
    size = int(http.get("/checkpoint").text.splitlines()[1])
    if size >= 256:
        tile = http.get("/tile/0/000")
        bundle = http.get("/tile/entries/000")
    else:
        tile = http.get(f"/tile/0/000.p/{size}")
        bundle = http.get(f"/tile/entries/000.p/{size}")
    assert len(tile.content) == 32 * min(size, 256)
    assert bundle.content
    for part in (tile, bundle):
        assert part.status_code == 200
        assert part.headers["Content-Type"] == "application/octet-stream"
        assert "immutable" in part.headers["Cache-Control"]
    assert "max-age=1" in http.get("/checkpoint").headers["Cache-Control"].split(", ")


def test_a_charset_is_named_once(http: httpx.Client) -> None:
    for path in ("/checkpoint", "/static/style.css", "/robots.txt", "/"):
        assert http.get(path).headers["Content-Type"].count("charset") == 1, path


def test_the_policy_says_what_is_weighed(http: httpx.Client) -> None:
    policy = http.get("/v1/policy").json()
    expect.members(
        policy,
        "digest name codeDigest pageDigest leafIndex weights origin factors statements exclusions "
        "rules constants",
    )
    assert policy["weights"] == {
        "relevance": 4000,
        "proximity": 2000,
        "capabilityDepth": 1500,
        "quality": 1500,
        "freshness": 1000,
    }
    assert {factor["name"]: factor["weight"] for factor in policy["factors"]} == policy[
        "weights"
    ]
    for several in ("constants", "factors"):
        assert all(item["reason"].strip() for item in policy[several])
    assert type(policy["leafIndex"]) is int


def test_the_log_names_its_keys(registry: RunningRegistry) -> None:
    log = registry.http.get("/v1/log").json()
    keys = "verifierKey formerKeys promiseKey"
    expect.members(log, f"origin {keys} checkpoint witnesses quorum auditors")
    assert log["origin"] == registry.settings.log_origin
    assert log["auditors"] == [format_vkey(AUDITOR.verifier_key)]
    assert registry.http.get(log["checkpoint"]).text.startswith(log["origin"] + "\n")


def test_the_report_is_there_for_auditors(http: httpx.Client) -> None:
    report = http.get("/v1/reports/fairness")
    assert report.status_code == 200
    assert not any("_" in name for name in report.json())


def test_health_is_reported(http: httpx.Client) -> None:
    assert http.get("/health/live").json() == {"status": "live"}
    ready = http.get("/health/ready").json()
    assert ready == {"status": "ready", "anonymous": "answered"}


def test_refusals_are_counted_by_code_out_of_public_reach(
    registry: RunningRegistry,
) -> None:
    registry.http.get("/v1/search", params={"q": ""})
    assert registry.http.get("/metrics").status_code == 404
    counted = registry.metrics()
    assert 'fair_registry_problems_total{code="parameter_invalid"}' in counted
