"""SQL of registrations: submitted by the web tier, leased and decided by crawlers."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec
from sqlalchemy import Row, and_, delete, func, insert, or_, select, text, update

from registry.db.engine.engines import Connection
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import registration
from registry.errors import Problem

RegistrationStatus = Literal["verifying", "active", "rejected", "withdrawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A signed statement and what became of it.

    token: the exact bytes of the JWS, kept for auditors; b"" a week after a rejection.
    network: from which it came, until it is decided; None where that is unknown.
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
    registrable_domain: str | None
    problems: tuple[Problem, ...]
    submitted_at: datetime
    network: str | None = None
    decided_at: datetime | None = None
    fence: int = 0


async def save_registration(connection: Connection, new: Registration) -> None:
    await connection.execute(
        insert(registration).values(
            asdict(new) | {"problems": [], "due_at": new.submitted_at}
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


async def count_of_nonce(connection: Connection, nonce: str) -> int:
    query = select(func.count()).where(registration.c.nonce == nonce)
    return int((await connection.execute(query)).scalar_one())


async def count_waiting(connection: Connection, network: str) -> int:
    query = select(func.count()).where(
        registration.c.status == "verifying", registration.c.network == network
    )
    return int((await connection.execute(query)).scalar_one())


async def supersede(
    connection: Connection,
    host: str,
    network: str | None,
    problem: Problem,
    now: datetime,
) -> None:
    """Reject what waits for the host and came from that network.

    What a crawler is deciding just now goes on. Until the transaction ends nobody else
    submits for the host.
    """
    await connection.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended(:host, 0))"), {"host": host}
    )
    await connection.execute(
        update(registration)
        .where(
            registration.c.host == host,
            registration.c.network.is_not_distinct_from(network),
            registration.c.status == "verifying",
            or_(
                registration.c.leased_until.is_(None), registration.c.leased_until < now
            ),
        )
        .values(
            status="rejected",
            problems=msgspec.to_builtins([problem]),
            decided_at=now,
            network=None,
        )
    )


async def drop_rejected(
    connection: Connection, before: datetime, long_before: datetime
) -> int:
    """Drop the bytes of what was rejected before an instant, and long before all of it."""
    decided, is_rejected = (
        registration.c.decided_at,
        registration.c.status == "rejected",
    )
    gone = delete(registration).where(is_rejected, decided < long_before)
    bytes_left = registration.c.token != b""
    emptied = update(registration).where(is_rejected, bytes_left, decided < before)
    await connection.execute(gone)
    return int((await connection.execute(emptied.values(token=b""))).rowcount)


NETWORK_SHARE, DOMAIN_SHARE = 16, 8
"""Leases that one network and one registrable domain hold at most, of all crawlers."""

# The client with the fewest leases is next, among equals the one that waits longest.
LEASE = text("""
    WITH held AS MATERIALIZED (
        SELECT network, registrable_domain FROM registry.registration
        WHERE status = 'verifying' AND leased_until >= :now
    ),
    ranked AS (
        SELECT registration_id, due_at,
            CASE WHEN network IS NULL THEN 0 ELSE
                (SELECT count(*) FROM held WHERE held.network = waiting.network)
                + row_number() OVER (PARTITION BY network ORDER BY due_at)
            END AS of_network,
            CASE WHEN registrable_domain IS NULL THEN 0 ELSE
                (SELECT count(*) FROM held
                    WHERE held.registrable_domain = waiting.registrable_domain)
                + row_number() OVER (PARTITION BY registrable_domain ORDER BY due_at)
            END AS of_domain
        FROM registry.registration AS waiting
        WHERE status = 'verifying' AND due_at <= :now
            AND (leased_until IS NULL OR leased_until < :now)
            AND (fence > 0) = :retries
    ),
    next AS MATERIALIZED (
        SELECT registration_id FROM ranked
        WHERE of_network <= :network_share AND of_domain <= :domain_share
        ORDER BY of_network, of_domain, due_at
        LIMIT :limit
    )
    UPDATE registry.registration SET
        leased_until = :until, fence = fence + 1
    WHERE registration_id IN (
        SELECT registration_id FROM registry.registration
        WHERE registration_id IN (SELECT registration_id FROM next)
            AND status = 'verifying'
            AND (leased_until IS NULL OR leased_until < :now)
        FOR UPDATE SKIP LOCKED
    )
    RETURNING *
""")


async def lease_registrations(
    connection: Connection,
    *,
    now: datetime,
    lease: timedelta,
    limit: int,
    retries: bool = False,
) -> list[Registration]:
    """Registrations to verify, held until `now + lease`; each lease has a new fence.

    retries: only what was leased before, else only what was not.
    """
    parameters = {
        "now": now,
        "until": now + lease,
        "limit": limit,
        "retries": retries,
        "network_share": NETWORK_SHARE,
        "domain_share": DOMAIN_SHARE,
    }
    rows = await connection.execute(LEASE, parameters)
    return [_registration(row) for row in rows]


async def postpone(
    connection: Connection,
    leased: Registration,
    until: datetime,
    problems: Sequence[Problem] = (),
) -> None:
    """Give the lease back and try again later. problems: the cause, shown until then."""
    shown = msgspec.to_builtins(list(problems))
    await connection.execute(
        update(registration)
        .where(_holds_lease(leased))
        .values(due_at=until, leased_until=None, problems=shown)
    )


async def decide(
    connection: Connection,
    leased: Registration,
    status: RegistrationStatus,
    problems: Sequence[Problem],
    now: datetime,
) -> bool:
    """Write the outcome; False if the lease was lost, and then nothing is written."""
    result = await connection.execute(
        update(registration)
        .where(_holds_lease(leased))
        .values(
            status=status,
            problems=msgspec.to_builtins(list(problems)),
            decided_at=now,
            leased_until=None,
            network=None,
        )
    )
    return bool(result.rowcount)


def _holds_lease(leased: Registration) -> Any:
    return and_(
        registration.c.registration_id == leased.registration_id,
        registration.c.fence == leased.fence,
        registration.c.status == "verifying",
    )


def _registration(row: Row[Any]) -> Registration:
    problems = msgspec.convert(row.problems, tuple[Problem, ...])
    return read_row(Registration, row, problems=problems)
