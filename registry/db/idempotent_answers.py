"""SQL of answers that a repeated call gets again.

The lock of a call ends with its transaction, and so does everything of a process that is
killed: there is no row of a call that was begun and not ended.
"""

from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from registry.db.engine.advisory_lock import try_lock_in_transaction
from registry.db.engine.engines import Connection

EXPIRED_AT_ONCE = 8
"""Each call takes away more than it adds."""

_FIND = text("""
    SELECT request, answer FROM registry.idempotent_answer
    WHERE call = :call AND expires_at > :now
""")
_SAVE = text("""
    INSERT INTO registry.idempotent_answer (call, request, answer, expires_at)
    VALUES (:call, :request, :answer, :expires_at)
    ON CONFLICT (call) DO UPDATE SET request = excluded.request,
        answer = excluded.answer, expires_at = excluded.expires_at
""")
_DROP = text("""
    DELETE FROM registry.idempotent_answer WHERE call IN (
        SELECT call FROM registry.idempotent_answer WHERE expires_at <= :now
        ORDER BY expires_at LIMIT :most FOR UPDATE SKIP LOCKED
    )
""")


class StoredAnswer(NamedTuple):
    """request: digest of the request. answer: sealed."""

    request: bytes
    answer: bytes


async def lock_call(connection: Connection, call: bytes) -> bool:
    """Lock the call until the transaction ends; return False if another has it."""
    key = int.from_bytes(call[:8], "big", signed=True)
    return await try_lock_in_transaction(connection, key)


async def find_answer(
    connection: Connection, call: bytes, now: datetime
) -> StoredAnswer | None:
    row = (await connection.execute(_FIND, {"call": call, "now": now})).first()
    return None if row is None else StoredAnswer(bytes(row.request), bytes(row.answer))


async def save_answer(
    connection: Connection,
    call: bytes,
    stored: StoredAnswer,
    *,
    now: datetime,
    expires_at: datetime,
) -> None:
    """Save it, and take away some that have expired."""
    await connection.execute(_DROP, {"now": now, "most": EXPIRED_AT_ONCE})
    values = {"call": call, "expires_at": expires_at, **stored._asdict()}
    await connection.execute(_SAVE, values)
