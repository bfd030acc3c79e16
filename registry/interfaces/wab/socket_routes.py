"""The WebSocket transport of the bridge (WAB 1.0, §7.2).

Commands of a connection are answered one after the other, each before the next is read:
who reads slowly is read slowly, and no more than one reply of a connection is held.

The server collects a message of up to 64 MiB before we see a byte of it, and has no
setting for that: sixteen connections of one network could hold a gigabyte, a thousand
sixty-four. So the process watches what memory it has of its own, without mapped files.
When that has grown too much it ends the conversations of which much came that is no
message yet, and no others: the system counts what each connection has received.
"""

import asyncio
import resource
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from litestar import WebSocket, websocket

from registry.errors import RegistryError
from registry.interfaces.discovery.own_site import SOCKET
from registry.interfaces.http.client_networks import client_of
from registry.interfaces.http.strict import MAX_BODY_BYTES, MAX_BODY_DEPTH
from registry.interfaces.wab.agent_exchange import Agent
from registry.interfaces.wab.bridge_command import (
    CommandReply,
    Json,
    id_of,
    parse_command,
)
from registry.interfaces.wab.bridge_methods import heartbeat
from registry.interfaces.wab.dispatcher import RATE_LIMITED, Dispatcher
from registry.interfaces.wab.sealed_session import open_session
from registry.strict_json import parse_json

MOST_GROWTH = 1 << 30
MOST_UNTAKEN = 128 << 10
"""Bytes: a handshake, a message that is under way, and the pings of some days."""
FRAME_BYTES = 14  # of the head of a frame, at most
POLL_S = 1.0

_STATM = Path("/proc/self/statm")


def own_bytes() -> int:
    """Return the resident memory of this process that is shared with no other."""
    _, resident, shared, *_ = map(int, _STATM.read_text().split())
    return (resident - shared) * resource.getpagesize()


class SocketMemory:
    """Watch of one process, from its start on. received: bytes by peer. used: bytes, now."""

    def __init__(
        self,
        received: Callable[[], Mapping[tuple[str, ...], int]],
        most_growth: int = MOST_GROWTH,
        used: Callable[[], int] = own_bytes,
    ) -> None:
        self._count_received = received
        self._received = received()
        self._used = used
        self._most = used() + most_growth
        self._looked_at = 0.0
        self._is_short = False

    async def becomes_short(
        self, peer: tuple[str, ...], taken: Callable[[], int], poll_s: float = POLL_S
    ) -> None:
        """Wait until memory is short, and this peer sent much more than was taken of it.

        However many wait, it is looked at once in a while.
        """
        while (
            not self._look(poll_s)
            or self._received.get(peer, sys.maxsize) - taken() <= MOST_UNTAKEN
        ):
            await asyncio.sleep(poll_s)

    def _look(self, poll_s: float) -> bool:
        now = time.monotonic()
        if now - self._looked_at >= poll_s:
            self._looked_at = now
            self._is_short = self._used() > self._most
            self._received = self._count_received() if self._is_short else {}
        return self._is_short


HEARTBEAT_S = 30.0
SEND_TIMEOUT_S = 20.0
CLOSE_TIMEOUT_S = 2.0
IDLE_S = 600.0
MOST_REFUSED = 20
"""Commands beyond the limit, one after the other, until the connection is closed."""

MOST_TOKENS = 2
"""Sessions of a connection at once: the last, and that which it renewed."""

SESSION_EXPIRED, RATE_EXCEEDED, NOT_AUTHENTICATED = 4001, 4002, 4003
UNSUPPORTED_DATA, TOO_BIG, TRY_LATER = 1003, 1009, 1013

Socket = WebSocket[Any, Any, Any]


