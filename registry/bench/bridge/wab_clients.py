"""Clients of `bench wab`: a WebSocket and a keep-alive HTTP connection, over plain sockets.

They speak no more of their protocols than a measurement needs.
"""

import asyncio
import base64
import os
import re
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

import msgspec

from registry.interfaces.discovery.own_site import BRIDGE, SOCKET
from registry.interfaces.wab.bridge_methods import METHODS

Json = dict[str, Any]
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)\r\n", re.IGNORECASE)
_TEXT, _CLOSE = 1, 8
_SHORT, _LONG = 126, 127
_NO_MASK = bytes(4)  # masked with zeros: a frame of a client has a mask


class BridgeClient(Protocol):
    """A connection to the bridge; a call waits for the reply to the one before."""

    @classmethod
    def connected(cls, origin: str) -> Any:
        """Open one until the block ends."""

    async def call(self, method: str, params: Json) -> Json:
        """Return the reply. Raises: EOFError, ConnectionError."""

    async def reconnect(self) -> None:
        """Open it anew."""


class _Stream:
    """Base of both: an origin, two streams, a session."""

    def __init__(self, origin: str) -> None:
        self._address = urlsplit(origin)
        self._number = 0
        self._token = ""

    @classmethod
    @asynccontextmanager
    async def connected(cls, origin: str) -> AsyncIterator[Self]:
        client = cls(origin)
        await client.reconnect()
        try:
            yield client
        finally:
            client.writer.close()

    async def reconnect(self) -> None:
        host, port = self._address.hostname or "", self._address.port or 80
        self.reader, self.writer = await asyncio.open_connection(host, port)


class SocketClient(_Stream):
    """A connection by WebSocket; commands go in the session that it opened."""

    async def reconnect(self) -> None:
        await super().reconnect()
        key = base64.b64encode(os.urandom(16)).decode()
        self.writer.write(
            f"GET {SOCKET} HTTP/1.1\r\nHost: {self._address.netloc}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise ConnectionError(head[:40].decode("latin-1"))

    async def call(self, method: str, params: Json) -> Json:
        self._number += 1
        command = {"id": self._number, "method": method, "params": params}
        self.writer.write(_frame(msgspec.json.encode(command)))
        while True:
            reply: Json = msgspec.json.decode(await self._receive())
            if reply["id"] == self._number:  # and no heartbeat
                return reply

    async def exchange(self, text: bytes) -> Json:
        """Send a text, whatever it is; return what comes back, but heartbeats."""
        self.writer.write(_frame(text))
        while True:
            reply: Json = msgspec.json.decode(await self._receive())
            if reply["type"] == "error" or reply["id"] is not None:
                return reply

    async def _receive(self) -> bytes:
        head = await self.reader.readexactly(2)
        length = head[1]
        if length == _SHORT:
            [length] = struct.unpack("!H", await self.reader.readexactly(2))
        elif length == _LONG:
            [length] = struct.unpack("!Q", await self.reader.readexactly(8))
        payload = await self.reader.readexactly(length)
        if head[0] & 15 == _CLOSE:
            raise EOFError(payload[2:].decode("utf-8", "replace"))
        return payload if head[0] & 15 == _TEXT else await self._receive()


class HttpClient(_Stream):
    """A keep-alive connection; commands go in the session that it opened."""

    async def call(self, method: str, params: Json) -> Json:
        verb, path = METHODS[method].http
        body = msgspec.json.encode(params) if verb == "POST" else b""
        bearer = f"Authorization: Bearer {self._token}\r\n" if self._token else ""
        self.writer.write(
            f"{verb} {BRIDGE}{path} HTTP/1.1\r\nHost: {self._address.netloc}\r\n"
            f"Content-Type: application/json\r\n{bearer}"
            f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if length is None:
            raise ConnectionError("an answer without a length")
        reply: Json = msgspec.json.decode(await self.reader.readexactly(int(length[1])))
        if method == "wab.authenticate" and reply["type"] == "success":
            self._token = reply["result"]["sessionToken"]
        return reply


def _frame(payload: bytes) -> bytes:
    length = len(payload)
    if length < _SHORT:
        head = bytes([128 | _TEXT, 128 | length])
    else:
        head = bytes([128 | _TEXT, 128 | _SHORT]) + struct.pack("!H", length)
    return head + _NO_MASK + payload
