from collections.abc import Callable
from typing import Any

import pytest

from registry.errors import Problem
from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]

TOOL = {"name": "forecast", "description": "Forecast for a place"}
CARD: dict[str, Any] = {"serverInfo": {"name": "wetter"}, "tools": [TOOL]}


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(deviation.pointer, deviation.rule) for deviation in document.deviations}


def test_an_mcp_card_offers_its_tools(sample: Sample, read: Read) -> None:
    document = read(sample("mcp-server-card"))
    (tool,) = document.site.actions
    assert (document.site.name, document.version) == ("Wetterdienst", "2025-06-18")
    assert (tool.sensitivity, tool.parameters[0].type) == ("read", "string")
    assert tool.calls[0].target == "https://site.example/mcp"
    assert tool.calls[0].operation == "forecast"


def test_a_card_is_not_judged_and_so_not_called_strict(
    sample: Sample, read: Read
) -> None:
    document = read(sample("mcp-server-card"))
    assert (document.conformance, document.deviations) == ("tolerated", ())


@pytest.mark.parametrize(
    ("document", "dialect", "names", "references"),
    [
        pytest.param(CARD, "server_card", ["forecast"], [], id="server card"),
        pytest.param(
            {
                "$schema": "https://static.modelcontextprotocol.io/server-card.json",
                "remotes": [{"type": "sse", "url": "/sse"}],
            },
            "server_json",
            [],
            ["https://site.example/sse"],
            id="card of version 1",
        ),
        pytest.param(
            {"packages": [{"registryType": "npm", "identifier": "x"}]},
            "server_json",
            [],
            [],
            id="packages",
        ),
        pytest.param(
            {"packages": [{"registry_name": "npm"}], "remotes": []},
            "server_json",
            [],
            [],
            id="an older server.json",
        ),
        pytest.param(
            {
                "server": {"name": "x", "remotes": [{"type": "sse", "url": "/s"}]},
                "_meta": {},
            },
            "server_json",
            [],
            ["https://site.example/s"],
            id="answer of the registry",
        ),
        pytest.param(
            {"protocol": "mcp", "endpoint": "/mcp", "tools": [TOOL]},
            "website_manifest",
            ["forecast"],
            ["https://site.example/mcp"],
            id="protocol",
        ),
        pytest.param(
            {"transport": "Streamable HTTP", "url": "/mcp", "tools": ["forecast"]},
            "website_manifest",
            ["forecast"],
            ["https://site.example/mcp"],
            id="transport in words",
        ),
        pytest.param(
            {
                "transport": {"type": "sse", "url": "/sse"},
                "capabilities": {"tools": [TOOL]},
            },
            "website_manifest",
            ["forecast"],
            ["https://site.example/sse"],
            id="tools as a capability",
        ),
        pytest.param(
            {"transport": ["stdio", "streamable-http"], "mcp_endpoint": "/mcp"},
            "website_manifest",
            [],
            ["https://site.example/mcp"],
            id="several transports",
        ),
        pytest.param(
            {
                "spec": "https://modelcontextprotocol.io",
                "transports": {"sse": {"url": "/s"}},
            },
            "website_manifest",
            [],
            ["https://site.example/s"],
            id="a map of transports",
        ),
        pytest.param(
            {"server_name": "x", "tool_list": [TOOL]},
            "gateway",
            ["forecast"],
            [],
            id="gateway",
        ),
        pytest.param(
            {"url": "/mcp", "methods": [TOOL]},
            "website_manifest",
            ["forecast"],
            ["https://site.example/mcp"],
            id="methods",
        ),
        pytest.param(
            {"mcp": {"endpoints": {"http": "/mcp"}, "tools": [TOOL]}},
            "website_manifest",
            ["forecast"],
            ["https://site.example/mcp"],
            id="nested",
        ),
        pytest.param(
            {"path": "/mcp", "mcp": {"server": {"name": "x"}, "tools": [TOOL]}},
            "website_manifest",
            ["forecast"],
            ["https://site.example/mcp"],
            id="nested, with the path outside",
        ),
        pytest.param(
            {
                "servers": [
                    {"name": "a", "url": "/a", "tools": [TOOL]},
                    {"name": "b", "transport": {"type": "http", "endpoint": "/b"}},
                    {"type": "stdio", "command": "npx", "tools": ["list_all"]},
                ]
            },
            "server_list",
            ["forecast", "list_all"],
            ["https://site.example/a", "https://site.example/b"],
            id="a list of servers",
        ),
        pytest.param(
            {"mcpServers": {"a": {"url": "/a", "tools": [TOOL]}}},
            "server_list",
            ["forecast"],
            ["https://site.example/a"],
            id="a map of servers with tools",
        ),
        pytest.param(CARD | {"tools": "dynamic"}, "server_card", [], [], id="dynamic"),
        pytest.param(
            CARD | {"tools": ["dynamic"]}, "server_card", [], [], id="[dynamic]"
        ),
    ],
)
def test_each_kind_of_document_is_read(
    read: Read,
    document: dict[str, Any],
    dialect: str,
    names: list[str],
    references: list[str],
) -> None:
    result = read(document)
    assert (result.format, result.dialect) == ("mcp", dialect)
    assert [action.name for action in result.site.actions] == names
    assert list(result.references) == references


