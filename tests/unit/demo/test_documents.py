import json
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256

import pytest

from registry.demo.town.build_document import build_document, build_page, document_path
from registry.demo.town.house import alter_signed, spoil
from registry.demo.town.member import CAST, Member
from registry.demo.town.member_declarations import declare, document_urls
from registry.demo.town.resource import Resource, json_resource
from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Document, Parsed, Rejected
from registry.identity.statements.declarations import parse_declarations
from registry.sites.action import Action, Parameter
from registry.sites.site import LocationClaim

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def by_host(host: str) -> Member:
    return next(member for member in CAST if member.host == host)


def published(member: Member) -> Resource:
    document = build_document(member)
    return build_page(member) if document is None else json_resource(document)


def read(member: Member) -> Document:
    url = f"https://{member.host}{document_path(member)}"
    parse = parse_page if build_document(member) is None else parse_document
    outcome = parse(published(member).body, url=url)
    assert isinstance(outcome, Parsed), outcome
    return outcome.document


@pytest.mark.parametrize("member", CAST, ids=lambda member: member.host)
def test_document_is_read_as_the_format_it_is_meant_in(member: Member) -> None:
    document = read(member)
    assert document.format == member.format
    assert len(document.site.actions) == len(member.actions)
    descriptions = {action.description for action in document.site.actions}
    assert descriptions == {action.description for action in member.actions}


@pytest.mark.parametrize(
    "member",
    [item for item in CAST if item.dialect not in ("site-1.2", "edge-3.2")],
    ids=lambda member: member.host,
)
def test_every_parameter_survives_the_document(member: Member) -> None:
    meant = [[p.name for p in action.parameters] for action in member.actions]
    names = [
        [p.name for p in action.parameters] for action in read(member).site.actions
    ]
    assert names == meant


@pytest.mark.parametrize(
    "member",
    [item for item in CAST if item.dialect in ("", "1.1")],
    ids=lambda member: member.host,
)
def test_plain_documents_conform_strictly(member: Member) -> None:
    document = read(member)
    assert [
        (deviation.pointer, deviation.detail) for deviation in document.deviations
    ] == []
    assert document.conformance == "strict"


def test_dialects_are_tolerated_not_strict() -> None:
    for host in ("brotlaube.test", "maple-spoke.test", "toolbelt-harbour.test"):
        assert read(by_host(host)).conformance == "tolerated"


def test_pages_of_other_formats_declare_no_tools() -> None:
    for member in CAST:
        outcome = parse_page(build_page(member).body, url=member.url)
        tools = isinstance(outcome, Parsed) and outcome.document.site.actions
        assert bool(tools) == (member.format == "webmcp")


def test_broken_documents_are_rejected_by_name() -> None:
    codes = {}
    for member in CAST:
        for path, spoilt in spoil(member, {"/": published(member)}).items():
            if member.story == "broken":
                outcome = parse_document(spoilt.body, url=f"{member.url}{path}")
                assert isinstance(outcome, Rejected)
                codes[member.defect] = outcome.problem.code
    assert codes == {"malformed": "json_syntax", "soft-404": "page_not_document"}


def test_wab_document_tells_place_category_and_fairness() -> None:
    site = read(by_host("kule-rooms.test")).site
    assert site.category == "hotel"
    assert site.location == LocationClaim(city="Istanbul", country="TR")
    assert (site.commission_percent, site.is_independent) == (15, False)


def test_dishonest_site_hides_its_commission() -> None:
    signed = build_document(by_host("lucky-lantern.test"))
    assert signed is not None
    altered = alter_signed(signed)
    assert signed["fairness_metrics"] == {
        "commission_rate": "15%",
        "is_independent": True,
    }
    assert altered["fairness_metrics"] == {
        "commission_rate": "0%",
        "is_independent": True,
    }


def test_text_of_the_cast_cannot_break_out_of_the_page() -> None:
    member = replace(
        by_host("galata-tables.test"),
        name="</title><script>",
        actions=(
            Action(
                name="a",
                description='"><script>x</script>',
                parameters=(Parameter(name='"><b>', description="'\"<i>"),),
            ),
        ),
    )
    page = build_page(member).body
    assert b"<script>" not in page
    assert b"<b>" not in page
    assert b"<i>" not in page


def test_abp_page_points_at_its_manifest() -> None:
    page = build_page(by_host("paper-otter.test")).body
    assert b'<link rel="abp-manifest" href="/abp-manifest.json">' in page


def test_registration_states_what_the_document_cannot() -> None:
    assert declare(by_host("mint-drill.test")) == {
        "category": "dentist",
        "location": {"city": "Istanbul", "country": "TR"},
        "commission_rate": "15%",
        "is_independent": False,
        "size": "large",
    }
    assert declare(by_host("kule-rooms.test")) == {"size": "large"}
    assert "location" in declare(by_host("brotlaube.test"))
    assert "location" not in declare(by_host("lingua-ferry.test"))


def test_every_declaration_is_one_the_registry_accepts() -> None:
    for member in CAST:
        parsed = parse_declarations(declare(member))
        assert parsed.size == member.size


def test_declared_urls_are_of_the_own_host() -> None:
    for member in CAST:
        for url in document_urls(member):
            assert url.startswith(f"https://{member.host}/")
    assert document_urls(by_host("toolbelt-harbour.test")) == (
        "https://toolbelt-harbour.test/.well-known/webmcp.json",
        "https://toolbelt-harbour.test/",
    )


def test_documents_are_json_of_modest_size() -> None:
    for member in CAST:
        body = published(member).body
        assert len(body) < 32 * 1024
        if build_document(member) is not None:
            assert isinstance(json.loads(body), dict)


def test_the_documents_of_the_cast_are_those_that_benchmarks_read() -> None:
    digest = sha256(b"".join(published(member).body for member in CAST)).hexdigest()
    assert digest == "a5b63dbdf10a4f8cca075bf8ebbd4ef061854b00ccdaf608e010146f79965e93"
