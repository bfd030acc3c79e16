"""SQL beside the ordinary leases of `tasks` and `registrations`.

What waits in all, how old the stored copies are, a lease out of turn, and leases given
back: what was not done is then ready for others at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import and_, or_, text, update

from registry.db.engine.engines import Connection
from registry.db.frontier.tasks import (
    READY_AT,
    Task,
    TaskKind,
    history_of,
    percent_of,
    task_of,
)
from registry.db.registration.registrations import Registration
from registry.db.schema.tables import registration, task
from registry.sites.change_history import ChangeHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Work that is due. tasks: ready and not leased.

    since: when the longest waiting became ready.
    """

    tasks: int
    since: datetime | None


# Never fetched tasks became ready when their site was listed, which is not noted here.
_WAITING = text(f"""
    SELECT kind, count(*) AS tasks,
        min(greatest(least(due_at, hinted_at), leased_until)) AS since
    FROM registry.task
    WHERE {READY_AT} <= :now
    GROUP BY kind
""")  # noqa: S608 — our own expression

_LEASE_AT = text("""
    UPDATE registry.task AS t SET leased_until = :until, fence = t.fence + 1
    FROM registry.site AS s
    WHERE s.host = :host AND t.site_id = s.site_id AND t.kind = :kind
        AND (t.leased_until IS NULL OR t.leased_until <= :now)
    RETURNING t.*, s.host, t.outcome = '{}' AS is_first
""")

_AGES = text("""
    SELECT t.visits, t.unchanged, t.mean_gap_days, d.fetched_at
    FROM registry.task AS t TABLESAMPLE SYSTEM (:percent),
    LATERAL (
        SELECT max(fetched_at) AS fetched_at FROM registry.document
        WHERE site_id = t.site_id AND retired_at IS NULL
    ) AS d
    WHERE t.kind = 'crawl' AND d.fetched_at IS NOT NULL
    LIMIT :limit
""")


async def count_waiting(
    connection: Connection, now: datetime
) -> dict[TaskKind, Waiting]:
    """Return, by kind, how many wait; kinds of which none waits are left out. Reads one range of one index."""
    rows = await connection.execute(_WAITING, {"now": now})
    return {row.kind: Waiting(tasks=row.tasks, since=row.since) for row in rows}


async def lease_task_at(
    connection: Connection,
    host: str,
    kind: TaskKind,
    *,
    now: datetime,
    lease: timedelta,
) -> Task | None:
    """The task, whenever it is due; None if there is none or another has its lease."""
    given = {"host": host, "kind": kind, "now": now, "until": now + lease}
    row = (await connection.execute(_LEASE_AT, given)).one_or_none()
    return None if row is None else task_of(row)


async def give_back(
    connection: Connection, leased: Sequence[Task | Registration]
) -> int:
    """Give leases back and return how many were still held. Fences stay as they are."""
    of_tasks = [
        and_(
            task.c.site_id == item.site_id,
            task.c.kind == item.kind,
            task.c.fence == item.fence,
        )
        for item in leased
        if isinstance(item, Task)
    ]
    of_registrations = [
        and_(
            registration.c.registration_id == item.registration_id,
            registration.c.fence == item.fence,
        )
        for item in leased
        if isinstance(item, Registration)
    ]
    returned = 0
    for table, held in ((task, of_tasks), (registration, of_registrations)):
        if held:
            statement = (
                update(table)
                .where(or_(*held), table.c.leased_until.is_not(None))
                .values(leased_until=None)
            )
            returned += (await connection.execute(statement)).rowcount
    return returned


async def sample_ages(
    connection: Connection, limit: int
) -> list[tuple[ChangeHistory[float], datetime]]:
    """Return history and last visit of about `limit` sites that were read.

    Whole pages are drawn, as by `tasks.sample_histories`.
    """
    percent = await percent_of(connection, limit)
    rows = await connection.execute(_AGES, {"percent": percent, "limit": limit})
    return [(history_of(row), row.fetched_at) for row in rows]
