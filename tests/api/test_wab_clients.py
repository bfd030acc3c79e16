"""The very calls of WAB's own clients, and the members that they read of the answers.

Paths, bodies and headers are those of the MCP adapter, the LangChain toolkit and live
tool, the CrewAI tool, `wab-verify` and the SDK's safe mode, read in their sources.
"""

from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.running import Json, RunningRegistry
from tests.api.websocket import Connection, connected

LISTED, WITHDRAWN = "zaytoun-table.test", "nobody.test"
AGENT = {"X-Agent": "wab-langchain-tool/1", "Content-Type": "application/json"}
SEARCH = {"q": "book a table for two", "limit": 5}


def discovery(http: httpx.Client) -> Json:
    """As the adapter, the toolkit and the tools look for it."""
    for path in ("/agent-bridge.json", "/.well-known/wab.json"):
        answer = http.get(path, headers={"Accept": "application/json"})
        assert answer.status_code == 200
    document: Json = answer.json()
    return document


def test_the_mcp_adapter_over_http(http: httpx.Client) -> None:
    actions = discovery(http)["actions"]
    for action in actions:  # actionToTool
        assert action["name"]
        assert action["description"]
        assert all(field["name"] and field["type"] for field in action["params"])
    assert http.get("/api/wab/discover").json()["result"]["actions"] == actions

    named = http.post("/api/wab/actions/searchSites", json={"params": SEARCH}).json()
    assert (named.get("result") or named)["results"]
    read = http.post("/api/wab/read", json={"selector": "#policy"}).json()
    assert read["result"]["text"]
    info = http.get("/api/wab/page-info", params={"siteId": "abc"}).json()
    assert info["result"]["actionsCount"] == len(actions)
    query = {"q": SEARCH["q"], "limit": "10", "category": "restaurant"}
    assert http.get("/api/wab/search", params=query).json()["result"]["results"]


def test_the_mcp_adapter_with_a_key_that_is_none(http: httpx.Client) -> None:
    headers = {"x-api-key": "wab_key_abc123"}
    answer = http.get("/api/wab/page-info", headers=headers)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "INVALID_TOKEN"
    payload = {"apiKey": "wab_key_abc123", "siteId": "abc", "meta": {"name": "a"}}
    assert http.post("/api/wab/authenticate", json=payload).status_code == 401


def adapter_request(connection: Connection, number: int, **body: Any) -> Json:
    import json  # noqa: PLC0415

    connection.send(json.dumps({"id": number, **body}).encode())
    reply = connection.reply()
    assert reply["id"] == number
    assert "error" not in reply, reply
    result: Json = reply["result"]
    return result


def test_the_mcp_adapter_over_its_socket(registry: RunningRegistry) -> None:
    """Its commands have no method, and its default address is /ws."""
    with connected(registry.origin, "/ws") as connection:
        answer = adapter_request(connection, 1, name="searchSites", data=SEARCH)
        assert answer["results"]
        assert adapter_request(connection, 2, selector="#rules")["text"]
        assert adapter_request(connection, 3)["actionsCount"] == 6


def test_the_langchain_toolkit(http: httpx.Client) -> None:
    actions = discovery(http)["actions"]
    audit = [row["name"] for row in actions if row["category"] == "audit"]
    assert audit == ["explainRanking", "reportSelection"]
    body = {"action": "searchSites", "params": SEARCH}
    assert http.post("/api/wab/execute", json=body).json()["result"]["results"]


def test_the_langchain_live_tool(http: httpx.Client) -> None:
    own = urlsplit(str(http.base_url)).netloc
    verify = http.post("/api/verify-live", json={"domain": own}, headers=AGENT).json()
    assert verify["statuses"]["revoked"] != "yes"
    assert verify["statuses"]["signature_ok"] == "yes"
    execute = discovery(http)["endpoints"]["execute"]
    body = {"action": "getSite", "params": {"host": LISTED}}
    answer = httpx.post(execute, json=body, headers=AGENT, timeout=60)
    assert answer.status_code == 200
    assert answer.json()["result"]["host"] == LISTED


def test_the_crewai_tool(http: httpx.Client) -> None:
    for domain in (LISTED, urlsplit(str(http.base_url)).netloc):
        statuses = http.post("/api/verify-live", json={"domain": domain}).json()[
            "statuses"
        ]
        assert statuses["bridge_live"] == statuses["signature_ok"] == "yes", domain
        assert statuses["revoked"] == "no"
    call = {"action": "getSite", "params": {"host": LISTED}}
    answer = http.post("/api/execute", json={"domain": domain, **call})
    assert answer.json()["result"]["host"] == LISTED
    for other in (LISTED, {}, [], None, 7):
        refused = http.post("/api/execute", json={"domain": other, **call})
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "SANDBOX_VIOLATION"


def test_who_is_not_listed_is_not_vouched_for(http: httpx.Client) -> None:
    for domain in (WITHDRAWN, "..", "a" * 250, "*.test", "192.0.2.1"):
        answer = http.post("/api/verify-live", json={"domain": domain})
        assert answer.status_code == 200
        statuses = answer.json()["statuses"]
        assert statuses["registered"] == statuses["signature_ok"] == "no"
    assert http.post("/api/verify-live", json={"domain": 7}).status_code == 400


def test_wab_verify(http: httpx.Client) -> None:
    trust = http.get(f"/api/discovery/trust/{LISTED}").json()
    assert trust["domain"] == LISTED
    assert 70 <= trust["trust_score"] <= 100
    assert trust["trust_label"].upper()
    assert trust["checks"]["manifest_fetched"]
    assert trust["checks"]["signature_valid"]
    assert trust["endpoint"]


@pytest.mark.parametrize(
    ("domain", "verdict"), [(LISTED, "allow"), (WITHDRAWN, "restrict")]
)
def test_the_safe_mode_of_the_sdk(
    http: httpx.Client, domain: str, verdict: str
) -> None:
    score = http.get(f"/api/discovery/score/{domain}").json()
    for policy in ("strict", "standard", "permissive"):
        compliance = http.get(
            f"/api/discovery/compliance/{domain}", params={"policy": policy}
        ).json()
        assert compliance["verdict"] == verdict
        assert compliance["score"] == score["score"]
    is_trusted = score["signature_valid_rate"] > 0.5 and score["score"] >= 60
    assert is_trusted == (verdict == "allow")
