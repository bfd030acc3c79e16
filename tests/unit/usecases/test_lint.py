import json
from functools import cache
from typing import Any

import pytest

from registry.formats.document import MAX_BODY_BYTES
from registry.formats.inspection import UNKNOWN_URL, Report
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.sites.lint import Linter

AWP = {
    "awp_version": "0.2",
    "domain": "eggs.test",
    "intent": "Eggs from hens that run about",
    "actions": [
        {
            "id": "list_eggs",
            "description": "List the eggs that are for sale today",
            "auth_required": False,
            "inputs": {},
            "outputs": {},
            "endpoint": "/api/eggs",
            "method": "GET",
        }
    ],
}
PAGE = b"""<!doctype html><html lang=en><head><title>Hens</title>
<link rel="ai-actions" href="/.well-known/ai-actions.json"></head><body>
<form toolname=order tooldescription="Order eggs"><input name=count type=number>
</form></body></html>"""


@cache
def _linter() -> Linter:
    return Linter(
        gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
    )


def _lint(value: Any, **where: str) -> Report:
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    return _linter().lint(body, **where)


def test_a_conforming_document_is_strict() -> None:
    report = _lint(AWP, url="https://eggs.test/agent.json")
    assert (report.conformance, report.problem) == ("strict", None)
    assert report.document is not None
    assert report.document.format == "awp"
    assert report.conflicts == ()


def test_where_nobody_says_it_lies_it_lies_where_it_claims() -> None:
    report = _lint(AWP)
    assert report.url == "https://eggs.test"
    assert report.document is not None
    (action,) = report.document.site.actions
    assert [call.target for call in action.calls] == ["https://eggs.test/api/eggs"]


def test_a_document_that_claims_no_place_has_one_that_nobody_has() -> None:
    manifest = {"abp": "1.0", "app": {"name": "A"}, "capabilities": [{"name": "a.b"}]}
    assert _lint(manifest).url == UNKNOWN_URL


def test_a_claim_of_another_host_is_shown() -> None:
    (conflict,) = _lint(AWP, url="https://other.test/agent.json").conflicts
    assert conflict.field == "url"
    assert dict(conflict.values)["awp"] == "https://eggs.test"


def test_a_long_page_is_read_as_far_as_a_crawler_reads_it() -> None:
    late = PAGE.replace(b"toolname=order", b"toolname=late")
    body = PAGE + b" " * MAX_BODY_BYTES + late
    report = _lint(body, url="https://eggs.test/")
    assert report.document is not None
    assert [action.name for action in report.document.site.actions] == ["order"]
    assert "limit" in {deviation.rule for deviation in report.deviations}


@pytest.mark.parametrize("content_type", ["text/html; charset=utf-8", ""])
def test_a_page_is_read_as_a_page(content_type: str) -> None:
    report = _lint(PAGE, url="https://eggs.test/", content_type=content_type)
    assert report.document is not None
    assert [action.name for action in report.document.site.actions] == ["order"]
    assert [(link.format, link.url) for link in report.links] == [
        ("awas", "https://eggs.test/.well-known/ai-actions.json")
    ]


def test_a_page_that_only_points_on_is_refused_with_what_it_points_to() -> None:
    page = PAGE.replace(b"toolname", b"class")
    report = _lint(page, url="https://eggs.test/")
    assert (report.conformance, report.document) == ("refused", None)
    assert report.problem is not None
    assert report.problem.code == "page_without_tools"
    assert len(report.links) == 1
    assert not report.points_on  # a form of it is nearly a tool
    bare = page.replace(b"tooldescription", b"title")
    assert _lint(bare, url="https://eggs.test/").points_on


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "json_syntax"),
        (b"{", "json_syntax"),
        (b"[]", "document_not_an_object"),
        (b"{}", "format_unknown"),
        (b'{"a":1,"a":2}', "json_duplicate_key"),
        (b'{"a":1e400}', "json_number"),
        (b"\xff\xfe{\x00}\x00", "json_encoding"),
        (b"[" * 100_000, "json_too_deep"),
        (b" " * 600_000, "json_too_large"),
        (b"<" * 100, "page_without_tools"),
    ],
)
def test_what_can_t_be_read_is_refused_with_its_code(body: bytes, code: str) -> None:
    report = _lint(body)
    assert report.conformance == "refused"
    assert report.problem is not None
    assert report.problem.code == code
    assert report.problem.fix


@pytest.mark.parametrize(
    "url", ["https://127.0.0.1/x", "https://x/", "https://your-site.example/"]
)
def test_a_host_that_could_not_register_can_be_linted(url: str) -> None:
    assert _lint(AWP, url=url).document is not None


def test_advice_speaks_of_the_document_at_hand() -> None:
    factors = {factor.factor for factor in _lint(AWP).advice}
    # Nothing but eligibility helps with words: no request that names its action finds it.
    assert factors == {"eligibility", "proximity"}


@pytest.mark.parametrize(
    ("body", "format_"),
    [
        (b'{"wab_version": "1.0", // soon', "wab"),
        (b'{"abp": "1.0", "app": {}}', "abp"),
        (b'{"awp_version" : "0.2", "actions": {}}', "awp"),
        (b'{"name": "wab_version"', None),
    ],
)
def test_a_refused_document_still_has_the_format_it_was_meant_to_have(
    body: bytes, format_: str | None
) -> None:
    report = _lint(body)
    assert (report.conformance, report.format) == ("refused", format_)