class Closed(Exception):
    """The connection is to end. code: of the close frame."""

    def __init__(self, code: int, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


class Conversation:
    """A connection, from the handshake to the close frame."""

    def __init__(self, socket: Socket, dispatcher: Dispatcher) -> None:
        self._socket = socket
        self._dispatcher = dispatcher
        self._services = dispatcher.services
        self._agent = Agent.of(
            socket,
            transport="websocket",
            connection=secrets.token_hex(16),
            subscribe=self._subscribe,
        )
        self._events: frozenset[str] = frozenset()
        self._expires_at: datetime | None = None
        self._refused = 0
        self._sending = asyncio.Lock()
        self.taken_bytes = 0

    async def run(self) -> None:
        """Answer until one of the two ends it."""
        while True:
            try:
                async with asyncio.timeout(self._patience_s()):
                    message = await self._socket.receive()
            except TimeoutError:
                await self._expire()
                raise Closed(1000, "idle for too long") from None
            await self._expire()
            if message["type"] != "websocket.receive":
                return
            await self._take(message)

    async def beat(self) -> None:
        """Send the reply to a ping that nobody sent, until cancelled."""
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            result = heartbeat(self._services.clock())
            await self._send({"id": None, "type": "success", "result": result})

    async def _take(self, message: Mapping[str, Any]) -> None:
        """Raises: Closed."""
        text = message.get("text")
        if text is None:
            raise Closed(UNSUPPORTED_DATA, "binary frames are no commands")
        body = text.encode("utf-8", "surrogatepass")
        self.taken_bytes += FRAME_BYTES + len(body)
        if len(body) > MAX_BODY_BYTES:
            raise Closed(TOO_BIG, f"a command has at most {MAX_BODY_BYTES} bytes")
        value: Any = None
        try:
            value = parse_json(body, max_depth=MAX_BODY_DEPTH, max_bytes=MAX_BODY_BYTES)
            command = parse_command(value)
        except RegistryError as error:
            reply = await self._dispatcher.refuse(self._agent, error, id_of(value))
            await self._say(reply, "")
            return
        reply = await self._dispatcher.answer(self._agent, command)
        self._hold_session(reply)
        await self._say(reply, str(command.params.get("name", "")))
        if command.method == "wab.authenticate" and reply.error is not None:
            raise Closed(NOT_AUTHENTICATED, "authentication failed")

    def _hold_session(self, reply: CommandReply) -> None:
        """Take the session that was opened as that of the commands that follow."""
        if not reply.token:
            return
        tokens = (*self._agent.tokens, reply.token)[-MOST_TOKENS:]
        self._agent = replace(self._agent, tokens=tokens)
        session = open_session(
            self._services.web_key,
            reply.token,
            self._agent.network,
            self._services.clock(),
        )
        self._expires_at = session.expires_at

    async def _say(self, reply: CommandReply, action: str) -> None:
        """Raises: Closed for who floods."""
        await self._send(reply.message)
        error = reply.error or {}
        if error and "error" in self._events:
            await self._push("error", {"id": reply.id, "code": error["code"]})
        if action and not error and "actionExecuted" in self._events:
            await self._push("actionExecuted", {"name": action})
        is_limited = error.get("code") == RATE_LIMITED
        self._refused = self._refused + 1 if is_limited else 0
        if self._refused >= MOST_REFUSED:
            raise Closed(RATE_EXCEEDED, "rate limited")

    async def _push(self, event: str, data: Json) -> None:
        await self._send({"id": None, "type": "event", "event": event, "data": data})

    async def _send(self, message: Json) -> None:
        """Raises: Closed for who does not read."""
        try:
            async with asyncio.timeout(SEND_TIMEOUT_S), self._sending:
                await self._socket.send_data(
                    msgspec.json.encode(message).decode(), encoding="utf-8"
                )
        except TimeoutError:
            raise Closed(TRY_LATER, "replies are not read") from None

    def _subscribe(self, events: frozenset[str]) -> None:
        self._events |= events

    def _patience_s(self) -> float:
        """Return how long to wait for a command: a session ends its connection."""
        if self._expires_at is None:
            return IDLE_S
        left = self._expires_at - self._services.clock()
        return min(IDLE_S, max(0.01, left.total_seconds()))

    async def _expire(self) -> None:
        """Raises: Closed, once the session has ended."""
        if self._expires_at is None or self._services.clock() < self._expires_at:
            return
        if "sessionExpired" in self._events:
            await self._push("sessionExpired", {})
        raise Closed(SESSION_EXPIRED, "session expired")


@websocket([SOCKET, "/ws"])
async def converse(socket: Socket) -> None:
    """Answer the commands of a connection; a page of another origin gets none."""
    dispatcher: Dispatcher = socket.app.state.bridge
    services = dispatcher.services
    if socket.headers.get("origin", services.origin) != services.origin:
        await socket.close(code=1008, reason="ORIGIN_MISMATCH")
        return
    try:
        slot = services.sockets.slot(client_of(socket.scope))
        with slot:
            await socket.accept()
            memory: SocketMemory = socket.app.state.socket_memory
            await _run(Conversation(socket, dispatcher), socket, memory)
    except RegistryError as error:
        await services.limits.hold_up()
        await socket.close(code=TRY_LATER, reason=error.code)


async def _end_when_short(
    conversation: Conversation, socket: Socket, memory: SocketMemory
) -> None:
    """Raises: Closed."""
    scope: Mapping[str, Any] = socket.scope
    peer = tuple(map(str, scope.get("peer") or scope["client"] or ()))
    await memory.becomes_short(peer, lambda: conversation.taken_bytes)
    raise Closed(TRY_LATER, "memory is short")


async def _run(
    conversation: Conversation, socket: Socket, memory: SocketMemory
) -> None:
    """Run it with its heartbeat, as long as there is memory; what ends one ends both."""
    tasks = [
        asyncio.create_task(conversation.run()),
        asyncio.create_task(conversation.beat()),
        asyncio.create_task(_end_when_short(conversation, socket, memory)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    except Closed as closed:
        await _cancel(tasks)  # what came would be held: each pong that is not read
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await socket.close(code=closed.code, reason=closed.reason)
    finally:
        await _cancel(tasks)


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
