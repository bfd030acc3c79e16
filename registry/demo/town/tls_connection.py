"""HTTP/1.1 over one connection (RFC 9112, by h11). What is not HTTP closes it."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus

import h11

from registry.demo.town.house import House, HttpRequest, Reply

IDLE_TIMEOUT_S = 15.0
MAX_HEAD_BYTES = 16 * 1024
_READ_BYTES = 16 * 1024
_UNAVAILABLE = Reply(status=503, headers=[("Content-Type", "text/plain")])
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: on, for 0 s

Clock = Callable[[], datetime]


async def serve_connection(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    house: House,
    clock: Clock,
) -> None:
    """Answer until the peer leaves, falls silent or breaks the protocol."""
    http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
    try:
        while await _exchange(http, reader, writer, house, clock):
            http.start_next_cycle()
    except (h11.RemoteProtocolError, OSError):  # of which TLS errors and timeouts are
        pass
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _exchange(
    http: h11.Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    house: House,
    clock: Clock,
) -> bool:
    """Answer a request; return whether the connection may carry another."""
    async with asyncio.timeout(IDLE_TIMEOUT_S):
        request = await _read_head(http, reader)
    if request is None:
        return False
    disturbance = house.disturb()
    await asyncio.sleep(disturbance.delay_s)
    if disturbance.fault == "reset":
        _reset(writer)
        return False
    unavailable = disturbance.fault == "unavailable"
    understood = _understand(request)
    reply = _UNAVAILABLE if unavailable else await house.reply(understood, clock())
    async with asyncio.timeout(IDLE_TIMEOUT_S):
        await _write(http, writer, reply, headless=request.method == b"HEAD")
    return http.our_state is http.their_state is h11.DONE


async def _read_head(
    http: h11.Connection, reader: asyncio.StreamReader
) -> h11.Request | None:
    """A body is not waited for: no request here has a use for one."""
    while True:
        event = http.next_event()
        if isinstance(event, h11.Request):
            http.next_event()  # the end of the message, where no body follows
            return event
        if event is not h11.NEED_DATA:
            return None
        http.receive_data(await reader.read(_READ_BYTES))


def _understand(request: h11.Request) -> HttpRequest:
    fields = {name: value.decode("latin-1") for name, value in request.headers}
    path, _, query = request.target.decode("latin-1").partition("?")
    return HttpRequest(
        method=request.method.decode("ascii"),
        host=fields.get(b"host", "").removesuffix(":443").lower(),
        path=path,
        query=query,
        if_none_match=fields.get(b"if-none-match", ""),
    )


async def _write(
    http: h11.Connection, writer: asyncio.StreamWriter, reply: Reply, *, headless: bool
) -> None:
    """headless: the reply to HEAD, whose body is only announced."""
    headers = list(reply.headers)
    if reply.status != HTTPStatus.NOT_MODIFIED:
        headers.append(("Content-Length", str(len(reply.body))))
    if http.their_state is not h11.DONE:
        headers.append(("Connection", "close"))
    reason = HTTPStatus(reply.status).phrase.encode("ascii")
    head = h11.Response(status_code=reply.status, headers=headers, reason=reason)
    sent = http.send(head) or b""
    if reply.body and not headless:
        sent += http.send(h11.Data(data=reply.body)) or b""
    writer.write(sent + (http.send(h11.EndOfMessage()) or b""))
    await writer.drain()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Drop the connection with a TCP reset instead of an orderly end."""
    link: socket.socket = writer.get_extra_info("socket")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    writer.transport.abort()
