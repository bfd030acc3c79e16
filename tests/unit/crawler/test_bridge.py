import json
from collections.abc import Callable
from typing import Any

import pytest

from crawler.probes.bridge import METHODS, Method, verify_answer, verify_pong
from registry.errors import Refused

URL = "https://shop.io/api/wab/ping"
ACTION = {
    "name": "order",
    "description": "Order a dish",
    "trigger": "api",
    "params": [{"name": "dish", "type": "string", "required": True}],
}
RESULTS: dict[Method, Any] = {
    "ping": {"status": "ok", "timestamp": "2026-03-25T12:00:00Z", "version": "1.0.0"},
    "discover": {
        "wab_version": "1.0",
        "provider": {"name": "Shop", "category": "food", "url": "https://shop.io"},
        "capabilities": {"commands": [ACTION], "permissions": {}},
        "transport": {"http": {"enabled": True, "base_url": "/api/wab"}},
    },
    "actions": [ACTION],
    "context": {
        "version": "1.0.0",
        "permissions": {"readContent": True},
        "session": {"authenticated": False, "ttl": 3600},
        "tier": "free",
        "url": "https://shop.io/",
    },
}


def response(result: object, **members: object) -> bytes:
    answer = {"id": "1", "type": "success", "result": result, **members}
    return json.dumps({k: v for k, v in answer.items() if v is not None}).encode()


def deviation(method: Method, body: bytes) -> str:
    with pytest.raises(Refused) as refused:
        verify_answer(method, body, URL)
    assert refused.value.code == "bridge_answer"
    return refused.value.problem.detail.removeprefix(f"{URL}: ")


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_to_the_letter_conforms(method: Method) -> None:
    verify_answer(method, response(RESULTS[method]), URL)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("spoil", "pointer"),
    [
        (lambda result: response(result, id=None), "/id"),
        (lambda result: response(result, id=1), "/id"),
        (lambda result: response(result, type="error"), "/type"),
        (lambda result: response(result, type=None), "/type"),
        (lambda _: response(None), "/result"),
        (lambda _: response("ok"), "/result"),
        (lambda result: json.dumps([result]).encode(), "/"),
    ],
)
def test_every_answer_stands_in_the_response_format(
    method: Method, spoil: Callable[[object], bytes], pointer: str
) -> None:
    assert deviation(method, spoil(RESULTS[method])).startswith(f"{pointer}: ")


@pytest.mark.parametrize(
    ("method", "members", "pointer"),
    [
        ("ping", {"status": "degraded"}, "/result/status"),
        ("ping", {"status": None}, "/result/status"),
        ("ping", {"timestamp": "now"}, "/result/timestamp"),
        ("ping", {"timestamp": 1774440000}, "/result/timestamp"),
        ("ping", {"version": 1}, "/result/version"),
        ("discover", {"wab_version": None}, "/result/wab_version"),
        ("discover", {"capabilities": []}, "/result/capabilities"),
        ("context", {"permissions": None}, "/result/permissions"),
        ("context", {"session": "none"}, "/result/session"),
        ("context", {"tier": None}, "/result/tier"),
    ],
)
def test_each_result_is_what_its_method_promises(
    method: Method, members: dict[str, object], pointer: str
) -> None:
    result = {**RESULTS[method], **members}
    result = {name: value for name, value in result.items() if value is not None}
    assert deviation(method, response(result)).startswith(f"{pointer}: ")


def test_each_of_the_actions_is_looked_at() -> None:
    nameless = {name: value for name, value in ACTION.items() if name != "name"}
    assert deviation("actions", response([ACTION, nameless])).startswith(
        "/result/1/name: "
    )


@pytest.mark.parametrize(
    "body", [b"", b"pong", b'{"a":NaN}', b"[" * 8000, b"\xff\xfe", b'{"a":1,"a":1}']
)
def test_what_is_no_json_is_no_answer(body: bytes) -> None:
    assert deviation("ping", body)


@pytest.mark.parametrize(
    "body",
    [
        response(RESULTS["ping"]),
        response({"status": "ok"}, id=None),
        b'{"status":"ok"}',
    ],
)
def test_a_bridge_is_well_that_says_so_in_its_own_words(body: bytes) -> None:
    verify_pong(body, URL)


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b'"ok"',
        b"",
        response({"status": "degraded"}),
        response(None, type="error", error={"code": "BRIDGE_ERROR"}),
    ],
)
def test_a_bridge_is_not_well_that_does_not_say_so(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        verify_pong(body, URL)
    assert refused.value.code == "bridge_answer"
