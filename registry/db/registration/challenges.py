"""SQL of registration challenges: single-use nonces."""

from datetime import datetime

from sqlalchemy import and_, delete, insert, select, update

from registry.db.engine.engines import Connection
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import challenge
from registry.identity.statements.challenge import IssuedChallenge


async def save_challenge(
    connection: Connection,
    host: str,
    nonce: str,
    issued_at: datetime,
    expires_at: datetime,
) -> None:
    await connection.execute(
        insert(challenge).values(
            host=host, nonce=nonce, issued_at=issued_at, expires_at=expires_at
        )
    )


async def find_challenge(connection: Connection, nonce: str) -> IssuedChallenge | None:
    rows = await connection.execute(select(challenge).where(challenge.c.nonce == nonce))
    row = rows.one_or_none()
    return read_row(IssuedChallenge, row, consumed_at=row.used_at) if row else None


async def use_nonce(
    connection: Connection, host: str, nonce: str, now: datetime
) -> bool:
    """Use up the nonce; return False if it is used up already."""
    result = await connection.execute(
        update(challenge)
        .where(
            and_(
                challenge.c.host == host,
                challenge.c.nonce == nonce,
                challenge.c.used_at.is_(None),
            )
        )
        .values(used_at=now)
    )
    return bool(result.rowcount)


async def forget_expired(connection: Connection, before: datetime) -> None:
    await connection.execute(delete(challenge).where(challenge.c.expires_at < before))
