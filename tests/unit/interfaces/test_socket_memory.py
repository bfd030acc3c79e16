"""Unfinished messages of WebSockets hold memory that nobody counts: it is watched."""

import asyncio
import mmap
from typing import Any

from registry.interfaces.wab.socket_routes import (
    TRY_LATER,
    SocketMemory,
    _run,
    own_bytes,
)
from tests.waiting import PATIENCE_S

MIB = 1 << 20


class Silent:
    """A conversation in which nothing is said, and its socket."""

    def __init__(self) -> None:
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


async def test_conversations_end_when_the_process_has_grown_too_much() -> None:
    used = 100 * MIB
    memory = SocketMemory(64 * MIB, lambda: used)
    open_ = [Silent() for _ in range(3)]
    running = [
        asyncio.create_task(_run(row, row, memory))  # type: ignore[arg-type] # all that it uses
        for row in open_
    ]
    used += 64 * MIB
    await asyncio.sleep(0.05)
    assert not any(task.done() for task in running), "so much may it grow"
    used += 1
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*running)
    nothing_reads = 0  # while a connection closes, who sends would still be taken in
    expected = [(TRY_LATER, "memory is short", nothing_reads)]
    assert [row.closed for row in open_] == [expected] * 3


async def test_however_many_wait_memory_is_looked_at_once_in_a_while() -> None:
    looks = 0

    def used() -> int:
        nonlocal looks
        looks += 1
        return 0

    memory = SocketMemory(0, used)
    waiting = [asyncio.create_task(memory.becomes_short(0.2)) for _ in range(500)]
    await asyncio.sleep(0.5)
    assert looks <= 10
    for task in waiting:
        task.cancel()


def test_what_is_of_the_process_alone_is_counted() -> None:
    size, before = 32 * MIB, own_bytes()
    with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * size)
        assert own_bytes() - before > size // 2