@pytest.mark.parametrize(
    ("members", "pointer", "rule"),
    [
        ({"tools": 14}, "/tools", "type"),
        ({"tools": []}, "", "empty"),
        ({"tools": ["forecast"]}, "/tools", "shape"),
        ({"tools": {"forecast": TOOL}}, "/tools", "type"),
        ({"tools": [TOOL, TOOL]}, "/tools/1", "duplicate"),
        ({"tools": [{"name": "forecast"}]}, "/tools/0/description", "required"),
        ({"tools": [TOOL | {"parameters": {}}]}, "/tools/0/parameters", "spelling"),
        (
            {"tools": [TOOL | {"method": "CALL", "url": "/x"}]},
            "/tools/0/method",
            "value",
        ),
        ({"transport": {"url": "http://x.example"}}, "/transport/url", "target"),
        ({"remotes": {"url": "/x"}}, "/remotes", "type"),
        ({"protocolVersion": 2025}, "/protocolVersion", "type"),
    ],
)
def test_what_is_odd_is_named(
    read: Read, members: dict[str, Any], pointer: str, rule: str
) -> None:
    assert (pointer, rule) in _rules(read(CARD | members))


@pytest.mark.parametrize(
    ("members", "call"),
    [
        ({}, ("mcp", "", "https://site.example/mcp")),
        (
            {"endpoint": "/api", "method": "get"},
            ("http", "GET", "https://site.example/api"),
        ),
        (
            {"execution": {"endpoint": "/api", "method": "POST"}},
            ("http", "POST", "https://site.example/api"),
        ),
    ],
)
def test_a_tool_is_called_at_its_own_address_or_the_servers(
    read: Read, members: dict[str, Any], call: tuple[str, str, str]
) -> None:
    document = read(CARD | {"endpoint": "/mcp", "tools": [TOOL | members]})
    (result,) = document.site.actions[0].calls
    assert (result.transport, result.method, result.target) == call


@pytest.mark.parametrize(
    ("members", "required"),
    [
        ({}, None),
        ({"authentication": {"required": True, "schemes": ["bearer"]}}, True),
        ({"authentication": {"required": False}}, False),
        ({"auth": "none"}, False),
        ({"remotes": [{"url": "/m", "authentication": {"type": "none"}}]}, False),
        ({"remotes": [{"url": "/m", "headers": [{"isRequired": True}]}]}, True),
        ({"remotes": [{"url": "/m", "headers": [{"isRequired": False}]}]}, None),
        ({"remotes": [{"url": "/m", "headers": "Authorization"}]}, None),
        ({"authentication": 7}, None),
    ],
)
def test_the_server_tells_whether_callers_identify_themselves(
    read: Read, members: dict[str, Any], required: bool | None
) -> None:
    assert read(CARD | members).site.actions[0].auth_required is required


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"serverInfo": {"name": "wx", "title": "Wetter"}}, "Wetter"),
        ({"serverInfo": {}, "name": "io.x/wx", "title": "Wetter"}, "Wetter"),
        ({"serverInfo": {"name": 7}, "server_name": "Wetter"}, "Wetter"),
        ({"serverInfo": {}}, ""),
    ],
)
def test_the_title_names_the_site(
    read: Read, members: dict[str, Any], name: str
) -> None:
    assert read(CARD | members).site.name == name


