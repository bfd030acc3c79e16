"""Leases a second of the frontier in PostgreSQL, none of them given twice.

The server is an embedded one; each claimant is a process of its own.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.synchronize import Barrier
from typing import Any

from registry.bench.scratch import database_url, scratch_folder, scratch_postgres
from registry.bench.synthetic import tables
from registry.db.engine.engines import Engine, Role, engine_at
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.db.schema.migrate import migrate
from registry.usecases.ids import utc_now

LEASE = timedelta(minutes=10)  # longer than the measurement
PATIENCE_S = 600.0
COMPLETED = 2_500  # by each claimant
CONNECTIONS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """Leases of one claimant. Times are of the clock that all processes share, in seconds."""

    keys: list[tuple[int, str]]
    claims: int
    claimed_s: tuple[float, float]
    completed_s: tuple[float, float]
    completed: int


def measure(*, claims: int, claimants: int, batch: int) -> dict[str, Any]:
    """Lease `claims` tasks, `batch` at a time by each claimant."""
    with scratch_folder() as folder, scratch_postgres(folder) as server:
        asyncio.run(_prepare(database_url(server), claims // 2))
        shares = _compete(database_url(server), claimants, batch)
    keys = [key for share in shares for key in share.keys]
    claiming = _span_s([share.claimed_s for share in shares])
    completing = _span_s([share.completed_s for share in shares])
    completed = sum(share.completed for share in shares)
    return {
        "leases_per_s": round(len(keys) / claiming),
        "duplicates": len(keys) - len(set(keys)),
        "completions_per_s": round(completed / completing),
        "leases": len(keys),
        "completions": completed,
        "claims": sum(share.claims for share in shares),
        "claimants": claimants,
        "batch": batch,
    }


async def _prepare(url: str, sites: int) -> None:
    async with engine_at(url) as engine:
        await migrate(engine)
        async with engine.begin() as connection:
            await tables.insert_sites_with_tasks(connection, sites=sites, now=utc_now())


def _compete(url: str, claimants: int, batch: int) -> list[Share]:
    spawning = multiprocessing.get_context("spawn")
    shares = spawning.Queue()
    start = spawning.Barrier(claimants)
    processes = [
        spawning.Process(
            target=_claimant, args=(url, batch, start, shares), daemon=True
        )
        for _ in range(claimants)
    ]
    for process in processes:
        process.start()
    results = [shares.get(timeout=PATIENCE_S) for _ in processes]
    for process in processes:
        process.join()
    return results


def _claimant(url: str, batch: int, start: Barrier, shares: Any) -> None:
    shares.put(asyncio.run(_take_share(url, batch, start)))


async def _take_share(url: str, batch: int, start: Barrier) -> Share:
    async with engine_at(url, Role.CRAWLER, pool=CONNECTIONS) as engine:
        async with engine.connect():  # connecting is no part of the figure
            start.wait()
        taken, claims, claimed_s = await _claim_all(engine, batch)
        keys: list[tuple[int, str]] = [(task.site_id, task.kind) for task in taken]
        del taken[COMPLETED:]  # else the collector goes through all of them again
        start.wait()
        completed_s = await _complete_each(engine, taken)
    return Share(
        keys=keys,
        claims=claims,
        claimed_s=claimed_s,
        completed_s=completed_s,
        completed=len(taken),
    )


async def _claim_all(
    engine: Engine, batch: int
) -> tuple[list[Task], int, tuple[float, float]]:
    """Claim until nothing is left; return the tasks, the count of claims, and the times."""
    began_s, claims, taken = time.perf_counter(), 0, list[Task]()
    while True:
        async with engine.begin() as connection:
            leased = await tasks.lease_tasks(
                connection, now=utc_now(), lease=LEASE, limit=batch
            )
        claims += 1
        if not leased:
            return taken, claims, (began_s, time.perf_counter())
        taken += leased


async def _complete_each(engine: Engine, taken: Sequence[Task]) -> tuple[float, float]:
    """Complete each in a transaction of its own, as the crawler does; several at a time."""
    began_s = time.perf_counter()
    waiting = iter(taken)

    async def work_off() -> None:
        for task in waiting:
            async with engine.begin() as connection:
                await tasks.complete(
                    connection,
                    task,
                    due_at=utc_now() + timedelta(days=1),
                    failures=0,
                    outcome={"result": "unchanged"},
                    history=task.history.after(1.0, 1.0),
                )

    await asyncio.gather(*(work_off() for _ in range(CONNECTIONS)))
    return began_s, time.perf_counter()


def _span_s(times: Sequence[tuple[float, float]]) -> float:
    return max(ended for _, ended in times) - min(began for began, _ in times)
