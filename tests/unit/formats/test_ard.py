from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

ENTRY = {
    "identifier": "urn:air:werke.example:mcp:outages",
    "displayName": "Outages",
    "type": "application/mcp-server-card+json",
    "url": "/mcp.json",
}


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def test_a_catalogue_offers_and_refers(sample: Sample, read: Read) -> None:
    document = read(sample("ard-catalogue"))
    (entry,) = document.site.actions
    assert entry.name == "Outages"
    assert document.references == ("https://stadtwerke.example/mcp.json",)


def test_a_catalogue_is_not_judged_and_so_not_called_strict(
    sample: Sample, read: Read
) -> None:
    document = read(sample("ard-catalogue"))
    assert (document.conformance, document.deviations) == ("tolerated", ())


@pytest.mark.parametrize(
    ("document", "dialect", "rules"),
    [
        pytest.param(
            {"specVersion": "1.0", "entries": [ENTRY]}, "entries", set(), id="1.0"
        ),
        pytest.param(
            {"entries": [ENTRY]},
            "entries",
            {("/specVersion", "required")},
            id="no version",
        ),
        pytest.param(
            {
                "specVersion": "0.1",
                "agents": [{"id": "a", "name": "Outages", "cardUrl": "/mcp.json"}],
            },
            "agents",
            set(),
            id="agents",
        ),
        pytest.param(
            {
                "ard_version": "0.9",
                "capabilities": [{"id": "a", "name": "Outages", "url": "/mcp.json"}],
            },
            "capabilities",
            set(),
            id="0.9",
        ),
        pytest.param(
            {
                "$schema": "https://agenticresourcediscovery.org/schema/ard.json",
                "resources": [{"name": "Outages", "type": "api", "url": "/mcp.json"}],
            },
            "resources",
            {("/specVersion", "required")},
            id="resources",
        ),
        pytest.param(
            {"specVersion": "1.0", "entries": [ENTRY, 7, ENTRY]},
            "entries",
            {("/entries/1", "type"), ("/entries/2", "duplicate")},
            id="oddities",
        ),
    ],
)
def test_each_shape_is_read_and_its_oddities_named(
    read: Read, document: dict[str, Any], dialect: str, rules: set[tuple[str, str]]
) -> None:
    result = read(document)
    assert (result.format, result.dialect) == ("ard", dialect)
    assert [action.name for action in result.site.actions] == ["Outages"]
    assert result.references == ("https://site.example/mcp.json",)
    assert _rules(result) == rules


@pytest.mark.parametrize(
    ("members", "rules"),
    [
        ({"url": None}, {("/entries/0/url", "required")}),
        (
            {"url": "ftp://x.example"},
            {("/entries/0/url", "target"), ("/entries/0/url", "required")},
        ),
        ({"url": None, "data": {"name": "x"}}, {("/entries/0/data", "inline")}),
    ],
)
def test_an_entry_that_leads_nowhere_says_so(
    read: Read, members: dict[str, Any], rules: set[tuple[str, str]]
) -> None:
    document = read({"specVersion": "1.0", "entries": [ENTRY | members]})
    assert document.site.actions[0].calls == ()
    assert _rules(document) == rules


@pytest.mark.parametrize(
    ("host", "name", "url"),
    [
        ({"displayName": "Werke"}, "Werke", ""),
        ({"name": "Werke", "url": "https://w.example"}, "Werke", "https://w.example"),
        ({"identifier": "w.example"}, "", "https://w.example"),
        ({"identifier": "did:web:w.example"}, "", ""),
        ("Werke", "Werke", ""),
        (7, "", ""),
    ],
)
def test_the_host_names_the_site(read: Read, host: Any, name: str, url: str) -> None:
    document = read({"specVersion": "1.0", "host": host, "entries": [ENTRY]})
    assert (document.site.name, document.site.url) == (name, url)


def test_a_resource_inline_may_give_its_address(read: Read) -> None:
    entry = ENTRY | {"url": None, "data": {"endpoint": "/chat", "method": "POST"}}
    document = read({"specVersion": "1.0", "entries": [entry]})
    assert document.references == ("https://site.example/chat",)
    assert _rules(document) == set()


def test_a_long_media_type_is_cut(read: Read) -> None:
    document = read({"specVersion": "1.0", "entries": [ENTRY | {"type": "x" * 200}]})
    assert document.site.actions[0].calls[0].transport == "x" * 80
