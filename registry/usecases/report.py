"""The fairness report of a window, from the audit tables."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from registry.db import former_categories, invariance_runs, labels, observations
from registry.db.engine import Connection
from registry.db.one_moment import read_one_moment
from registry.errors import Refused
from registry.fairness.report.build import build_report
from registry.fairness.report.figures import Algorithm, FairnessReport, Terms, Window
from registry.fairness.report.former_categories import with_former_categories
from registry.index.sources import digest_of_code
from registry.ranking.policy import Policy
from registry.usecases.refusals import WINDOW_INVALID

MAX_WINDOW = timedelta(days=400)
DEFAULT_WINDOW = timedelta(days=30)


def window_of(start: datetime | None, end: datetime | None, now: datetime) -> Window:
    """Open ends reach to now, and 30 days back. Raises: Refused."""
    for instant in (start, end):
        if instant is not None and instant.tzinfo is None:
            raise Refused(WINDOW_INVALID, "an instant needs its time zone, such as Z")
    try:
        end_at = (end or now + timedelta(seconds=1)).astimezone(UTC)
        start_at = (start or end_at - DEFAULT_WINDOW).astimezone(UTC)
    except OverflowError as error:
        raise Refused(WINDOW_INVALID, "it leaves the calendar") from error
    if not timedelta() < end_at - start_at <= MAX_WINDOW:
        raise Refused(WINDOW_INVALID)
    return Window(start_at=start_at, end_at=end_at)


async def make_report(
    connection: Connection,
    window: Window,
    policy: Policy,
    *,
    operator: str = "",
    category: str = "",
) -> FairnessReport:
    """connection: of the auditor, who may read labels; a second is read over beside it.

    operator, category: see `Terms`.
    What was read before in its transaction may be older than the rest.
    """
    if not connection.in_transaction():
        await read_one_moment(connection)  # else sites may come between two reads
    start, end = window.start_at, window.end_at
    observed = await observations.observe(connection, start, end, operator)
    trials = await invariance_runs.tallies_between(connection, start, end)
    claims = await labels.claims_at(connection, end)
    claims = await labels.place_sites(connection, end, claims)
    former = await former_categories.categories_then(connection, end)
    former = await labels.place_sites(connection, end, former)
    await connection.rollback()  # it is only read, and its moment holds up the sweeping
    sites = with_former_categories(observed.sites, former)
    return await asyncio.to_thread(  # it may take seconds, and searches must go on
        build_report,
        replace(observed, sites=sites),
        Algorithm(policy_digest=policy.digest, code_digest=digest_of_code()),
        Terms(window=window, operator=operator, category=category),
        policy,
        trials,
        claims=claims,
    )
