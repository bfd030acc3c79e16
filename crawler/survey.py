"""Measurements now and then: what waits, how fresh the copies are, the circuits."""

import asyncio
from datetime import datetime, timedelta

import numpy as np

from crawler import metrics
from crawler.context import Context
from crawler.restraint.politeness import Politeness
from registry.db.engine.engines import Engine
from registry.db.frontier import due_work as frontier
from registry.sites.change_history import ChangeHistory
from registry.usecases.background import outlasting

PAUSE_S = 15.0
SAMPLED = 1_000
_FRESHNESS_EVERY = 4
_KINDS = ("crawl", "probe", "prove")
_DAY = timedelta(days=1)


async def survey(context: Context, *, pause_s: float = PAUSE_S) -> None:
    """Run until cancelled."""
    number = 0
    while True:
        note_circuits(context.fetcher.config.politeness)
        with outlasting("survey_failed"):
            await note_waiting(context.engine, context.clock())
            if number % _FRESHNESS_EVERY == 0:
                await note_freshness(context.engine, context.clock())
        number += 1
        await asyncio.sleep(pause_s)


def note_circuits(politeness: Politeness) -> None:
    """Set the gauges of circuits on the event loop, which alone may read what its tasks change."""
    figures = politeness.snapshot()
    metrics.REQUESTS.set(figures["under_way"])
    for level in politeness.config.rules:
        for state in ("closed", "open", "half_open"):
            metrics.CIRCUITS.labels(level, state).set(
                figures.get(f"{level}_{state}", 0)
            )


async def note_waiting(engine: Engine, now: datetime) -> None:
    async with engine.connect() as connection:
        waiting = await frontier.count_waiting(connection, now)
    for kind in _KINDS:
        metrics.DUE.labels(kind).set(waiting[kind].tasks if kind in waiting else 0)
    since = [queue.since for queue in waiting.values() if queue.since]
    metrics.LAG.set((now - min(since)).total_seconds() if since else 0.0)


async def note_freshness(engine: Engine, now: datetime) -> None:
    async with engine.connect() as connection:
        sampled = await frontier.sample_ages(connection, SAMPLED)
    if sampled:
        metrics.FRESHNESS.set(
            estimate_freshness(
                [(history, (now - at) / _DAY) for history, at in sampled]
            )
        )


def estimate_freshness(copies: list[tuple[ChangeHistory[float], float]]) -> float:
    """The mean probability that a copy is still what its site says: e^(-λt).

    copies: the site's history and the copy's age t in days, at least one. λ: its
    changes a day. Changes are taken to come as in a Poisson process, as `allocation`
    takes them; the result is the share expected of them all.
    """
    visits, unchanged, gaps, ages = np.array(
        [
            (site.visits, site.unchanged, site.mean_gap_days, max(age, 0.0))
            for site, age in copies
        ]
    ).T
    rates = ChangeHistory(
        visits=visits, unchanged=unchanged, mean_gap_days=gaps
    ).changes_per_day
    return float(np.exp(-rates * ages).mean())
