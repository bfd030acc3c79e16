"""SQL of webhooks: subscriptions, leases of what is due, dead letters.

As with the frontier, what became of a delivery is written only under the fence of its
lease; a crawler that died leaves a lease that runs out.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Row, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine.engines import Connection
from registry.db.engine.read_row import read_row
from registry.db.schema.operator_tables import webhook, webhook_letter

State = Literal["pending", "active", "suspended"]
LETTERS_OF_WEBHOOK = 20

Lane = tuple[State, bool]
"""State, and whether the receiver was slow of late: each has slots of its own."""
SHARE = 4
"""Leases in a lane that one registrable domain holds at most, and one network at first."""

# Who holds fewest leases is served next; those that are held take the first numbers. The
# first condition is that of the index `webhook_due`, which no parameter fulfils.
LEASE = text("""
    WITH ranked AS (
        SELECT webhook_id, due_at, coalesce(leased_until > :now, false) AS is_held,
            row_number() OVER (PARTITION BY registrable_domain
                ORDER BY leased_until > :now DESC NULLS LAST, due_at) AS of_domain,
            row_number() OVER (PARTITION BY coalesce(network, webhook_id)
                ORDER BY leased_until > :now DESC NULLS LAST, due_at) AS of_network
        FROM registry.webhook
        WHERE state <> 'suspended' AND state = :state AND due_at <= :now
            AND (slowness > 0) = :is_slow
    ), next AS MATERIALIZED (
        SELECT webhook_id FROM ranked
        WHERE NOT is_held AND greatest(of_domain, of_network) <= :share
        ORDER BY greatest(of_domain, of_network), due_at LIMIT :limit
    ), ready AS MATERIALIZED (
        SELECT webhook_id FROM registry.webhook
        WHERE webhook_id IN (SELECT webhook_id FROM next) AND state = :state
            AND (leased_until IS NULL OR leased_until <= :now)
        FOR UPDATE SKIP LOCKED
    )
    UPDATE registry.webhook AS w SET leased_until = :until, fence = w.fence + 1
    FROM ready WHERE w.webhook_id = ready.webhook_id
    RETURNING w.*
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """A subscription. cursor: a FeedCursor as JSON. failures: in a row.

    pending: the receiver has not shown yet that it wants this; suspended: it is not
    asked any more, until its owner says so. problem: code and detail of the last failure.
    network: from which it came, while it is pending. slowness: quick answers that it
    owes until it is served among the quick ones again.
    """

    webhook_id: str
    operator_id: str
    url: str
    state: State
    challenge: str
    cursor: bytes
    created_at: datetime
    registrable_domain: str
    network: str | None = None
    slowness: int = 0
    delivered_at: datetime | None = None
    problem: Mapping[str, str] | None = None
    failures: int = 0
    due_at: datetime | None = None
    fence: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A delivery that was given up. body: as it was sent."""

    delivery_id: str
    body: str
    problem: Mapping[str, str]
    attempts: int
    died_at: datetime


async def add_webhook(connection: Connection, new: Webhook) -> None:
    await connection.execute(insert(webhook).values(asdict(new)))


async def webhooks_of(
    connection: Connection, operator_id: str, *, lock: bool = False
) -> list[Webhook]:
    """Return an operator's, the oldest first.

    lock: until the end of the transaction none is added, and none changes.
    """
    if lock:
        key = func.hashtextextended(f"webhooks {operator_id}", 0)
        await connection.execute(select(func.pg_advisory_xact_lock(key)))
    query = select(webhook).where(webhook.c.operator_id == operator_id)
    query = query.order_by(webhook.c.webhook_id)
    rows = await connection.execute(query.with_for_update() if lock else query)
    return list(map(_webhook, rows))


async def remove_webhooks(
    connection: Connection, operator_id: str, webhook_id: str | None = None
) -> int:
    """Remove one of an operator's, or all; return how many there were."""
    query = delete(webhook).where(webhook.c.operator_id == operator_id)
    if webhook_id is not None:
        query = query.where(webhook.c.webhook_id == webhook_id)
    return (await connection.execute(query)).rowcount


async def renew(connection: Connection, webhook_id: str, **changed: Any) -> None:
    """Challenge the receiver again, if it is suspended; else pauses could be skipped."""
    await connection.execute(
        update(webhook)
        .where(webhook.c.webhook_id == webhook_id, webhook.c.state == "suspended")
        .values(state="pending", failures=0, problem=None, **changed)
    )


async def lease_webhooks(
    connection: Connection, lane: Lane, now: datetime, lease: timedelta, limit: int
) -> list[Webhook]:
    parameters = {"now": now, "until": now + lease, "limit": limit, "share": SHARE}
    parameters |= {"state": lane[0], "is_slow": lane[1]}
    return list(map(_webhook, await connection.execute(LEASE, parameters)))


async def settle(connection: Connection, leased: Webhook, **changed: Any) -> bool:
    """Write what became of it and end the lease; False if the lease was lost."""
    written = await connection.execute(
        update(webhook)
        .where(
            webhook.c.webhook_id == leased.webhook_id, webhook.c.fence == leased.fence
        )
        .values(leased_until=None, **changed)
    )
    return written.rowcount == 1


async def bury(connection: Connection, webhook_id: str, letter: DeadLetter) -> None:
    """Keep a dead letter, and the newest of those before."""
    values = {
        **asdict(letter),
        "webhook_id": webhook_id,
        "problem": dict(letter.problem),
    }
    await connection.execute(
        insert(webhook_letter)
        .values(values)
        .on_conflict_do_update(
            index_elements=["webhook_id", "delivery_id"], set_=values
        )
    )
    newest = (
        select(webhook_letter.c.delivery_id)
        .where(webhook_letter.c.webhook_id == webhook_id)
        .order_by(webhook_letter.c.died_at.desc())
        .limit(LETTERS_OF_WEBHOOK)
    )
    await connection.execute(
        delete(webhook_letter).where(
            webhook_letter.c.webhook_id == webhook_id,
            webhook_letter.c.delivery_id.not_in(newest),
        )
    )


async def letters_of(connection: Connection, webhook_id: str) -> list[DeadLetter]:
    """Return the dead letters, the newest first."""
    query = select(webhook_letter).where(webhook_letter.c.webhook_id == webhook_id)
    rows = await connection.execute(query.order_by(webhook_letter.c.died_at.desc()))
    return [read_row(DeadLetter, row) for row in rows]


def _webhook(row: Row[Any]) -> Webhook:
    return read_row(Webhook, row, cursor=bytes(row.cursor))
