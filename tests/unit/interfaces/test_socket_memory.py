"""Unfinished messages of WebSockets hold memory that nobody counts: it is watched."""

import asyncio
import mmap
import socket
from typing import Any

from registry.interfaces.wab.socket_routes import (
    POLL_S,
    TRY_LATER,
    SocketMemory,
    _run,
    own_bytes,
)
from registry.web.own_sockets import received_bytes
from tests.waiting import PATIENCE_S

MIB = 1 << 20


class Silent:
    """A conversation in which nothing is said, and its socket."""

    def __init__(self, peer: tuple[str, str]) -> None:
        self.scope = {"client": peer}
        self.taken_bytes = 0
        self.closed: list[Any] = []
        self.running = 0

    async def run(self) -> None:
        self.running += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1

    beat = run

    async def close(self, code: int, reason: str) -> None:
        self.closed.append((code, reason, self.running))


async def test_who_sent_what_is_no_message_ends_when_memory_is_short() -> None:
    used = 100 * MIB
    open_ = [Silent(("192.0.2.1", str(port))) for port in range(5)]
    ended, lasting = open_[:2], open_[2:]
    received: dict[tuple[str, ...], int] = {
        row.scope["client"]: 4 * MIB for row in open_[:3]
    }
    received |= {row.scope["client"]: 100_000 for row in open_[3:]}
    lasting[0].taken_bytes = 4 * MIB
    lasting[1].scope |= {"peer": lasting[1].scope["client"], "client": ("::1", "0")}
    memory = SocketMemory(lambda: received, 64 * MIB, lambda: used)
    running = [
        asyncio.create_task(_run(row, row, memory))  # type: ignore[arg-type] # all that it uses
        for row in open_
    ]
    used += 64 * MIB
    await asyncio.sleep(0.05)
    assert not any(task.done() for task in running), "so much may it grow"
    used += 1
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*running[:2])
    nothing_reads = 0  # while a connection closes, who sends would still be taken in
    expected = [(TRY_LATER, "memory is short", nothing_reads)]
    assert [row.closed for row in ended] == [expected] * 2
    await asyncio.sleep(POLL_S)
    assert not any(task.done() for task in running[2:]), "they hold nothing"
    for task in running[2:]:
        task.cancel()


async def test_whose_bytes_nobody_counts_ends_too() -> None:
    memory = SocketMemory(dict, 0, lambda: 1)
    memory._most = 0
    unknown = Silent(("192.0.2.1", "0"))
    async with asyncio.timeout(PATIENCE_S):
        await _run(unknown, unknown, memory)  # type: ignore[arg-type] # all that it uses
    assert unknown.closed


def test_what_came_of_each_peer_is_counted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer = socket.create_connection(listener.getsockname())
        accepted, _ = listener.accept()
        with peer, accepted:
            peer.sendall(b"x" * 30_000)
            host, port = peer.getsockname()
            while received_bytes()[host, str(port)] != 30_000:
                pass


async def test_however_many_wait_memory_is_looked_at_once_in_a_while() -> None:
    looks = 0

    def used() -> int:
        nonlocal looks
        looks += 1
        return 0

    memory = SocketMemory(dict, 0, used)
    waiting = [
        asyncio.create_task(memory.becomes_short((), int, 0.2)) for _ in range(500)
    ]
    await asyncio.sleep(0.5)
    assert looks <= 10
    for task in waiting:
        task.cancel()


def test_what_is_of_the_process_alone_is_counted() -> None:
    size, before = 32 * MIB, own_bytes()
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * size)
        assert own_bytes() - before > size // 2
