"""SQL of the frontier: what is due at which site, leased to crawlers.

A lease carries a fence, a number that grows with each lease of the task; completion is
written only under the fence of the lease, so a crawler that lost it changes nothing.
Where the crawler dies, the task is ready for another when the lease is over.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import BigInteger, Row, and_, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection
from registry.db.tables import task
from registry.sites.change_history import ChangeHistory

TaskKind = Literal["crawl", "probe", "prove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A leased task.

    due_at: when it was to be done; None: as soon as possible. is_first: it was never
    completed. failures: in a row, since the last success. history: of crawls.
    """

    site_id: int
    kind: TaskKind
    host: str
    due_at: datetime | None
    is_first: bool
    failures: int
    fence: int
    history: ChangeHistory[float]


# The expression is that of the index `task_ready`. A row that another claims at this
# moment is skipped: whoever waited for it would not get it.
LEASE = text("""
    WITH ready AS MATERIALIZED (
        SELECT site_id, kind FROM registry.task
        WHERE coalesce(greatest(due_at, leased_until), '-infinity') <= :now
        ORDER BY coalesce(greatest(due_at, leased_until), '-infinity')
        LIMIT :limit
        FOR UPDATE SKIP LOCKED
    )
    UPDATE registry.task AS t SET leased_until = :until, fence = t.fence + 1
    FROM ready, registry.site AS s
    WHERE t.site_id = ready.site_id AND t.kind = ready.kind AND s.site_id = t.site_id
    RETURNING t.site_id, t.kind, t.due_at, t.failures, t.fence, s.host,
        t.outcome = '{}' AS is_first, t.visits, t.unchanged, t.mean_gap_days
""")


async def lease_tasks(
    connection: Connection, *, now: datetime, lease: timedelta, limit: int
) -> list[Task]:
    """Those longest ready, at most `limit`, to nobody else before `lease` is over."""
    rows = await connection.execute(
        LEASE, {"now": now, "until": now + lease, "limit": limit}
    )
    return [
        Task(
            site_id=row.site_id,
            kind=row.kind,
            host=row.host,
            due_at=row.due_at,
            is_first=row.is_first,
            failures=row.failures,
            fence=row.fence,
            history=_history(row),
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
    history: ChangeHistory[float] | None = None,
) -> bool:
    """Write the outcome and the next due time; False if the lease was lost.

    history: of crawls, with this one; None leaves what is stored.
    """
    learnt = {} if history is None else asdict(history)
    result = await connection.execute(
        update(task)
        .where(
            and_(
                task.c.site_id == one.site_id,
                task.c.kind == one.kind,
                task.c.fence == one.fence,
            )
        )
        .values(
            due_at=due_at,
            leased_until=None,
            failures=failures,
            outcome=outcome,
            **learnt,
        )
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


async def sample_histories(
    connection: Connection, limit: int
) -> list[ChangeHistory[float]]:
    """Of about `limit` sites, or of all where they are fewer.

    Whole pages are drawn, so that it costs the same whatever the number of sites.
    """
    estimated = await connection.execute(
        text("SELECT reltuples FROM pg_class WHERE oid = 'registry.task'::regclass")
    )
    # Of each site there is one task of each kind; -1: nobody has counted the table yet.
    kinds = len(get_args(TaskKind))
    percent = min(100.0, 100.0 * limit * kinds / max(1.0, estimated.scalar_one()))
    query = text("""
        SELECT visits, unchanged, mean_gap_days
        FROM registry.task TABLESAMPLE SYSTEM (:percent) WHERE kind = 'crawl'
    """)
    return [
        _history(row) for row in await connection.execute(query, {"percent": percent})
    ]


def _history(row: Row[Any]) -> ChangeHistory[float]:
    return ChangeHistory(
        visits=row.visits, unchanged=row.unchanged, mean_gap_days=row.mean_gap_days
    )
