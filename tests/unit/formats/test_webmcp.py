from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.document import MAX_ACTIONS, Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

FIND = {"name": "find_huts", "description": "Finds huts"}


def _rules(document: Document) -> set[tuple[str, str]]:
    """All but the one that every manifest bears."""
    result = {(deviation.pointer, deviation.rule) for deviation in document.deviations}
    assert ("", "manifest") in result
    return result - {("", "manifest")}


def test_tools_are_read_in_both_parameter_shapes(sample: Sample, read: Read) -> None:
    document = read(sample("webmcp-tools"))
    beds, book = document.site.actions
    assert (beds.sensitivity, book.sensitivity) == ("read", "destructive")
    assert [(p.name, p.required) for p in beds.parameters] == [("date", True)]
    assert [(p.name, p.type, p.required) for p in book.parameters] == [
        ("date", "string", True),
        ("guests", "number", False),
    ]
    assert document.site.languages == ("de-AT",)
    assert document.references == (
        "https://site.example/book",
        "https://mcp.enzian.example/mcp",
    )


def test_a_manifest_is_never_strict(sample: Sample, read: Read) -> None:
    document = read(sample("webmcp-tools"))
    assert document.conformance == "tolerated"
    assert document.deviations[0].rule == "manifest"


def test_forms_and_bare_names_are_actions(sample: Sample, read: Read) -> None:
    (form,) = read(sample("webmcp-forms")).site.actions
    assert form.name == "Verlust melden"
    assert (form.calls[0].method, form.calls[0].target) == (
        "POST",
        "https://site.example/melden",
    )
    names = [a.name for a in read(sample("webmcp-names")).site.actions]
    assert names == ["search_buttons", "list_sizes"]


def test_a_client_configuration_only_refers(sample: Sample, read: Read) -> None:
    document = read(sample("webmcp-client-configuration"))
    assert document.site.actions == ()
    assert document.references == ("https://imkerei.example/mcp",)


@pytest.mark.parametrize(
    ("document", "dialect", "names", "rules"),
    [
        pytest.param({"tools": [FIND]}, "tools", ["find_huts"], set(), id="objects"),
        pytest.param(
            {"tools": ["find_huts", "book"]},
            "tool_names",
            ["find_huts", "book"],
            {("/tools", "shape")},
            id="names alone",
        ),
        pytest.param(
            {"tools": [FIND, "book_hut", 7, None]},
            "tools",
            ["find_huts", "book_hut"],
            {("/tools", "shape"), ("/tools/2", "type")},
            id="of all kinds",
        ),
        pytest.param(
            {"tools": [{"name": "find_huts"}]},
            "tools",
            ["find_huts"],
            {("/tools/0/description", "required")},
            id="not described",
        ),
        pytest.param(
            {"tools": [FIND, {"description": "Finds what?"}]},
            "tools",
            ["find_huts"],
            {("/tools/1", "required")},
            id="not named",
        ),
        pytest.param(
            {"tools": [FIND, FIND]},
            "tools",
            ["find_huts"],
            {("/tools/1", "duplicate")},
            id="twice",
        ),
        pytest.param(
            {"tools": {"find_huts": {"description": "Finds huts"}, "book": "Books"}},
            "tools",
            ["find_huts", "book"],
            {("/tools", "type")},
            id="a map",
        ),
        pytest.param(
            {"tools": {"read": [FIND], "write": [{**FIND, "name": "book"}], "n": "x"}},
            "tools",
            ["find_huts", "book"],
            {("/tools", "type")},
            id="groups of lists",
        ),
        pytest.param(
            {"tools": {"huts": {"find": FIND}}},
            "tools",
            ["find_huts"],
            {("/tools", "type")},
            id="groups of maps",
        ),
        pytest.param(
            {"tools": [{"type": "function", "function": FIND}]},
            "tools",
            ["find_huts"],
            set(),
            id="functions",
        ),
        pytest.param(
            {"tools": [{"name": "Find huts", "id": "find-huts", "description": "x"}]},
            "tools",
            ["find-huts"],
            set(),
            id="a name for people",
        ),
        pytest.param(
            {"webmcp": {"tools": [FIND]}}, "tools", ["find_huts"], set(), id="nested"
        ),
        pytest.param(
            {
                "spec": "webmcp/0.1",
                "site": {"pages": [{"url": "/", "intents": ["go"]}]},
            },
            "pages",
            ["go"],
            {("/site/pages/0/intents", "shape")},
            id="pages of a site",
        ),
        pytest.param(
            {"pages": [{"url": "/huts", "tools": [FIND]}]},
            "pages",
            ["find_huts"],
            set(),
            id="tools of a page",
        ),
        pytest.param(
            {"spec": "webmcp/0.1", "pages": ["/", "/huts"]},
            "pages",
            [],
            {("", "empty")},
            id="pages",
        ),
        pytest.param(
            {"protocol": "webmcp-lite", "endpoint": "/api"},
            "pages",
            [],
            {("", "empty")},
            id="endpoint",
        ),
        pytest.param(
            {"$schema": "https://x.example/webmcp.json", "tools": []},
            "tools",
            [],
            {("", "empty")},
            id="marked, and empty",
        ),
        pytest.param(
            {"runtimeApi": "document.modelContext", "tools": 7},
            "tools",
            [],
            {("/tools", "type"), ("", "empty")},
            id="marked, and broken",
        ),
    ],
)
def test_each_shape_is_read_and_its_oddities_named(
    read: Read,
    document: dict[str, Any],
    dialect: str,
    names: list[str],
    rules: set[tuple[str, str]],
) -> None:
    result = read(document)
    assert (result.format, result.dialect) == ("webmcp", dialect)
    assert [action.name for action in result.site.actions] == names
    assert _rules(result) == rules


