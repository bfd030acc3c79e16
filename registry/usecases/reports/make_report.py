"""The fairness report of a window, from the audit tables."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from registry.db import labels
from registry.db.engine.engines import Connection
from registry.db.engine.snapshots import fix_snapshot
from registry.db.log.partitions import first_month_there
from registry.db.reports import invariance_runs, observations
from registry.db.sites import former_categories
from registry.errors import Refused
from registry.index.sources import digest_of_code
from registry.ranking.policy import Policy
from registry.reports.build_report import build_report
from registry.reports.former_categories import with_former_categories
from registry.reports.model import FairnessReport
from registry.reports.report_terms import Algorithm, Terms, Window
from registry.usecases.refusals import WINDOW_DROPPED, WINDOW_INVALID, WINDOW_NOT_MONTHS
from registry.usecases.reports.archived_report import side_by_side
from registry.usecases.reports.calendar_months import midnight, month_after

MAX_WINDOW = timedelta(days=400)
DEFAULT_WINDOW = timedelta(days=30)


def window_of(start: datetime | None, end: datetime | None, now: datetime) -> Window:
    """Open ends reach to now, and 30 days back. Raises: Refused."""
    for instant in (start, end):
        if instant is not None and instant.tzinfo is None:
            raise Refused(WINDOW_INVALID, "an instant needs its time zone, such as Z")
    with Refused.on(OverflowError, WINDOW_INVALID, "it leaves the calendar"):
        end_at = (end or now.replace(microsecond=0) + timedelta(seconds=1)).astimezone(
            UTC
        )
        start_at = (start or end_at - DEFAULT_WINDOW).astimezone(UTC)
    if not timedelta() < end_at - start_at <= MAX_WINDOW:
        raise Refused(WINDOW_INVALID)
    return Window(start_at=start_at, end_at=end_at)


def month_over(start: datetime | None, end: datetime | None, now: datetime) -> date:
    """Return the first day of the month that the window is; without ends the last one.

    Raises: Refused where it is no month that is over.
    """
    this_month = midnight(now.date().replace(day=1))
    window = window_of(start, end or this_month, now)
    first_day = window.start_at if start else window.end_at - timedelta(days=1)
    month = first_day.date().replace(day=1)
    is_month = window.end_at <= this_month and window.end_at == midnight(
        month_after(month)
    )
    if not is_month or (start and window.start_at != midnight(month)):
        raise Refused(WINDOW_NOT_MONTHS)
    return month


async def verify_is_there(connection: Connection, window: Window) -> None:
    """Verify that no month of the window was dropped. Raises: Refused."""
    month = await first_month_there(connection)
    if month and window.start_at < datetime(month.year, month.month, 1, tzinfo=UTC):
        raise Refused(WINDOW_DROPPED, f"rankings are there from {month} on")


async def make_report(
    connection: Connection,
    window: Window,
    policy: Policy,
    *,
    operator: str = "",
    category: str = "",
) -> FairnessReport:
    """Return the report of a window.

    connection: of the auditor, who may read labels.

    operator, category: see `Terms`.
    What was read before in its transaction may be older than the rest.
    Raises: Refused if some of the window was dropped.
    """
    if not connection.in_transaction():
        await fix_snapshot(connection)  # else sites may come between two reads
    await verify_is_there(connection, window)
    start, end = window.start_at, window.end_at
    observed = await observations.observe(connection, start, end, operator)
    trials = await invariance_runs.tallies_between(connection, start, end)
    claims = await labels.claims_at(connection, end)
    claims = await labels.sites_by_position(connection, end, claims)
    former = await former_categories.categories_then(connection, end)
    former = await labels.sites_by_position(connection, end, former)
    await connection.rollback()  # it is only read, and its moment holds up the sweeping
    sites = with_former_categories(observed.sites, former)
    with side_by_side() as run_jobs:
        return await asyncio.to_thread(  # it may take seconds, and searches must go on
            build_report,
            replace(observed, sites=sites),
            Algorithm(policy_digest=policy.digest, code_digest=digest_of_code()),
            Terms(window=window, operator=operator, category=category),
            policy,
            [run for run, _ in trials],
            claims=claims,
            run_jobs=run_jobs,
        )
