"""Waits with an end: each says what it waited for, or why that can't come any more."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 180.0
PAUSE_S = 0.02
SHARE_OF_WAITING = 0.15
"""Of what was waited so far, the next pause: whoever waits long asks more seldom."""
LONGEST_PAUSE_S = 0.5


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
        began_s = time.monotonic()
        async with asyncio.timeout(PATIENCE_S):
            while not await _ask(holds):
                why = broken()
                assert not why, f"waited until {what}, but {why}"
                await asyncio.sleep(_pause_after(began_s))
    except TimeoutError as error:
        raise TimeoutError(f"waited in vain until {what}") from error


def _pause_after(began_s: float) -> float:
    share_s = SHARE_OF_WAITING * (time.monotonic() - began_s)
    return max(PAUSE_S, min(LONGEST_PAUSE_S, share_s))


async def _ask(holds: Callable[[], bool | Awaitable[bool]]) -> bool:
    held = holds()
    return await held if inspect.isawaitable(held) else held


def awaited(what: str, look: Callable[[], T | None]) -> T:
    """What is seen once it is true, looked for for PATIENCE_S at most.

    what: goes on after "waited in vain for". Raises: TimeoutError.
    """
    began_s = time.monotonic()
    while time.monotonic() < began_s + PATIENCE_S:
        seen = look()
        if seen:
            return seen
        time.sleep(_pause_after(began_s))
    raise TimeoutError(f"waited in vain for {what}")