@pytest.mark.parametrize(
    ("members", "call"),
    [
        ({}, ("page", "", "")),
        ({"url": "/huts"}, ("page", "", "https://site.example/huts")),
        ({"availableOn": "/huts"}, ("page", "", "https://site.example/huts")),
        ({"availableOn": "*"}, ("page", "", "")),
        ({"availableOn": ["/huts"]}, ("page", "", "")),
        (
            {"url": "/huts", "method": "get"},
            ("http", "GET", "https://site.example/huts"),
        ),
        ({"endpoint": "/huts"}, ("http", "", "https://site.example/huts")),
        (
            {"uri": "/huts", "method": "interactive"},
            ("page", "", "https://site.example/huts"),
        ),
        ({"endpoint": "javascript:x()"}, ("page", "", "")),
        ({"endpoint": 7}, ("page", "", "")),
        (
            {"execution": {"type": "http", "method": "POST", "endpoint": "/huts"}},
            ("http", "POST", "https://site.example/huts"),
        ),
        ({"execution": "sync"}, ("page", "", "")),
    ],
)
def test_a_tool_is_called_at_its_address_or_on_its_page(
    read: Read, members: dict[str, Any], call: tuple[str, str, str]
) -> None:
    (action,) = read({"tools": [FIND | members]}).site.actions
    (result,) = action.calls
    assert (result.transport, result.method, result.target) == call


def test_what_the_manifest_says_of_logins_holds_for_its_tools(read: Read) -> None:
    manifest = {"tools": [FIND], "auth": {"requires_login": False}}
    assert read(manifest).site.actions[0].auth_required is False


def test_a_form_lists_its_fields(read: Read) -> None:
    form = {"name": "ask", "purpose": "Asks", "method": "post", "requiredFields": ["a"]}
    document = read({"forms": [form]})
    (action,) = document.site.actions
    assert (action.description, action.parameters[0].name) == ("Asks", "a")


def test_a_tool_of_several_pages_is_called_on_each(read: Read) -> None:
    pages = [{"url": "/a", "tools": [FIND]}, {"url": "/b", "tools": [FIND]}]
    document = read({"pages": pages})
    (action,) = document.site.actions
    assert [call.target for call in action.calls] == [
        "https://site.example/a",
        "https://site.example/b",
    ]
    assert _rules(document) == set()


def test_a_tool_listed_above_the_pages_stands_once(read: Read) -> None:
    document = read({"tools": [FIND], "pages": [{"url": "/a", "tools": [FIND]}]})
    assert [action.name for action in document.site.actions] == ["find_huts"]
    assert _rules(document) == set()


