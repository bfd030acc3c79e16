"""The registry as a WAB bridge over WebSocket: the same replies, and bounded costs."""

import contextlib
import json
import socket
from typing import Any

import psutil
import pytest

from tests.api.running import RunningRegistry
from tests.api.websocket import (
    BINARY,
    TEXT,
    Connection,
    Refused,
    connected,
    frame,
)
from tests.waiting import awaited

PING = 9
HELD_BYTES = 60 << 20


def success(reply: dict[str, Any]) -> Any:
    assert reply["type"] == "success", reply
    return reply["result"]


def code(reply: dict[str, Any]) -> str:
    assert reply["type"] == "error", reply
    result: str = reply["error"]["code"]
    return result


@pytest.fixture
def bridge(registry: RunningRegistry) -> Any:
    with connected(registry.origin) as connection:
        yield connection


def test_replies_are_those_of_http(
    registry: RunningRegistry, bridge: Connection
) -> None:
    for method, path in (
        ("wab.discover", "discover"),
        ("wab.getActions", "actions"),
        ("wab.getPageInfo", "page-info"),
        ("wab.getContext", "context"),
    ):
        over_http = registry.http.get(f"/api/wab/{path}").json()["result"]
        assert success(bridge.command(method, id=path)) == over_http
    assert success(bridge.command("wab.ping", id="p"))["status"] == "ok"


def test_ids_are_echoed_as_they_came_and_taken_once(bridge: Connection) -> None:
    for command_id in (7, "7", "cmd_1", -1, 2**40):
        assert bridge.command("wab.ping", id=command_id)["id"] == command_id
        assert code(bridge.command("wab.ping", id=command_id)) == "DUPLICATE_COMMAND_ID"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "[]",
        "null",
        '"wab.ping"',
        "{",
        '{"method":"wab.ping","params":{}}',
        '{"id":1,"method":7,"params":{}}',
        '{"id":1,"method":"wab.ping","params":[]}',
        '{"id":true,"method":"wab.ping","params":{}}',
        '{"id":1.5,"method":"wab.ping","params":{}}',
        '{"id":{},"method":"wab.ping","params":{}}',
        '{"id":1,"params":{}}',
        '{"id":1,"id":2,"method":"wab.ping","params":{}}',
        '{"id":1,"method":"wab.ping","params":{},"context":[]}',
        '{"id":1,"method":"wab.ping","params":{},"signature":1}',
        '{"id":"' + "a" * 200 + '","method":"wab.ping"}',
        "[" * 30_000,
        '{"id":1,"method":"wab.executeAction","params":{"name":"searchSites","data":'
        + "[" * 40
        + "]" * 40
        + "}}",
    ],
)
def test_what_is_no_command_is_refused_and_the_next_is_answered(
    bridge: Connection, text: str
) -> None:
    bridge.send(text.encode())
    assert code(bridge.reply()) == "INVALID_COMMAND"
    assert success(bridge.command("wab.ping", id="after"))


@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("wab.dropTables", "INVALID_METHOD"),
        ("__class__", "INVALID_METHOD"),
        ("", "INVALID_METHOD"),
        ("wab.readContent", "INVALID_PARAMS"),
        ("wab.executeAction", "INVALID_COMMAND"),
        ("wab.subscribe", "INVALID_PARAMS"),
    ],
)
def test_unknown_methods_and_missing_params(
    bridge: Connection, method: str, wanted: str
) -> None:
    assert code(bridge.command(method)) == wanted


def test_a_session_belongs_to_its_connection(
    registry: RunningRegistry, bridge: Connection
) -> None:
    own = success(bridge.command("wab.authenticate", id=1))
    other = registry.http.post("/api/wab/authenticate", json={}).json()["result"]

    context = success(bridge.command("wab.getContext", id=2))
    assert context["session"]["authenticated"]
    theirs = {"sessionToken": other["sessionToken"]}
    assert code(bridge.command("wab.ping", id=3, context=theirs)) == "INVALID_TOKEN"
    mine = {"sessionToken": own["sessionToken"]}
    assert success(bridge.command("wab.ping", id=4, context=mine))
    renewed = success(bridge.command("wab.authenticate", id=5))
    assert renewed["sessionToken"] != own["sessionToken"]
    assert success(bridge.command("wab.ping", id=6, context=mine))


def test_a_replay_over_the_other_transport_is_refused(
    registry: RunningRegistry, bridge: Connection
) -> None:
    session = success(bridge.command("wab.authenticate", id="a"))
    data = {"host": "zaytoun-table.test"}
    assert success(bridge.execute("getSite", id="x", **data))
    answer = registry.http.post(
        "/api/wab/execute",
        json={"id": "x", "name": "getSite", "data": data},
        headers={"Authorization": f"Bearer {session['sessionToken']}"},
    )
    assert code(answer.json()) == "DUPLICATE_COMMAND_ID"


def test_a_wrong_key_ends_the_connection(bridge: Connection) -> None:
    reply = bridge.command("wab.authenticate", params={"apiKey": "wab_key_abc123"})
    assert code(reply) == "INVALID_TOKEN"
    assert bridge.close_code() == 4003


