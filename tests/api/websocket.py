"""A WebSocket client of the kind that also sends what it should not."""

import base64
import contextlib
import json
import os
import socket
import struct
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

Json = dict[str, Any]
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
PATIENCE_S = 60.0


class Refused(Exception):
    """The handshake was answered by another status."""


class Connection:
    """An open connection; frames are masked, as a client's are."""

    def __init__(self, connection: socket.socket, rest: bytes = b"") -> None:
        self.socket = connection
        self._received = bytearray(rest)

    def send(self, payload: bytes, opcode: int = TEXT, *, last: bool = True) -> None:
        self.socket.sendall(frame(payload, opcode, last=last))

    def command(self, method: str, *, id: Any = 1, **more: Any) -> Json:  # noqa: A002
        """The reply to a command; pushed events before it are passed over."""
        self.send(
            json.dumps({"id": id, "method": method, "params": {}, **more}).encode()
        )
        return self.reply()

    def execute(self, name: str, id: Any = 1, **data: Any) -> Json:  # noqa: A002
        params = {"name": name, "data": data}
        return self.command("wab.executeAction", id=id, params=params)

    def reply(self) -> Json:
        opcode, payload = self.receive()
        assert opcode == TEXT, (opcode, payload)
        answer: Json = json.loads(payload)
        return answer

    def close_code(self) -> int:
        """The code of the close frame that comes next, or after replies."""
        while True:
            opcode, payload = self.receive()
            if opcode == CLOSE:
                return int(struct.unpack("!H", payload[:2])[0]) if payload else 1005

    def receive(self) -> tuple[int, bytes]:
        while True:
            opcode, payload = self._frame()
            if opcode == PING:
                self.send(payload, PONG)
            elif opcode != PONG:
                return opcode, payload

    def _frame(self) -> tuple[int, bytes]:
        head = self._take(2)
        length = head[1] & 127
        if length == 126:
            length = struct.unpack("!H", self._take(2))[0]
        elif length == 127:
            length = struct.unpack("!Q", self._take(8))[0]
        return head[0] & 15, self._take(length)

    def _take(self, count: int) -> bytes:
        while len(self._received) < count:
            received = self.socket.recv(65_536)
            if not received:
                raise EOFError("the server has closed")
            self._received += received
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken


def frame(payload: bytes, opcode: int = TEXT, *, last: bool = True) -> bytes:
    mask = os.urandom(4)
    head = bytes([opcode | (128 if last else 0)])
    if len(payload) < 126:
        head += bytes([128 | len(payload)])
    elif len(payload) < 1 << 16:
        head += bytes([254]) + struct.pack("!H", len(payload))
    else:
        head += bytes([255]) + struct.pack("!Q", len(payload))
    repeated = mask * (len(payload) // 4 + 1)
    masked = bytes(a ^ b for a, b in zip(payload, repeated, strict=False))
    return head + mask + masked


@contextlib.contextmanager
def connected(
    origin: str, path: str = "/ws/wab", **headers: str
) -> Iterator[Connection]:
    """Raises: Refused."""
    address = urlsplit(origin)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [f"GET {path} HTTP/1.1", f"Host: {address.netloc}", "Upgrade: websocket"]
    lines += ["Connection: Upgrade", f"Sec-WebSocket-Key: {key}"]
    lines += ["Sec-WebSocket-Version: 13"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    where = (address.hostname or "", address.port or 80)
    with socket.create_connection(where, PATIENCE_S) as opened:
        opened.sendall("\r\n".join([*lines, "", ""]).encode())
        head = b""
        while b"\r\n\r\n" not in head:
            received = opened.recv(4096)
            if not received:
                raise Refused(head)
            head += received
        head, _, rest = head.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise Refused(head.splitlines()[0])
        yield Connection(opened, rest)
