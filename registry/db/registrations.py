"""SQL of registrations: submitted by the web tier, leased and decided by crawlers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec
from sqlalchemy import Row, and_, insert, select, text, update

from registry.db.engine import Connection
from registry.db.tables import registration
from registry.errors import Problem

RegistrationStatus = Literal["verifying", "active", "rejected", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One signed statement and what became of it.

    token: the exact bytes of the JWS, kept for auditors.
    """

    registration_id: str
    host: str
    act: str
    status: RegistrationStatus
    kid: str
    seq: int
    nonce: str
    token: bytes
    token_digest: bytes
    problems: tuple[Problem, ...]
    submitted_at: datetime
    decided_at: datetime | None = None
    fence: int = 0


async def save_registration(connection: Connection, one: Registration) -> None:
    await connection.execute(
        insert(registration).values(
            registration_id=one.registration_id,
            host=one.host,
            act=one.act,
            status=one.status,
            kid=one.kid,
            seq=one.seq,
            nonce=one.nonce,
            token=one.token,
            token_digest=one.token_digest,
            problems=[],
            submitted_at=one.submitted_at,
            due_at=one.submitted_at,
        )
    )


async def find_registration(
    connection: Connection, registration_id: str
) -> Registration | None:
    query = select(registration).where(
        registration.c.registration_id == registration_id
    )
    row = (await connection.execute(query)).one_or_none()
    return _registration(row) if row else None


LEASE = text("""
    UPDATE registry.registration SET
        leased_until = :until, fence = fence + 1
    WHERE registration_id IN (
        SELECT registration_id FROM registry.registration
        WHERE status = 'verifying' AND due_at <= :now
            AND (leased_until IS NULL OR leased_until < :now)
        ORDER BY due_at
        LIMIT :limit
        FOR UPDATE SKIP LOCKED
    )
    RETURNING *
""")


async def lease_registrations(
    connection: Connection, *, now: datetime, lease: timedelta, limit: int
) -> list[Registration]:
    """Registrations to verify, held until `now + lease`; each lease has a new fence."""
    rows = await connection.execute(
        LEASE, {"now": now, "until": now + lease, "limit": limit}
    )
    return [_registration(row) for row in rows]


async def postpone(connection: Connection, one: Registration, until: datetime) -> None:
    """Give the lease back and try again later."""
    await connection.execute(
        update(registration)
        .where(_holds_lease(one))
        .values(due_at=until, leased_until=None)
    )


async def decide(
    connection: Connection,
    one: Registration,
    status: RegistrationStatus,
    problems: Sequence[Problem],
    now: datetime,
) -> bool:
    """Write the outcome; False if the lease was lost, and then nothing is written."""
    result = await connection.execute(
        update(registration)
        .where(_holds_lease(one))
        .values(
            status=status,
            problems=msgspec.to_builtins(list(problems)),
            decided_at=now,
            leased_until=None,
        )
    )
    return bool(result.rowcount)


def _holds_lease(one: Registration) -> Any:
    return and_(
        registration.c.registration_id == one.registration_id,
        registration.c.fence == one.fence,
        registration.c.status == "verifying",
    )


def _registration(row: Row[Any]) -> Registration:
    return Registration(
        registration_id=row.registration_id,
        host=row.host,
        act=row.act,
        status=row.status,
        kid=row.kid,
        seq=row.seq,
        nonce=row.nonce,
        token=row.token,
        token_digest=row.token_digest,
        problems=msgspec.convert(row.problems, tuple[Problem, ...]),
        submitted_at=row.submitted_at,
        decided_at=row.decided_at,
        fence=row.fence,
    )
