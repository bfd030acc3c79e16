"""Documents whose actions are called on the agent's own machine or network."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Document, Parsed
from registry.formats.html.links import parse_link_header, parse_links
from tests.unit.formats.conftest import SAMPLES

URL = "https://site.example/agent.json"
PRIVATE = (
    "http://127.0.0.1:8080/shutdown",
    "http://localhost:6002",
    "https://169.254.169.254/latest",
    "https://10.0.0.1/x",
)


def _awp(endpoint: str) -> dict[str, Any]:
    return {
        "awp_version": "0.2",
        "domain": "site.example",
        "intent": "Turn it off",
        "actions": [
            {
                "id": "stop",
                "description": "Stop it",
                "auth_required": False,
                "inputs": {},
                "outputs": {},
                "endpoint": endpoint,
                "method": "POST",
            }
        ],
    }


def _read(document: Any, *, allow_loopback: bool = False) -> Document:
    body = json.dumps(document).encode()
    result = parse_document(body, url=URL, allow_loopback=allow_loopback)
    assert isinstance(result, Parsed)
    return result.document


def _targets(document: Document) -> list[str]:
    return [call.target for action in document.site.actions for call in action.calls]


@pytest.mark.parametrize("endpoint", PRIVATE)
def test_a_private_target_is_a_deviation_and_is_not_called(endpoint: str) -> None:
    document = _read(_awp(endpoint))
    assert document.conformance == "tolerated"
    (deviation,) = document.deviations
    assert (deviation.pointer, deviation.rule) == ("/actions/0/endpoint", "target")
    assert "private" in deviation.detail
    assert not any(_targets(document))


def test_development_calls_loopback() -> None:
    document = _read(_awp(PRIVATE[0]), allow_loopback=True)
    assert document.conformance == "strict"
    assert _targets(document) == [PRIVATE[0]]


@pytest.mark.parametrize("endpoint", PRIVATE)
def test_other_formats_drop_them_too(endpoint: str) -> None:
    tools = [{"name": "a", "description": "b", "endpoint": endpoint, "method": "POST"}]
    assert not any(_targets(_read({"tools": tools, "webmcp": "1"})))
    bridge = {"http": {"enabled": True, "base_url": endpoint}}
    wab = {"wab_version": "1.0", "transport": bridge, "actions": [{"name": "a"}]}
    assert not any(_targets(_read(wab)))
    page = f"<form toolname=a tooldescription=b action='{endpoint}'>"
    result = parse_page(page.encode(), url=URL)
    assert isinstance(result, Parsed)
    assert not any(_targets(result.document))


# --- every place where an address is read ---------------------------------------------

LOCAL = "https://10.0.0.1/"
_NAMED = tuple(path.stem for path in sorted(SAMPLES.glob("*.json")))


def _addresses(value: Any) -> list[tuple[Any, Any]]:
    """Each container within, with each key or index of an address."""
    if not isinstance(value, dict | list):
        return []
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    nested = [place for key in keys for place in _addresses(value[key])]
    return nested + [
        (value, key)
        for key in keys
        if isinstance(value[key], str)
        and value[key].startswith(("https://", "wss://", "/"))
    ]


def _named_in(document: Document) -> list[str]:
    """Every address that a listing would show."""
    named = [call.target for action in document.site.actions for call in action.calls]
    return [*named, *document.references, document.site.url]


@pytest.mark.parametrize("name", _NAMED)
def test_no_address_in_a_document_leads_into_a_private_network(name: str) -> None:
    text = (SAMPLES / f"{name}.json").read_text()
    for index in range(len(_addresses(json.loads(text)))):
        raw = json.loads(text)
        container, key = _addresses(raw)[index]
        container[key] = LOCAL + container[key].removeprefix("https://")
        result = parse_document(json.dumps(raw).encode(), url=URL)
        if not isinstance(result, Parsed):
            continue
        document = result.document
        hosts = {urlsplit(address).hostname for address in _named_in(document)}
        assert "10.0.0.1" not in hosts, key


@pytest.mark.parametrize("name", ["domain", "host"])
def test_a_host_that_a_document_names_is_judged_like_an_address(name: str) -> None:
    for host in ("127.0.0.1", "shop.local", "10.1.2.3:8443", "a.localhost"):
        wab = {"wab_version": "1.0", "site": {"name": "S", name: host}, "actions": []}
        document = _read(wab)
        assert document.site.url == ""
        assert "target" in {deviation.rule for deviation in document.deviations}
    named = _read({**_awp("/stop"), "domain": "192.168.0.9"})
    assert (named.site.url, named.conformance) == ("", "tolerated")


def test_the_extension_names_no_private_address_either() -> None:
    calls = [
        {"format": "wab", "transport": "http", "url": PRIVATE[0]},
        {"format": "wab", "transport": "http", "interface": PRIVATE[0]},
    ]
    command = {"name": "stop", "x-fair-registry": {"calls": calls}}
    wab = {
        "wab_version": "1.0",
        "provider": {"name": "S"},
        "transport": {"js_global": {"enabled": True, "interface": PRIVATE[2]}},
        "capabilities": {"commands": [command, {"name": "go"}]},
    }
    document = _read(wab)
    assert not any("://" in target for target in _targets(document))
    rules = {deviation.rule for deviation in document.deviations}
    assert {"target", "interface"} <= rules


def test_a_tool_with_a_private_address_is_not_called_on_its_page_instead() -> None:
    tool = {"name": "a", "description": "b", "endpoint": PRIVATE[0], "method": "POST"}
    form = {"name": "c", "description": "d", "action": PRIVATE[0], "method": "POST"}
    via = {
        **_awp("/stop"),
        "protocols": {"mcp": {"version": "1", "endpoint": PRIVATE[2]}},
    }
    via["actions"][0] |= {"via": "mcp"}
    for raw in ({"webmcp": {"tools": [tool], "forms": [form]}}, via):
        document = _read(raw)
        assert [action.calls for action in document.site.actions] == [()] * (
            len(document.site.actions)
        )


PAGES = (
    "<form toolname=a tooldescription=b action='{}'>",
    "<form toolname=a tooldescription=b><button formaction='{}'>Go</button></form>",
    "<base href='{}'><form toolname=a tooldescription=b action=find></form>",
    "<div data-awas-action=a data-awas-description=b data-awas-endpoint='{}'></div>",
    "<a data-awas-action=a data-awas-description=b href='{}'>Go</a>",
    "<form data-awas-action=a data-awas-description=b action='{}'></form>",
)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("address", PRIVATE)
def test_no_markup_leads_into_a_private_network(page: str, address: str) -> None:
    body = page.format(address).encode()
    result = parse_page(body, url="https://site.example/")
    assert isinstance(result, Parsed)
    (action,) = result.document.site.actions
    assert action.calls == ()
    assert "target" in {deviation.rule for deviation in result.document.deviations}


def test_development_calls_loopback_in_markup() -> None:
    body = PAGES[2].format("http://localhost:6002/x/").encode()
    result = parse_page(body, url="https://site.example/", allow_loopback=True)
    assert isinstance(result, Parsed)
    assert _targets(result.document) == ["http://localhost:6002/x/find"]
    assert result.document.conformance == "strict"


def test_a_page_on_loopback_is_no_target_of_its_forms() -> None:
    result = parse_page(
        b"<form toolname=a tooldescription=b></form>", url="http://127.0.0.1:8000/"
    )
    assert isinstance(result, Parsed)
    assert _targets(result.document) == []
    assert result.document.conformance == "tolerated"


@pytest.mark.parametrize("address", PRIVATE)
def test_links_into_a_private_network_are_not_followed_and_reported(
    address: str,
) -> None:
    links = (
        f"<link rel=ai-actions href='{address}'>",
        f"<meta name=wab-discovery content='{address}'>",
        f"<base href='{address}'><link rel=webmcp href=/tools.json>",
    )
    form = "<body><form toolname=a tooldescription=b action=https://site.example/>"
    for link in links:
        body = f"<head>{link}</head>{form}".encode()
        assert parse_links(body, url="https://site.example/") == ()
        result = parse_page(body, url="https://site.example/")
        assert isinstance(result, Parsed)
        (deviation,) = result.document.deviations
        assert deviation.rule == "target"
        assert deviation.pointer.startswith("link[")
    header = f'<{address}>; rel="ai-actions"'
    assert parse_link_header([header], url="https://site.example/") == ()
    if "127" in address or "localhost" in address:
        assert parse_link_header(
            [header], url="https://site.example/", allow_loopback=True
        )


def test_one_address_is_reported_once() -> None:
    wab = {
        "wab_version": "1.0",
        "provider": {"name": "S", "category": "c", "url": "https://10.0.0.1/"},
        "capabilities": {"commands": [], "permissions": {}},
        "transport": {"js_global": {"enabled": True}},
        "agent_access": {"api_fallback": "http://localhost:3000/"},
    }
    document = _read(wab)
    deviations = [
        (deviation.pointer, deviation.rule) for deviation in document.deviations
    ]
    assert sorted(deviations) == [
        ("/agent_access/api_fallback", "target"),
        ("/provider/url", "target"),
    ]
    loopback = _read(
        {**wab, "provider": {**wab["provider"], "url": "http://127.0.0.1/"}},
        allow_loopback=True,
    )
    assert loopback.conformance == "strict"
