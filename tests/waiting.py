"""Waits with an end: each says what it waited for, or why that can't come any more."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 180.0
PAUSE_S = 0.02


async def until(
    what: str,
    holds: Callable[[], bool | Awaitable[bool]],
    *,
    broken: Callable[[], str] = str,
) -> None:
    """Ask again and again, for PATIENCE_S at most.

    what: goes on after "waited until". broken: why it will never hold, or nothing.
    Raises: TimeoutError; AssertionError as soon as it is broken.
    """
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not await _ask(holds):
                why = broken()
                assert not why, f"waited until {what}, but {why}"
                await asyncio.sleep(PAUSE_S)
    except TimeoutError as error:
        raise TimeoutError(f"waited in vain until {what}") from error


async def _ask(holds: Callable[[], bool | Awaitable[bool]]) -> bool:
    held = holds()
    return await held if inspect.isawaitable(held) else held


def awaited(what: str, look: Callable[[], T | None]) -> T:
    """What is seen once it is true, looked for for PATIENCE_S at most.

    what: goes on after "waited in vain for". Raises: TimeoutError.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        seen = look()
        if seen:
            return seen
        time.sleep(PAUSE_S)
    raise TimeoutError(f"waited in vain for {what}")
