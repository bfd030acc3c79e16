"""Reads that see one moment of the database, over one connection or two."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import TypeVar

from sqlalchemy import text

from registry.db.engine import Connection

First = TypeVar("First")
Second = TypeVar("Second")

_ONE_MOMENT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
_EXPORTED = text("SELECT pg_export_snapshot()")


async def read_one_moment(connection: Connection) -> None:
    """To be called before anything is read in the transaction."""
    await connection.execute(_ONE_MOMENT)


@asynccontextmanager
async def beside(connection: Connection) -> AsyncIterator[Connection]:
    """A second connection that sees the moment of the first, whose transaction goes on.

    connection: its engine has another one to give, for which is waited.
    """
    moment = (await connection.execute(_EXPORTED)).scalar_one()
    async with connection.engine.connect() as second:
        await read_one_moment(second)
        # The server's own name, in hexadecimal; it takes no parameter here.
        await second.execute(text(f"SET TRANSACTION SNAPSHOT '{moment}'"))
        yield second


async def both(
    first: Awaitable[First], second: Awaitable[Second]
) -> tuple[First, Second]:
    """Side by side. Raises what either raises, once both have ended."""
    one, other = await asyncio.gather(first, second, return_exceptions=True)
    if isinstance(one, BaseException):
        raise one
    if isinstance(other, BaseException):
        raise other
    return one, other