@pytest.mark.parametrize(
    "document",
    [
        pytest.param({"protocols": ["mcp"], "mcp_endpoint": "/mcp"}, id="a mention"),
        pytest.param({"mcp": {"command": "npx x"}}, id="a command"),
        pytest.param({"remotes": [{"name": "origin", "url": "g"}]}, id="of git"),
        pytest.param({"servers": [{"url": "/api"}]}, id="of an API"),
        pytest.param({"openrpc": "1.2.6", "methods": [{"name": "a"}]}, id="OpenRPC"),
        pytest.param(
            {
                "manifest_version": "0.3",
                "server": {"entry_point": "index.js"},
                "tools": [TOOL],
            },
            id="a bundle",
        ),
        pytest.param({"model": "m", "messages": [], "tools": [TOOL]}, id="a request"),
        pytest.param({"transport": "tram", "url": "/"}, id="another transport"),
        pytest.param({"name": "x", "capabilities": {"tools": {}}}, id="capabilities"),
    ],
)
def test_what_only_sounds_like_mcp_is_refused(
    refuse: Callable[..., Problem], document: dict[str, Any]
) -> None:
    assert refuse(document).code in {"format_unknown", "format_lookalike"}


TOOLS = [{"name": "find_huts", "description": "Find huts", "inputSchema": {}}]


@pytest.mark.parametrize(
    "document",
    [
        {"mcp_version": "2025-06-18", "name": "Huts", "tools": TOOLS},
        {"name": "Huts", "tools": 2, "mcp": {"tools": TOOLS}},
        {"name": "Huts", "tools": [], "mcp": {"tools": {"find_huts": "Find"}}},
        {
            "name": "Huts",
            "capabilities": {"streaming": False},
            "protocolVersion": "0.3.0",
            "mcp": {"tools": ["find_huts"]},
        },
    ],
)
def test_a_document_that_names_mcp_is_read_as_mcp(
    document: dict[str, Any], read: Callable[..., Document]
) -> None:
    parsed = read(document)
    assert parsed.format == "mcp"
    assert "find_huts" in [action.name for action in parsed.site.actions]
    assert "manifest" not in {deviation.rule for deviation in parsed.deviations}


PUBLISHED = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    "name": "com.example/weather",
    "description": "The weather of tomorrow",
    "version": "1.0.0",
    "remotes": [{"type": "streamable-http", "url": "https://site.example/mcp"}],
}


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({}, None),
        ({"name": "weather"}, "/name"),
        ({"description": "x" * 101}, "/description"),
        ({"version": ""}, "/version"),
        ({"remotes": [{"type": "stdio", "url": "x"}]}, "/remotes/0/type"),
        ({"remotes": [{"type": "sse"}]}, "/remotes/0/url"),
    ],
)
def test_a_server_json_is_compared_with_the_schema_that_it_names(
    read: Callable[..., Document], changes: dict[str, Any], pointer: str | None
) -> None:
    document = read({**PUBLISHED, **changes})
    pointers = {row.pointer for row in document.deviations}
    assert pointer in pointers if pointer else document.conformance == "strict"


PUBLISHED_CARD = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/mcp-server-card/v1.json",
    "version": "1.0",
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "wetter", "version": "1"},
    "transport": {"type": "streamable-http", "endpoint": "https://site.example/mcp"},
    "capabilities": {"tools": {}},
}


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({}, set()),
        ({"tools": [TOOL]}, set()),
        ({"serverInfo": {"name": "wetter"}}, {"/serverInfo/version"}),
        ({"transport": {"type": "pigeon"}}, {"/transport/type", "/transport/endpoint"}),
        ({"capabilities": []}, {"/capabilities"}),
    ],
)
def test_a_card_that_names_its_schema_is_compared_with_it(
    changes: dict[str, Any], faults: set[str], read: Read
) -> None:
    document = read({**PUBLISHED_CARD, **changes})
    assert {pointer for pointer, _ in _rules(document)} == faults
    assert document.conformance == ("tolerated" if faults else "strict")
