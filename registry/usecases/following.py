"""Following what others change in the database, again and again."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from registry.db.engine.engines import DatabaseError

DATABASE_PAUSE_S = 1.0

logger = structlog.get_logger()


async def follow(
    catch_up: Callable[[], Awaitable[None]], *, pause_s: float, lost: str
) -> None:
    """Run `catch_up` until cancelled. lost: the event that is logged while the database is away."""
    while True:
        try:
            await catch_up()
            await asyncio.sleep(pause_s)
        except (DatabaseError, OSError) as error:
            logger.warning(lost, kind=type(error).__name__)
            await asyncio.sleep(DATABASE_PAUSE_S)
