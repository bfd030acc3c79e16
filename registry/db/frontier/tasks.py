"""SQL of the frontier: what is due at which site, leased to crawlers.

A lease carries a fence, a number that grows with each lease of the task; completion is
written only under the fence of the lease, so a crawler that lost it changes nothing.
Where the crawler dies, the task is ready for another when the lease is over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, Insert, insert

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Prepared
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import task
from registry.sites.change_history import ChangeHistory

TaskKind = Literal["crawl", "probe", "prove"]
Lease = tuple[int, TaskKind, int]
"""Key of the leased task, and its fence: another lease of the same task is another."""

_INSTANT = sa.DateTime(timezone=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A leased task.

    due_at: when it is to be done by the schedule; None: as soon as possible. is_first:
    it was never completed. failures: in a row, since the last success. history: of
    crawls; learnt_at: of the last crawl that went into it. hinted_at: since when the
    site's owner wants a crawl, which may be before it is due. standing: what is wrong
    with the site as far as its owner was notified (`registry.usecases.sites.notices`).
    """

    site_id: int
    kind: TaskKind
    host: str
    due_at: datetime | None
    is_first: bool
    failures: int
    fence: int
    history: ChangeHistory[float]
    learnt_at: datetime | None = None
    hinted_at: datetime | None = None
    standing: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lease(self) -> "Lease":
        return (self.site_id, self.kind, self.fence)

    def is_early(self, now: datetime) -> bool:
        """Return whether a hint brought it forward, before it is due."""
        return self.due_at is not None and self.due_at > now


READY_AT = "coalesce(greatest(least(due_at, hinted_at), leased_until), '-infinity')"
"""Time since which a task is ready and not leased; the index `task_ready` has it."""

# A row that another worker claims at this moment is skipped: waiting for it would be in
# vain.
LEASE = sa.text(f"""
    WITH ready AS MATERIALIZED (
        SELECT site_id, kind FROM registry.task
        WHERE {READY_AT} <= :now
        ORDER BY {READY_AT}
        LIMIT :limit
        FOR UPDATE SKIP LOCKED
    )
    UPDATE registry.task AS t SET leased_until = :until, fence = t.fence + 1
    FROM ready, registry.site AS s
    WHERE t.site_id = ready.site_id AND t.kind = ready.kind AND s.site_id = t.site_id
    RETURNING t.site_id, t.kind, t.due_at, t.failures, t.fence, s.host,
        t.outcome = '{{}}' AS is_first, t.visits, t.unchanged, t.mean_gap_days,
        t.learnt_at, t.hinted_at, t.standing
""")  # noqa: S608 — our own expression


async def lease_tasks(
    connection: Connection, *, now: datetime, lease: timedelta, limit: int
) -> list[Task]:
    """Lease the tasks longest ready, at most `limit`, each for the time `lease`."""
    rows = await connection.execute(
        LEASE, {"now": now, "until": now + lease, "limit": limit}
    )
    return [task_of(row) for row in rows]


def task_of(row: sa.Row[Any]) -> Task:
    """row: of a leased task, with its host and whether it is the first time."""
    return read_row(Task, row, history=history_of(row))


async def schedule(
    connection: Connection, site_id: int, kind: TaskKind, due_at: datetime
) -> None:
    """Make the task due at the instant, whether or not a crawler holds its lease.

    The history goes on from what is fetched now: a registration is no visit.
    """
    statement = _new_task(site_id, kind, due_at)
    await connection.execute(
        statement.on_conflict_do_update(
            index_elements=[task.c.site_id, task.c.kind],
            set_={
                "due_at": statement.excluded.due_at,
                "failures": 0,
                "learnt_at": None,
            },
        )
    )


async def begin(
    connection: Connection, site_id: int, kind: TaskKind, due_at: datetime
) -> None:
    """Make the task due at the instant where there is none; an existing one stays."""
    statement = _new_task(site_id, kind, due_at)
    await connection.execute(statement.on_conflict_do_nothing())


def _new_task(site_id: int, kind: TaskKind, due_at: datetime) -> Insert:
    # A task that was forgotten must not start again below a fence that is still held.
    unix_ms = (sa.func.extract("epoch", sa.func.clock_timestamp()) * 1000).cast(
        sa.BigInteger
    )
    return insert(task).values(site_id=site_id, kind=kind, due_at=due_at, fence=unix_ms)


