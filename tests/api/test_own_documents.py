"""The registry's own discovery documents, judged by its own lint."""

import json
import re

import httpx
import pytest

from crawler.robots.robots_txt import parse_robots
from registry.errors import Refused
from registry.formats.inspection import Report, inspect
from registry.formats.writing.forms import Form
from registry.interfaces.discovery.own_documents import own_document
from registry.interfaces.discovery.own_site import OWN_ACTIONS
from registry.interfaces.mcp.tool_table import TOOL

DOCUMENTS = {
    "/agent-bridge.json": ("wab", "spec_1_0"),
    "/.well-known/wab.json": ("wab", "spec_1_0"),
    "/server.json": ("mcp", "server_json"),
    "/.well-known/mcp.json": ("mcp", "server_card"),
    "/.well-known/mcp/server-card.json": ("mcp", "server_card"),
    "/.well-known/ard.json": ("ard", "entries"),
    "/.well-known/ai-catalog.json": ("ard", "entries"),
    "/agent.json": ("awp", "native"),
    "/.well-known/agent.json": ("awp", "native"),
    "/.well-known/ai-actions.json": ("awas", "1.0"),
    "/.well-known/awas.json": ("awas", "1.0"),
    "/abp-manifest.json": ("abp", "manifest"),
    "/mcp-manifest.json": ("awas", "pointer"),
    "/.well-known/mcp-manifest.json": ("awas", "pointer"),
    "/a2a-manifest.json": ("awas", "pointer"),
    "/.well-known/a2a-manifest.json": ("awas", "pointer"),
}


def lint(http: httpx.Client, path: str) -> Report:
    answer = http.get(path)
    assert answer.status_code == 200
    return inspect(
        answer.content,
        url=f"{http.base_url}{path}",
        content_type=answer.headers["Content-Type"],
        allow_loopback=True,
    )


@pytest.mark.parametrize("path", DOCUMENTS)
def test_own_document_is_strict(http: httpx.Client, path: str) -> None:
    report = lint(http, path)
    assert report.deviations == ()
    assert report.document is not None
    document = report.document
    assert (document.format, document.dialect) == DOCUMENTS[path]
    is_judged = document.format != "ard"  # which is not compared with a specification
    assert document.conformance == ("strict" if is_judged else "tolerated")
    if document.format in {"wab", "awp", "abp"} or document.dialect == "1.0":
        names = [action.name for action in document.site.actions]
        assert names == [own.name for own in OWN_ACTIONS]


def test_the_search_page_is_strictly_webmcp(http: httpx.Client) -> None:
    report = lint(http, "/")
    assert (report.conformance, report.deviations) == ("strict", ())
    assert report.document is not None
    (action,) = report.document.site.actions
    assert (action.name, action.calls[0].transport) == ("searchSites", "form")
    assert all(row.description for row in action.parameters)
    assert {link.url.rpartition("/")[2] for link in report.links} >= {
        "agent-bridge.json",
        "ai-actions.json",
        "abp-manifest.json",
    }


def test_pointers_lead_to_the_catalogue(http: httpx.Client) -> None:
    for path in ("/mcp-manifest.json", "/a2a-manifest.json"):
        document = lint(http, path).document
        assert document is not None
        (reference,) = document.references
        assert http.get(reference).json()["actions"]


def test_every_named_tool_is_one_of_the_mcp_server() -> None:
    assert {own.tool for own in OWN_ACTIONS} - {""} <= TOOL.keys()


def test_every_declared_call_is_one_of_the_api(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    declared = http.get("/.well-known/ai-actions.json").json()["actions"]
    by_shape = {re.sub(r"{\w+}", "{}", path): item for path, item in paths.items()}
    for action in declared:
        path = httpx.URL(re.sub(r"{\w+}", "{}", action["path"])).path
        operation = by_shape[path][action["method"].lower()]
        assert operation["operationId"]


def test_the_declared_search_takes_what_the_search_takes(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    taken = {row["name"] for row in paths["/v1/search"]["get"]["parameters"]}
    search = http.get("/.well-known/ai-actions.json").json()["actions"][0]
    assert {row["name"] for row in search["parameters"]} == taken


def test_llms_txt_has_a_title_a_summary_and_links_that_answer(
    http: httpx.Client,
) -> None:
    answer = http.get("/llms.txt")
    assert answer.headers["Content-Type"] == "text/markdown; charset=utf-8"
    title, summary, *_ = answer.text.split("\n\n")
    assert title == "# Fair Registry"
    assert summary.startswith("> ")
    links = re.findall(r"\]\(([^)]+)\)", answer.text)
    assert len(links) > len(OWN_ACTIONS)
    for link in dict.fromkeys(links):
        assert http.get(link).status_code == 200, link


def test_robots_let_agents_read_the_documents(http: httpx.Client) -> None:
    robots = parse_robots(http.get("/robots.txt").content, "SomeAgent")
    for path in (*DOCUMENTS, "/llms.txt", "/.well-known/security.txt", "/"):
        robots.verify(f"{http.base_url}{path}")
    with pytest.raises(Refused):
        robots.verify(f"{http.base_url}/v1/search?q=table")


@pytest.mark.parametrize("form", ["wab", "awp", "awas", "abp", "a2a"])
def test_at_a_public_address_own_documents_are_strict_too(form: Form) -> None:
    body = json.dumps(own_document(form, "https://registry.example")).encode()
    report = inspect(body, url="https://registry.example/own.json")
    assert (report.conformance, report.deviations) == ("strict", ())
    assert report.conflicts == ()