def test_events_are_pushed_to_who_subscribed(bridge: Connection) -> None:
    output = success(
        bridge.command(
            "wab.subscribe", id=1, params={"events": ["actionExecuted", "error"]}
        )
    )
    assert output["events"] == ["actionExecuted", "error"]
    assert success(bridge.execute("getSite", id=2, host="zaytoun-table.test"))
    assert bridge.reply() == {
        "id": None,
        "type": "event",
        "event": "actionExecuted",
        "data": {"name": "getSite"},
    }
    assert code(bridge.execute("getSite", id=3, host="nobody.test"))
    pushed = bridge.reply()
    assert (pushed["event"], pushed["data"]["code"]) == ("error", "INVALID_PARAMS")


def test_binary_frames_end_the_connection(bridge: Connection) -> None:
    bridge.send(b'{"id":1,"method":"wab.ping","params":{}}', BINARY)
    assert bridge.close_code() == 1003


def test_an_oversized_command_ends_the_connection(bridge: Connection) -> None:
    bridge.send(b'{"id":1,"method":"wab.ping","params":{"a":"' + b"a" * 70_000 + b'"}}')
    assert bridge.close_code() == 1009


def test_a_frame_that_announces_gigabytes_is_not_waited_for(
    registry: RunningRegistry, bridge: Connection
) -> None:
    bridge.socket.sendall(bytes([0x81, 255]) + (1 << 40).to_bytes(8, "big") + b"abcd")
    bridge.socket.settimeout(20)
    with contextlib.suppress(EOFError, ConnectionError):
        assert bridge.close_code() in {1002, 1005, 1009}
    assert registry.http.get("/health/live").status_code == 200


def test_fragments_and_garbage_leave_the_service_alive(
    registry: RunningRegistry,
) -> None:
    command = json.dumps({"id": 1, "method": "wab.ping", "params": {}}).encode()
    with connected(registry.origin) as connection:
        connection.send(command[:9], last=False)
        connection.send(command[9:], 0)
        assert success(connection.reply())
    with connected(registry.origin) as connection:
        connection.socket.sendall(bytes(range(256)) * 4)
    with connected(registry.origin) as connection:
        connection.socket.sendall(frame(b"\xff\xfe not utf-8"))
        with pytest.raises((EOFError, AssertionError, ConnectionError)):
            success(connection.reply())
    assert registry.http.get("/health/live").status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1"])
def test_a_page_of_another_origin_gets_no_connection(
    registry: RunningRegistry, origin: str
) -> None:
    with (
        pytest.raises(Refused, match="403"),
        connected(registry.origin, Origin=origin),
    ):
        pass


def test_an_own_page_and_the_other_address_get_one(registry: RunningRegistry) -> None:
    with connected(registry.origin, "/ws", Origin=registry.origin) as connection:
        assert success(connection.command("wab.ping"))


@pytest.mark.parametrize("path", ["/", "/v1/search?q=a", "/nowhere", "/api/wab/ping"])
def test_no_other_path_speaks_websocket(registry: RunningRegistry, path: str) -> None:
    with pytest.raises(Refused) as refused, connected(registry.origin, path):
        pass
    assert b" 5" not in refused.value.args[0][:13]
    assert registry.http.get("/health/live").status_code == 200


def test_who_does_not_read_holds_no_more_than_a_reply(
    registry: RunningRegistry,
) -> None:
    """The server stops to read before its own memory grows."""
    with connected(registry.origin) as connection:
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.socket.settimeout(3)
        sent = 0
        command = json.dumps({"id": 0, "method": "wab.discover", "params": {}})
        try:
            for number in range(100_000):
                connection.send(command.replace("0", str(number), 1).encode())
                sent = number
        except (TimeoutError, ConnectionError):
            pass
    assert sent < 99_999
    assert registry.http.get("/health/live").status_code == 200


@pytest.mark.parametrize("category", [{}, [], [[]], 7, True, "none"])
def test_categories_that_are_none_have_no_actions(
    bridge: Connection, category: Any
) -> None:
    listed = bridge.command("wab.getActions", params={"category": category})
    assert success(listed) == []


def web_bytes(registry: RunningRegistry) -> int:
    """The memory that the web process shares with no other."""
    worker = max(
        psutil.Process(registry.web_pid).children(recursive=True),
        key=lambda process: process.memory_info().rss,
    )
    memory = worker.memory_info()
    return int(memory.rss - memory.shared)


def test_an_unfinished_message_is_held_and_goes_with_its_connection(
    registry: RunningRegistry,
) -> None:
    """The server keeps it, up to 64 MiB, where we can't see it: `socket_memory` is why."""
    part, size = 12 << 20, 48 << 20  # a frame has 16 MiB at most
    before = web_bytes(registry)
    with connected(registry.origin) as connection:
        for opcode in (TEXT, 0, 0, 0):
            connection.send(b"a" * part, opcode, last=False)
        awaited(
            "the message to be held", lambda: web_bytes(registry) - before > size // 2
        )
    awaited(
        "its memory to be given back", lambda: web_bytes(registry) - before < size // 2
    )
    assert registry.http.get("/health/live").status_code == 200


def test_memory_of_pongs_that_nobody_reads_is_given_back(
    registry: RunningRegistry,
) -> None:
    """The server holds each; kept by its allocator, memory would be short for good."""
    pings = frame(b"p" * 125, PING) * 8_000
    before = web_bytes(registry)
    with contextlib.ExitStack() as stack:
        for _ in range(4):
            connection = stack.enter_context(connected(registry.origin))
            for _ in range(30):
                connection.socket.sendall(pings)
        awaited("pongs to be held", lambda: web_bytes(registry) - before > HELD_BYTES)
    awaited(
        "memory to be given back",
        lambda: web_bytes(registry) - before < HELD_BYTES // 4,
    )
