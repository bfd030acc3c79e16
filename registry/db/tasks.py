"""SQL of the frontier: what is due at which site, leased to crawlers.

A lease carries a fence, a number that grows with each lease of the task; completion is
written only under the fence of the lease, so a crawler that lost it changes nothing.
Where the crawler dies, the task is ready for another when the lease is over.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, get_args

from sqlalchemy import (
    BigInteger,
    DateTime,
    Row,
    bindparam,
    case,
    delete,
    func,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert

from registry.db.engine import Connection
from registry.db.prepared import Prepared
from registry.db.tables import task
from registry.sites.change_history import ChangeHistory

TaskKind = Literal["crawl", "probe", "prove"]
_INSTANT = DateTime(timezone=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A leased task.

    due_at: when it is to be done by the schedule; None: as soon as possible. is_first:
    it was never completed. failures: in a row, since the last success. history: of
    crawls; learnt_at: of the last crawl that went into it. hinted_at: since when the
    site's owner wants a crawl, which may be before it is due. standing: what is wrong
    with the site as far as the owner has been told (`registry.usecases.notices`).
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

    def is_early(self, now: datetime) -> bool:
        """Whether it is done for the sake of a hint, and not because it is due."""
        return self.due_at is not None and self.due_at > now


READY_AT = "coalesce(greatest(least(due_at, hinted_at), leased_until), '-infinity')"
"""Since when a task is ready and with nobody; the expression of the index `task_ready`."""

# A row that another claims at this moment is skipped: whoever waited for it would not
# get it.
LEASE = text(f"""
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
    """Those longest ready, at most `limit`, to nobody else before `lease` is over."""
    rows = await connection.execute(
        LEASE, {"now": now, "until": now + lease, "limit": limit}
    )
    return [task_of(row) for row in rows]


def task_of(row: Row[Any]) -> Task:
    """row: of a leased task, with its host and whether it is the first time."""
    return Task(
        site_id=row.site_id,
        kind=row.kind,
        host=row.host,
        due_at=row.due_at,
        is_first=row.is_first,
        failures=row.failures,
        fence=row.fence,
        history=history_of(row),
        learnt_at=row.learnt_at,
        hinted_at=row.hinted_at,
        standing=row.standing,
    )


async def schedule(
    connection: Connection, site_id: int, kind: TaskKind, due_at: datetime
) -> None:
    """Make the task due at the instant, whoever may hold a lease of it.

    The history goes on from what is fetched now: a registration is no visit.
    """
    # A task that was forgotten must not start again below a fence that is still held.
    unix_ms = (func.extract("epoch", func.clock_timestamp()) * 1000).cast(BigInteger)
    statement = insert(task).values(
        site_id=site_id, kind=kind, due_at=due_at, fence=unix_ms
    )
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


async def hint_crawl(
    connection: Connection, site_id: int, now: datetime
) -> datetime | None:
    """Bring the site's crawl forward; when it is due then, None if it has none.

    Not before the instant that the site's own server asked for. Neither the schedule
    nor the count of failures changes. During a crawl it counts for the next one.
    """
    hinted_at = func.greatest(literal(now, _INSTANT), task.c.not_before)
    result = await connection.execute(
        update(task)
        .where(task.c.site_id == site_id, task.c.kind == "crawl")
        .values(hinted_at=hinted_at)
        .returning(func.least(task.c.due_at, task.c.hinted_at))
    )
    due_at: datetime | None = result.scalar_one_or_none()
    return due_at


async def complete(
    connection: Connection,
    one: Task,
    *,
    due_at: datetime,
    failures: int,
    outcome: dict[str, Any],
    history: ChangeHistory[float] | None = None,
    learnt_at: datetime | None = None,
    not_before: datetime | None = None,
    standing: Mapping[str, Any] | None = None,
) -> bool:
    """Write the outcome and the next due time; False if the lease was lost.

    history, learnt_at, standing: as in Task; None leaves what is stored. not_before: no
    hint brings the next one before it. A hint that came after the lease still stands.
    """
    learnt = dict.fromkeys(_LEARNT) if history is None else asdict(history)
    written = await _COMPLETE(
        connection,
        of_site=one.site_id,
        of_kind=one.kind,
        of_fence=one.fence,
        known_hint=one.hinted_at,
        due_at=due_at,
        failures=failures,
        outcome=outcome,
        not_before=not_before,
        learnt_at=learnt_at,
        standing=standing,
        **learnt,
    )
    return bool(written)


_LEARNT = ("visits", "unchanged", "mean_gap_days")


def _given_or_stored(name: str) -> Any:
    column = task.c[name]
    return func.coalesce(bindparam(name, type_=column.type), column)


_COMPLETE = Prepared(
    update(task)
    .where(
        task.c.site_id == bindparam("of_site"),
        task.c.kind == bindparam("of_kind"),
        task.c.fence == bindparam("of_fence"),
    )
    .values(
        {
            "due_at": bindparam("due_at"),
            "leased_until": None,
            "failures": bindparam("failures"),
            "outcome": bindparam("outcome"),
            "hinted_at": case(
                (
                    task.c.hinted_at.is_not_distinct_from(
                        bindparam("known_hint", type_=_INSTANT)
                    ),
                    None,
                ),
                else_=func.greatest(
                    task.c.hinted_at, bindparam("not_before", type_=_INSTANT)
                ),
            ),
            "not_before": bindparam("not_before", type_=_INSTANT),
            **{
                name: _given_or_stored(name)
                for name in ("learnt_at", "standing", *_LEARNT)
            },
        }
    )
    .returning(task.c.site_id)
)


async def forget_tasks(connection: Connection, site_id: int) -> None:
    await connection.execute(delete(task).where(task.c.site_id == site_id))


async def outcomes_of(connection: Connection, site_id: int) -> dict[str, Any]:
    """The last outcome of each kind of task of a site."""
    rows = await connection.execute(
        select(
            task.c.kind,
            task.c.outcome,
            func.least(task.c.due_at, task.c.hinted_at).label("next_at"),
        ).where(task.c.site_id == site_id)
    )
    return {row.kind: {**row.outcome, "nextDueAt": row.next_at} for row in rows}


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
    percent = await percent_of(connection, limit)
    sampled = await _sample(connection, percent)
    # The count may be an old one, of more tasks than there are now.
    if percent < 100 and len(sampled) < limit // 4:
        sampled = await _sample(connection, 100.0)
    return sampled


async def percent_of(connection: Connection, sites: int) -> float:
    """The share of all tasks that holds those of about so many sites."""
    estimated = await connection.execute(
        text("SELECT reltuples FROM pg_class WHERE oid = 'registry.task'::regclass")
    )
    # Of each site there is one task of each kind; -1: nobody has counted the table yet.
    kinds = len(get_args(TaskKind))
    return min(100.0, 100.0 * sites * kinds / max(1.0, float(estimated.scalar_one())))


async def _sample(connection: Connection, percent: float) -> list[ChangeHistory[float]]:
    query = text("""
        SELECT visits, unchanged, mean_gap_days
        FROM registry.task TABLESAMPLE SYSTEM (:percent) WHERE kind = 'crawl'
    """)
    return [
        history_of(row) for row in await connection.execute(query, {"percent": percent})
    ]


def history_of(row: Row[Any]) -> ChangeHistory[float]:
    return ChangeHistory(
        visits=row.visits, unchanged=row.unchanged, mean_gap_days=row.mean_gap_days
    )
