"""/v1/lint, and a site in other forms."""

import json
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from registry.formats.wab.wab_schema import APPENDIX_A
from tests.api import expect
from tests.api.running import LISTED

URL = "https://shop.test/agent-bridge.json"
MEMBERS = (
    "format dialect version conformance url deviations problem provenance"
    " references links conflicts site advice"
)
JSON = {"Content-Type": "application/json"}


def _lint(http: httpx.Client, body: Any, **params: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return http.post("/v1/lint", content=content, headers=JSON, params=params)


def test_a_report_has_exactly_the_documented_members(http: httpx.Client) -> None:
    answer = _lint(
        http, {"wab_version": "1.0", "provider": {"name": "S", "url": "x"}}, url=URL
    )
    assert answer.status_code == 200
    report = answer.json()
    expect.members(report, MEMBERS)
    assert (report["format"], report["conformance"]) == ("wab", "tolerated")
    for deviation in report["deviations"]:
        expect.members(deviation, "pointer rule detail fix")
    for advice in report["advice"]:
        expect.members(advice, "factor how gain actions count probe")
    expect.members(
        report["site"],
        "name description category url location languages permissions"
        " fairnessMetrics actions",
    )


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "json_syntax"),
        (b"{}", "format_unknown"),
        (b"\xff", "json_encoding"),
        (b"<html>", "page_without_tools"),
        (b"[" * 70_000, "json_too_deep"),
    ],
)
def test_a_refused_document_is_an_answer(
    http: httpx.Client, body: bytes, code: str
) -> None:
    answer = _lint(http, body)
    assert answer.status_code == 200
    report = answer.json()
    expect.members(report, MEMBERS)
    assert (report["conformance"], report["site"]) == ("refused", None)
    assert report["problem"]["code"] == code
    assert report["problem"]["fix"]


def test_a_document_may_be_larger_than_other_bodies_but_not_without_end(
    http: httpx.Client,
) -> None:
    most = b'{"a":"' + b"x" * (512 * 1024 - 8) + b'"}'
    assert _lint(http, most).json()["problem"]["code"] == "format_unknown"
    report = _lint(http, most + b" ").json()
    assert report["problem"]["code"] == "json_too_large"
    page = b"<form toolname=a tooldescription=b></form>".ljust(2 * 1024 * 1024)
    assert _lint(http, page).json()["conformance"] == "tolerated"
    expect.problem(_lint(http, page + b" "), 413)


@pytest.mark.parametrize("url", ["x", "javascript:x", "https://", "ftp://a.test/"])
def test_an_address_that_is_none_is_refused(http: httpx.Client, url: str) -> None:
    problem = expect.problem(_lint(http, {}, url=url), 400)
    assert problem["pointer"] == "url"


@pytest.mark.parametrize("form", ["wab", "awp", "awas", "abp", "a2a"])
@pytest.mark.parametrize("host", LISTED)
def test_every_listed_site_can_be_had_in_every_format(
    http: httpx.Client, host: str, form: str
) -> None:
    answer = http.get(f"/v1/sites/{host}/document", params={"as": form})
    assert answer.status_code == 200
    written = answer.json()
    if form == "wab":
        Draft202012Validator(APPENDIX_A).validate(written)
    report = _lint(http, written, url=f"https://{host}/agent.json").json()
    assert (report["format"], report["conformance"]) == (form, "strict")
    listed = http.get(f"/v1/sites/{host}").json()
    assert report["site"]["actions"] == listed["actions"]


@pytest.mark.parametrize("host", LISTED)
def test_every_listed_site_can_be_had_as_mcp_tools(
    http: httpx.Client, host: str
) -> None:
    answer = http.get(f"/v1/sites/{host}/document", params={"as": "mcp-tools"})
    listed = http.get(f"/v1/sites/{host}").json()
    tools = answer.json()["tools"]
    assert len(tools) == len(listed["actions"])
    for tool, action in zip(tools, listed["actions"], strict=True):
        assert tool["name"].endswith(f"__{action['name'].replace(' ', '_')}")
        assert set(tool["inputSchema"]["properties"]) == {
            parameter["name"] for parameter in action["parameters"]
        }


def test_other_forms_are_of_the_site_and_not_of_a_document(http: httpx.Client) -> None:
    params = {"as": "wab", "url": "https://zaytoun-table.test/agent-bridge.json"}
    answer = http.get("/v1/sites/zaytoun-table.test/document", params=params)
    assert expect.problem(answer, 400)["pointer"] == "url"
    answer = http.get("/v1/sites/zaytoun-table.test/document", params={"as": "openapi"})
    assert expect.problem(answer, 400)["pointer"] == "as"


def test_advice_of_a_listed_site_is_that_of_its_document(http: httpx.Client) -> None:
    host = "zaytoun-table.test"
    body = http.get(f"/v1/sites/{host}/advice").json()
    expect.members(body, "policy advice")
    document = http.get(f"/v1/sites/{host}/document").json()
    report = _lint(http, document["content"], url=document["url"]).json()
    assert body["advice"] == report["advice"] != []
    assert body["policy"] == http.get("/v1/policy").json()["digest"]


@pytest.mark.parametrize("host", LISTED)
def test_every_listed_site_gets_advice_that_names_a_factor(
    http: httpx.Client, host: str
) -> None:
    answer = http.get(f"/v1/sites/{host}/advice")
    assert answer.status_code == 200
    for advice in answer.json()["advice"]:
        expect.members(advice, "factor how gain actions count probe")
        assert advice["factor"] in {
            *("relevance", "proximity", "capability_depth", "quality")
        }
        assert (advice["probe"] is None) == (advice["factor"] != "quality")


@pytest.mark.parametrize("host", ["nowhere.test", "-", "%00"])
def test_there_is_no_advice_for_who_is_not_registered(
    http: httpx.Client, host: str
) -> None:
    expect.problem(http.get(f"/v1/sites/{host}/advice"), 404)