def test_tools_of_pages_are_no_more_than_tools_in_a_list(read: Read) -> None:
    names = [f"tool_{number}" for number in range(MAX_ACTIONS)]
    pages = [{"tools": [f"{page}_{name}" for name in names]} for page in "ab"]
    assert len(read({"pages": pages}).site.actions) == MAX_ACTIONS


def test_the_base_of_a_manifest_is_where_its_paths_start(read: Read) -> None:
    document = read(
        {"baseUrl": "https://api.example", "tools": [FIND | {"endpoint": "/huts"}]}
    )
    (call,) = document.site.actions[0].calls
    assert (call.target, call.off_origin) == ("https://api.example/huts", True)


@pytest.mark.parametrize(
    ("members", "references"),
    [
        ({"mcp": "/mcp"}, ["https://site.example/mcp"]),
        (
            {"mcp": {"endpoint": "/mcp", "server": "/card.json"}},
            ["https://site.example/mcp"],
        ),
        ({"mcp": True}, []),
        ({"mcp_endpoint": "/mcp"}, ["https://site.example/mcp"]),
        ({"endpoints": {"sse": "/sse"}}, ["https://site.example/sse"]),
        ({"endpoints": {"mcp": {"http": "/mcp"}}}, ["https://site.example/mcp"]),
        ({"remote": {"url": "https://m.example/mcp"}}, ["https://m.example/mcp"]),
        ({"server": "/mcp"}, ["https://site.example/mcp"]),
        (
            {"pages": ["/a", "/a", 7, {"url": "/b"}]},
            ["https://site.example/a", "https://site.example/b"],
        ),
        ({"pages": {"a": "/a"}}, []),
        (
            {"mcpServers": {"m": {"url": "/mcp"}, "n": {"command": "npx"}}},
            ["https://site.example/mcp"],
        ),
        ({"mcpServers": ["/mcp"]}, []),
    ],
)
def test_pages_and_servers_are_references(
    read: Read, members: dict[str, Any], references: list[str]
) -> None:
    assert list(read({"tools": [FIND]} | members).references) == references


@pytest.mark.parametrize(
    ("members", "name", "url"),
    [
        ({"name": "Huts", "homepage": "/"}, "Huts", "https://site.example/"),
        ({"title": "Huts", "origin": "https://h.example"}, "Huts", "https://h.example"),
        (
            {"provider": "Huts", "provider_url": "https://h.example"},
            "Huts",
            "https://h.example",
        ),
        (
            {"publisher": {"name": "Huts"}, "url": "h.example"},
            "Huts",
            "https://h.example",
        ),
        ({"name": ["Huts"], "url": {}}, "", ""),
    ],
)
def test_name_and_address_of_the_site(
    read: Read, members: dict[str, Any], name: str, url: str
) -> None:
    site = read({"tools": [FIND]} | members).site
    assert (site.name, site.url) == (name, url)


def test_a_nested_manifest_is_titled_by_what_stands_around_it(read: Read) -> None:
    document = read({"name": "Huts", "webmcp": {"lang": "de", "tools": [FIND]}})
    assert (document.site.name, document.site.languages) == ("Huts", ("de",))


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        pytest.param({"name": "x", "tools": []}, "/tools", id="empty"),
        pytest.param(
            {"name": "Bob", "tools": ["React", "Docker"]}, "/tools/0", id="words"
        ),
        pytest.param({"tools": [{"name": "Saw", "price": 5}]}, "/tools/0", id="a shop"),
        pytest.param({"tools": [{"label": "x"}]}, "/tools/0", id="nameless"),
        pytest.param({"tools": [1, 2]}, "/tools/0", id="numbers"),
        pytest.param({"forms": []}, "/forms", id="no forms"),
        pytest.param({"mcpServers": {}}, "/mcpServers", id="no server"),
        pytest.param(
            {"mcpServers": {"a": {"command": "npx", "args": []}}},
            "/mcpServers",
            id="commands",
        ),
    ],
)
def test_what_could_be_anything_is_refused(
    refuse: Callable[[Any], Any], document: dict[str, Any], pointer: str
) -> None:
    problem = refuse(document)
    assert (problem.code, problem.pointer) == ("format_lookalike", pointer)
