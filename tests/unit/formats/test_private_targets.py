"""Documents whose actions are called on the agent's own machine or network."""

import json
from typing import Any

import pytest

from registry.formats.detect import parse_document, parse_page
from registry.formats.document import Document, Parsed

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
