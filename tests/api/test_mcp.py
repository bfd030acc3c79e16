"""The face for clients of the Model Context Protocol, by the official SDK's client."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import pytest

from registry.formats.untrusted_text import NOTICE
from registry.interfaces.mcp.tool_table import TOOL, TOOLS
from tests.api.running import LISTED, RunningRegistry

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")
Json = dict[str, Any]
MODES = ("legacy", "auto")  # with the handshake of 2025, and without one
PLACE = {"city": "Amman", "country": "JO", "nonce": "n"}
ACCEPT = {"Accept": "application/json, text/event-stream"}
COMMAND = Path(sys.executable).with_name("fair-registry")


def with_client(
    registry: RunningRegistry,
    work: "Callable[[Client], Awaitable[T]]",
    mode: str = "auto",
) -> T:
    from mcp import Client, MCPError  # noqa: PLC0415 — 1.7 s of CPU, which each worker would pay

    async def run() -> T:
        async with Client(f"{registry.origin}/mcp", mode=mode) as client:  # type: ignore[arg-type] # a name of a mode
            try:
                return await work(client)
            except MCPError as error:  # past the SDK's groups of exceptions
                failed.append(error)
                raise

    failed: list[MCPError] = []
    try:
        return asyncio.run(run())
    except BaseExceptionGroup:
        raise failed[0] from None


def call(registry: RunningRegistry, tool: str, mode: str = "auto", **given: Any) -> Any:
    return with_client(registry, lambda client: client.call_tool(tool, given), mode)


def answer(registry: RunningRegistry, tool: str, **given: Any) -> Json:
    result = call(registry, tool, **given)
    assert not result.is_error, result
    structured: Json = result.structured_content
    assert json.loads(result.content[0].text) == structured
    return structured


def error(registry: RunningRegistry, tool: str, **given: Any) -> Json:
    result = call(registry, tool, **given)
    assert result.is_error
    assert result.structured_content is None
    refused: Json = json.loads(result.content[0].text)["error"]
    return refused


def post(http: httpx.Client, message: object, **headers: str) -> httpx.Response:
    content = message if isinstance(message, bytes) else json.dumps(message)
    given = {"Content-Type": "application/json", **ACCEPT, **headers}
    return http.post("/mcp", content=content, headers=given)


def request(method: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def rankings(registry: RunningRegistry) -> float:
    lines = registry.metrics().splitlines()
    (line,) = (row for row in lines if row.startswith("fair_registry_searches_total "))
    return float(line.split()[1])


@pytest.mark.parametrize("mode", MODES)
def test_the_order_is_that_of_the_search_and_one_record_is_made(
    registry: RunningRegistry, mode: str
) -> None:
    rest = registry.search(q="book a table", **PLACE)
    before = rankings(registry)
    result = call(registry, "search_sites", mode, q="book a table", **PLACE)
    assert rankings(registry) == before + 1
    structured_content = result.structured_content
    assert [row["site"] for row in structured_content["results"]] == [
        row["site"]["host"] for row in rest["results"]
    ]
    assert [row["score"] for row in structured_content["results"]] == [
        round(row["score"] / 1e6, 1) for row in rest["results"]
    ]
    record = registry.http.get(
        f"/v1/rankings/{structured_content['ranking']['id']}"
    ).json()
    opened = {row["name"]: row["value"] for row in record["openings"]}
    order = [row["site"]["id"] for row in rest["results"]]
    assert opened["answer"]["order"] == order
    assert opened["query"] == "book a table"


def test_the_tools_are_those_of_the_table_with_schemas(
    registry: RunningRegistry,
) -> None:
    listed = with_client(registry, lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == [row.name for row in TOOLS]
    assert all(tool.output_schema for tool in listed.tools)


def test_an_agent_searches_once_and_reports_once(registry: RunningRegistry) -> None:
    result = answer(registry, "search_sites", q="book a table", **PLACE)
    assert result["notice"] == NOTICE
    best = result["results"][0]
    assert best["actions"][0]["url"]
    promised = answer(
        registry,
        "report_selection",
        rankingId=result["ranking"]["id"],
        siteId=best["site"],
        outcome="succeeded",
    )
    assert promised["promise"]["signature"]


def test_a_ranking_is_explained_to_its_asker_in_points(
    registry: RunningRegistry,
) -> None:
    output = answer(registry, "search_sites", q="book a table", **PLACE)
    whole = output["ranking"]["id"]
    explained = answer(registry, "explain_ranking", rankingId=whole)
    assert [row["site"] for row in explained["sites"]] == [
        row["site"] for row in output["results"]
    ]
    for row, result in zip(explained["sites"], output["results"], strict=True):
        assert row["score"] == result["score"]
        points = list(row["contributions"].values())
        for exact, rounded in zip(points, result["contributions"], strict=True):
            assert exact == pytest.approx(rounded, abs=0.6)
        assert sum(points) == pytest.approx(row["score"], abs=0.3)
    assert sum(explained["weights"].values()) == pytest.approx(100)
    assert registry.http.get(explained["record"]).status_code == 200


def test_a_stranger_sees_neither_order_nor_score(registry: RunningRegistry) -> None:
    whole = answer(registry, "search_sites", q="book a table")["ranking"]["id"]
    public = whole.partition(".")[0]
    result = call(registry, "explain_ranking", rankingId=public)
    assert not result.is_error
    assert "query" not in result.structured_content
    assert result.structured_content["sites"] == []
    assert "eligible" not in result.structured_content


@pytest.mark.parametrize("host", LISTED)
def test_a_site_is_had_with_its_actions_and_as_tools(
    registry: RunningRegistry, host: str
) -> None:
    site = answer(registry, "get_site", site=host)
    assert site["site"] == host
    assert site["actions"]
    tools = answer(registry, "get_site_tools", site=host)["tools"]
    assert len(tools) == len(site["actions"]) + site.get("omitted", 0)
    assert all("__" in tool["name"] for tool in tools)


def test_tools_of_a_site_come_with_the_limits_that_it_declares(
    registry: RunningRegistry,
) -> None:
    limits = {
        host: answer(registry, "get_site_tools", site=host)["rateLimits"]
        for host in LISTED
    }
    assert {"format": "wab", "requests": 60, "window": "60s"} in limits[LISTED[0]]
    assert any(
        row["format"] == "awas" and row["window"] == "1h"
        for row in limits["almond-door-clinic.test"]
    )


def test_discovery_documents_and_the_policy_are_resources(
    registry: RunningRegistry,
) -> None:
    async def read(client: "Client") -> tuple[list[str], Json, Json]:
        listed = await client.list_resources()
        uris = [str(row.uri) for row in listed.resources]
        site = await client.read_resource(f"wab://{LISTED[0]}/discovery")
        policy = await client.read_resource("registry://policy")
        return uris, *(
            json.loads(row.contents[0].text)  # type: ignore[union-attr] # text it is
            for row in (site, policy)
        )

    uris, site, policy = with_client(registry, read)
    assert {f"wab://{host}/discovery" for host in LISTED} < set(uris)
    assert (next(iter(site)), site["notice"]) == ("notice", NOTICE)
    assert site["wab_version"] == "1.0"
    assert policy == registry.http.get("/v1/policy").json()


def test_the_prompt_asks_for_a_fair_selection(registry: RunningRegistry) -> None:
    given = {"task": "book a table", "city": "Amman"}
    prompt = with_client(
        registry, lambda client: client.get_prompt("choose_fairly", given)
    )
    text = prompt.messages[0].content.text  # type: ignore[union-attr] # text it is
    assert "book a table I am in Amman." in text
    assert "report_selection" in text


@pytest.mark.parametrize(
    ("tool", "given", "code", "pointer"),
    [
        ("search_sites", {}, "INVALID_PARAMS", "/q"),
        ("search_sites", {"q": ""}, "INVALID_PARAMS", "/q"),
        ("search_sites", {"q": "a", "limit": 0}, "INVALID_PARAMS", "/limit"),
        ("search_sites", {"q": "a", "limit": "5"}, "INVALID_PARAMS", "/limit"),
        ("search_sites", {"q": "a", "brand": "x"}, "INVALID_PARAMS", "brand"),
        ("search_sites", {"q": "a", "detail": "full"}, "INVALID_PARAMS", "detail"),
        ("search_sites", {"q": "a", "cursor": "x"}, "INVALID_PARAMS", "/cursor"),
        ("search_sites", {"q": "a", "lat": 1}, "INVALID_PARAMS", "/lon"),
        ("get_site", {"site": "nobody.test"}, "INVALID_PARAMS", "host"),
        ("get_site", {"site": "not a host"}, "INVALID_PARAMS", "host"),
        ("get_site", {"site": 7}, "INVALID_PARAMS", "/site"),
        ("get_site_tools", {"site": "../../v1"}, "INVALID_PARAMS", "host"),
        ("explain_ranking", {"rankingId": "x"}, "INVALID_PARAMS", None),
        (
            "report_selection",
            {"rankingId": "01M85NDXXA170D6JBX2YCRCG8H.x", "siteId": None},
            "PERMISSION_DENIED",
            "/rankingId",
        ),
    ],
)
def test_what_is_wrong_is_refused_in_words_of_appendix_b(
    registry: RunningRegistry, tool: str, given: Json, code: str, pointer: str | None
) -> None:
    refused = error(registry, tool, **given)
    assert refused["code"] == code
    assert refused["message"]
    if pointer is not None:
        assert refused["details"]["pointer"] == pointer
    assert refused["details"]["fix"]


def test_a_second_report_says_that_there_is_one(registry: RunningRegistry) -> None:
    result = answer(registry, "search_sites", q="book a table")
    chosen = {"rankingId": result["ranking"]["id"], "siteId": None}
    assert not call(registry, "report_selection", **chosen).is_error
    other = {**chosen, "siteId": result["results"][0]["site"]}
    assert error(registry, "report_selection", **other)["code"] == "EXECUTION_FAILED"


def test_a_tool_that_is_not_there_is_a_mistake_of_the_protocol(
    registry: RunningRegistry,
) -> None:
    from mcp import MCPError  # noqa: PLC0415 — as above

    with pytest.raises(MCPError) as refused:
        call(registry, "buy_everything")
    assert refused.value.error.data == {"code": "ACTION_NOT_FOUND"}


@pytest.mark.parametrize(
    "uri",
    [
        "wab://nobody.test/discovery",
        "wab://a/b/c",
        "file:///etc/passwd",
        "registry://secrets",
        f"wab://{LISTED[0]}/discovery?as=x",
    ],
)
def test_other_resources_are_refused(registry: RunningRegistry, uri: str) -> None:
    from mcp import MCPError  # noqa: PLC0415 — as above

    with pytest.raises(MCPError) as refused:
        with_client(registry, lambda client: client.read_resource(uri))
    assert refused.value.error.data["code"] == "INVALID_PARAMS"


BAD_MESSAGES: dict[str, tuple[object, int, int]] = {
    "no_json": (b"{", 400, -32_700),
    "nothing": (b"", 400, -32_700),
    "a_key_twice": (b'{"id":1,"id":2}', 400, -32_700),
    "too_deep": (b"[" * 40 + b"]" * 40, 400, -32_700),
    "no_text": (request("tools/call", name="\u0000"), 400, -32_700),
    "a_batch": ([request("ping")], 400, -32_602),
    "no_version": ({"id": 1, "method": "ping"}, 400, -32_602),
    "too_large": (b'"' + b"a" * 70_000 + b'"', 413, -32_600),
}


@pytest.mark.parametrize("case", BAD_MESSAGES)
def test_bad_messages_are_answered_as_errors_of_json_rpc(
    http: httpx.Client, case: str
) -> None:
    message, status, number = BAD_MESSAGES[case]
    response = post(http, message)
    assert response.status_code == status, response.text
    body = response.json()
    assert body["jsonrpc"] == "2.0"
    assert body["error"]["code"] == number


def test_an_unknown_method_is_told_so(http: httpx.Client) -> None:
    body = post(http, request("sampling/createMessage")).json()
    assert body["error"]["code"] == -32_601


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://anywhere.example", 200),
        ("http://localhost:3000", 200),
        ("http://[::1]:6274", 200),
        ("http://rebound.example", 403),
        ("http://127.0.0.1.rebound.example", 403),
        ("http://localhost.rebound.example:8080", 403),
        ("null", 403),
        ("file://", 403),
    ],
)
def test_pages_of_plain_http_are_turned_away(
    http: httpx.Client, origin: str, status: int
) -> None:
    response = post(http, request("ping"), Origin=origin)
    assert response.status_code == status
    if status == 403:
        assert response.json()["error"]["data"]["code"] == "ORIGIN_MISMATCH"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_is_neither_stream_nor_session(http: httpx.Client, method: str) -> None:
    response = http.request(method, "/mcp", headers=ACCEPT)
    assert response.status_code == 405
    assert "POST" in response.headers["Allow"]


def test_an_initialize_leaves_no_session_and_every_message_counts(
    http: httpx.Client,
) -> None:
    opening = request(
        "initialize",
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "a", "version": "1"},
    )
    response = post(http, opening)
    assert response.json()["result"]["serverInfo"]["name"] == "fair-registry"
    assert "Mcp-Session-Id" not in response.headers
    assert response.headers["RateLimit-Policy"].startswith('"message"')
    result = post(http, request("tools/call", name="get_site", arguments={}))
    assert result.headers["RateLimit-Policy"].startswith('"message"')
    searched = post(
        http, request("tools/call", name="search_sites", arguments={"q": "a table"})
    )
    assert searched.headers["RateLimit-Policy"].startswith('"search"')


def test_a_wrong_key_is_refused_and_not_taken_for_anonymous(
    http: httpx.Client,
) -> None:
    body = post(
        http,
        request("tools/call", name="search_sites", arguments={"q": "a table"}),
        Authorization="Bearer nonsense",
    ).json()
    assert body["result"]["isError"]
    refused = json.loads(body["result"]["content"][0]["text"])["error"]
    assert refused["code"] == "INVALID_TOKEN"


@pytest.mark.parametrize(
    "path", ["/.well-known/mcp.json", "/.well-known/mcp/server-card.json"]
)
def test_the_card_names_the_endpoint_that_answers(
    registry: RunningRegistry, path: str
) -> None:
    card = registry.http.get(path).json()
    assert card["transport"]["url"] == f"{registry.origin}/mcp"
    assert [row["name"] for row in card["tools"]] == [row.name for row in TOOLS]
    described = registry.http.get("/server.json").json()
    assert described["remotes"][0]["url"] == card["transport"]["url"]


@pytest.mark.slow
def test_the_command_serves_the_same_over_standard_input(
    registry: RunningRegistry,
) -> None:
    from mcp import Client, StdioServerParameters, stdio_client  # noqa: PLC0415

    async def run() -> tuple[list[str], Json]:
        server = StdioServerParameters(
            command=str(COMMAND), args=["mcp", "--registry", registry.origin]
        )
        async with Client(stdio_client(server)) as client:
            listed = await client.list_tools()
            given = {"q": "book a table", **PLACE}
            result = await client.call_tool("search_sites", given)
            refused = await client.call_tool("get_site", {"site": "nobody.test"})
            assert refused.is_error
            return [tool.name for tool in listed.tools], result.structured_content

    names, output = asyncio.run(run())
    assert names == [row.name for row in TOOLS]
    rest = registry.search(q="book a table", **PLACE)
    assert [row["site"] for row in output["results"]] == [
        row["site"]["host"] for row in rest["results"]
    ]


@pytest.mark.slow
def test_the_command_outlives_a_registry_that_is_away() -> None:
    lines = [
        b"no json",
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode(),
        json.dumps({**request("tools/list"), "id": "seven"}).encode(),
    ]
    away = subprocess.run(
        [COMMAND, "mcp", "--registry", "http://127.0.0.1:9"],
        input=b"\n".join(lines),
        capture_output=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in away.stdout.splitlines()]
    assert sorted(str(row["id"]) for row in answers) == ["None", "seven"]
    assert all(row["error"]["data"]["code"] == "TRANSPORT_ERROR" for row in answers)


def test_arguments_that_a_client_fills_in_with_null_are_not_given(
    registry: RunningRegistry,
) -> None:
    """CrewAI sends every member of a tool's schema, null where the model said nothing."""
    given = dict.fromkeys(TOOL["search_sites"].takes["properties"])
    searched = answer(registry, "search_sites", **{**given, "q": "book a table"})
    assert searched["results"]
    none = {"rankingId": searched["ranking"]["id"], "siteId": None, "outcome": None}
    assert answer(registry, "report_selection", **none)["leafHash"]
    assert call(registry, "search_sites", q=None).is_error
