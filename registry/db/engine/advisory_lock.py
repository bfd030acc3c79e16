"""Advisory locks, by which one of many processes at a time does a piece of work.

A lock that another process holds is no error: that process does the work. A unique row
prevents as well that anything is done twice; the lock saves the effort.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sqlalchemy import text

from registry.db.engine.engines import Connection, Engine, reading

# Any constants that no other lock has.
SEQUENCER_TURN = 0x5EC0E4CE
COSIGNER_TURN = 0xC051641
REPORTS_TURN = 0x2E9027E2
EXPOSURE_TURN = 0x6B0D1A77
ERASURE_TURN = 0x0E7A5ED5
ERASURE_SCHEDULE = 0xE7A5E
TRIALS_TURN = 0x7219A15E

_TRY = text("SELECT pg_try_advisory_lock(:key)")
_TRY_IN = text("SELECT pg_try_advisory_xact_lock(:key)")


@asynccontextmanager
async def take_turn(engine: Engine, key: int) -> AsyncIterator[Connection | None]:
    """Yield the connection that holds the lock; None if the turn is another's.

    The turn is ours until the block ends or the connection is lost. No transaction is
    open meanwhile. The connection goes to the server itself and through no pooler.
    """
    async with reading(engine).connect() as connection:
        try:
            yield connection if await try_lock(connection, key) else None
        finally:
            # The lock belongs to the connection and must not go back to the pool.
            await connection.invalidate()


async def try_lock_in_transaction(connection: Connection, key: int) -> bool:
    """Take the lock until the transaction ends; return False if it is taken."""
    return bool((await connection.execute(_TRY_IN, {"key": key})).scalar_one())


async def try_lock(connection: Connection, key: int) -> bool:
    """Take the lock for as long as the connection lives; return False if it is taken."""
    return bool((await connection.execute(_TRY, {"key": key})).scalar_one())