async def hint_crawl(
    connection: Connection, site_id: int, now: datetime
) -> datetime | None:
    """Bring the site's crawl forward; when it is due then, None if it has none.

    Not before the instant that the site's own server asked for. Neither the schedule
    nor the count of failures changes. During a crawl it counts for the next one.
    """
    hinted_at = sa.func.greatest(sa.literal(now, _INSTANT), task.c.not_before)
    result = await connection.execute(
        sa.update(task)
        .where(task.c.site_id == site_id, task.c.kind == "crawl")
        .values(hinted_at=hinted_at)
        .returning(sa.func.least(task.c.due_at, task.c.hinted_at))
    )
    due_at: datetime | None = result.scalar_one_or_none()
    return due_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Outcome of a leased task, and when it is due again.

    history, learnt_at, standing: as in Task; None leaves what is stored. not_before: no
    hint brings the next one before it. A hint that came after the lease still stands.
    """

    task: Task
    due_at: datetime
    failures: int
    outcome: dict[str, Any]
    history: ChangeHistory[float] | None = None
    learnt_at: datetime | None = None
    not_before: datetime | None = None
    standing: Mapping[str, Any] | None = None


async def complete(connection: Connection, leased: Task, **members: Any) -> bool:
    """Write what came of it; False if the lease was lost. members: of Completion."""
    return bool(await complete_all(connection, [Completion(task=leased, **members)]))


async def complete_all(
    connection: Connection, several: Sequence[Completion]
) -> frozenset[Lease]:
    """Write what came of tasks; return the leases that still held."""
    rows = await _COMPLETE(connection, rows=list(map(_written, several)))
    return frozenset((row.site_id, row.kind, row.fence) for row in rows)


def _written(done: Completion) -> dict[str, Any]:
    leased, members = done.task, {name: getattr(done, name) for name in _WRITTEN}
    return {
        **members,
        **(asdict(done.history) if done.history else {}),
        "site_id": leased.site_id,
        "kind": leased.kind,
        "fence": leased.fence,
        "known_hint": leased.hinted_at,
    }


_WRITTEN = ("due_at", "failures", "outcome", "not_before", "learnt_at", "standing")
_COMPLETE = Prepared(
    sa.text("""
    UPDATE registry.task AS t SET
        due_at = done.due_at, leased_until = NULL, failures = done.failures,
        outcome = done.outcome, not_before = done.not_before,
        hinted_at = CASE WHEN t.hinted_at IS NOT DISTINCT FROM done.known_hint
            THEN NULL ELSE greatest(t.hinted_at, done.not_before) END,
        learnt_at = coalesce(done.learnt_at, t.learnt_at),
        standing = coalesce(done.standing, t.standing),
        visits = coalesce(done.visits, t.visits),
        unchanged = coalesce(done.unchanged, t.unchanged),
        mean_gap_days = coalesce(done.mean_gap_days, t.mean_gap_days)
    FROM jsonb_to_recordset(:rows) AS done (
        site_id bigint, kind text, fence bigint, known_hint timestamptz,
        due_at timestamptz, failures int, outcome jsonb, not_before timestamptz,
        learnt_at timestamptz, standing jsonb,
        visits float8, unchanged float8, mean_gap_days float8
    )
    WHERE t.site_id = done.site_id AND t.kind = done.kind AND t.fence = done.fence
    RETURNING t.site_id, t.kind, t.fence
""").bindparams(sa.bindparam("rows", type_=JSONB))
)


async def forget_tasks(connection: Connection, site_id: int) -> None:
    await connection.execute(sa.delete(task).where(task.c.site_id == site_id))


async def outcomes_of(connection: Connection, site_id: int) -> dict[str, Any]:
    """The last outcome of each kind of task of a site."""
    rows = await connection.execute(
        sa.select(
            task.c.kind,
            task.c.outcome,
            sa.func.least(task.c.due_at, task.c.hinted_at).label("next_at"),
        ).where(task.c.site_id == site_id)
    )
    return {row.kind: {**row.outcome, "nextDueAt": row.next_at} for row in rows}


async def sample_histories(
    connection: Connection, limit: int
) -> list[ChangeHistory[float]]:
    """Return histories of about `limit` sites, or of all where they are fewer.

    Whole pages are drawn, so that it costs the same whatever the number of sites.
    """
    percent = await percent_of(connection, limit)
    sampled = await _sample(connection, percent)
    # The count may be an old one, of more tasks than there are now.
    if percent < 100 and len(sampled) < limit // 4:
        sampled = await _sample(connection, 100.0)
    return sampled


async def percent_of(connection: Connection, sites: int) -> float:
    """The share of all tasks that holds those of about so many sites."""
    estimated = await connection.execute(
        sa.text("SELECT reltuples FROM pg_class WHERE oid = 'registry.task'::regclass")
    )
    # Of each site there is one task of each kind; -1: nobody has counted the table yet.
    kinds = len(get_args(TaskKind))
    return min(100.0, 100.0 * sites * kinds / max(1.0, float(estimated.scalar_one())))


async def _sample(connection: Connection, percent: float) -> list[ChangeHistory[float]]:
    query = sa.text("""
        SELECT visits, unchanged, mean_gap_days
        FROM registry.task TABLESAMPLE SYSTEM (:percent) WHERE kind = 'crawl'
    """)
    return [
        history_of(row) for row in await connection.execute(query, {"percent": percent})
    ]


def history_of(row: sa.Row[Any]) -> ChangeHistory[float]:
    return ChangeHistory(
        visits=row.visits, unchanged=row.unchanged, mean_gap_days=row.mean_gap_days
    )
