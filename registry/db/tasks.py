"""SQL of the frontier: what is due at which site, leased to crawlers.

A lease carries a fence, a number that grows with each lease of the task; completion is
written only under the fence of the lease, so a crawler that lost it changes nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import BigInteger, and_, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection
from registry.db.tables import task

TaskKind = Literal["crawl", "probe", "prove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """failures: in a row, since the last success."""

    site_id: int
    kind: TaskKind
    host: str
    failures: int
    fence: int


LEASE = text("""
    UPDATE registry.task AS t SET leased_until = :until, fence = t.fence + 1
    FROM (
        SELECT site_id, kind FROM registry.task
        WHERE (due_at IS NULL OR due_at <= :now)
            AND (leased_until IS NULL OR leased_until < :now)
        ORDER BY due_at NULLS FIRST
        LIMIT :limit
        FOR UPDATE SKIP LOCKED
    ) AS due, registry.site AS s
    WHERE t.site_id = due.site_id AND t.kind = due.kind AND s.site_id = t.site_id
    RETURNING t.site_id, t.kind, t.failures, t.fence, s.host
""")


async def lease_tasks(
    connection: Connection, *, now: datetime, lease: timedelta, limit: int
) -> list[Task]:
    rows = await connection.execute(
        LEASE, {"now": now, "until": now + lease, "limit": limit}
    )
    return [
        Task(
            site_id=row.site_id,
            kind=row.kind,
            host=row.host,
            failures=row.failures,
            fence=row.fence,
        )
        for row in rows
    ]


async def schedule(
    connection: Connection, site_id: int, kind: TaskKind, due_at: datetime
) -> None:
    """Make the task due at the instant, whoever may hold a lease of it."""
    # A task that was forgotten must not start again below a fence that is still held.
    unix_ms = (func.extract("epoch", func.clock_timestamp()) * 1000).cast(BigInteger)
    statement = insert(task).values(
        site_id=site_id, kind=kind, due_at=due_at, fence=unix_ms
    )
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=[task.c.site_id, task.c.kind],
            set_={"due_at": statement.excluded.due_at, "failures": 0},
        )
    )


async def complete(
    connection: Connection,
    one: Task,
    *,
    due_at: datetime,
    failures: int,
    outcome: dict[str, Any],
) -> bool:
    """Write the outcome and the next due time; False if the lease was lost."""
    result = await connection.execute(
        update(task)
        .where(
            and_(
                task.c.site_id == one.site_id,
                task.c.kind == one.kind,
                task.c.fence == one.fence,
            )
        )
        .values(due_at=due_at, leased_until=None, failures=failures, outcome=outcome)
    )
    return bool(result.rowcount)


async def forget_tasks(connection: Connection, site_id: int) -> None:
    await connection.execute(delete(task).where(task.c.site_id == site_id))


async def outcomes_of(connection: Connection, site_id: int) -> dict[str, Any]:
    """The last outcome of each kind of task of a site."""
    rows = await connection.execute(
        select(task.c.kind, task.c.outcome, task.c.due_at).where(
            task.c.site_id == site_id
        )
    )
    return {row.kind: {**row.outcome, "nextDueAt": row.due_at} for row in rows}


async def count_due(connection: Connection, now: datetime) -> dict[str, int]:
    query = text("""
        SELECT kind, count(*) AS due FROM registry.task
        WHERE due_at <= :now GROUP BY kind
    """)
    rows = await connection.execute(query, {"now": now})
    return {row.kind: row.due for row in rows}
