"""SQL of the daily trials of invariance: what each was made of, and what it found."""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from sqlalchemy import Row, delete, func, select

from registry.db.engine.engines import Connection
from registry.db.engine.insert_new import insert_new
from registry.db.engine.read_row import read_row
from registry.db.schema.report_tables import invariance_run, trial_material
from registry.reports.invariance import InvarianceResult, TrialCount, Violation

MATERIAL_STAYS = timedelta(days=31)
_COMPUTED = ("trials", "violations", "rate_at_most")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvarianceRun:
    """code: digest of the ranking code that was tried. swap_salt: see `digest_swaps`."""

    day: date
    finished_at: datetime
    code: str
    swap_salt: str = ""
    result: InvarianceResult


async def save_run(connection: Connection, run: InvarianceRun) -> bool:
    """Save a day's run; return False if it has one. Raises: ValueError without trials."""
    values = asdict(run)
    values |= values.pop("result")
    values["tallies"] += values.pop("swaps")
    values["policy"] = values.pop("policy_digest")
    values |= {name: getattr(run.result, name) for name in _COMPUTED}
    return await insert_new(connection, invariance_run, values)


async def has_run(connection: Connection, day: date) -> bool:
    query = select(func.count()).where(invariance_run.c.day == day)
    return bool((await connection.execute(query)).scalar_one())


async def save_material(connection: Connection, day: date, body: bytes) -> bool:
    """Save a day's material, drop what is old; return False if the day has one."""
    old = trial_material.c.day < day - MATERIAL_STAYS
    await connection.execute(delete(trial_material).where(old))
    return await insert_new(connection, trial_material, {"day": day, "body": body})


async def find_material(connection: Connection, day: date) -> bytes | None:
    query = select(trial_material.c.body).where(trial_material.c.day == day)
    return (await connection.execute(query)).scalar_one_or_none()


async def list_runs(
    connection: Connection, limit: int, before: date | None = None
) -> list[InvarianceRun]:
    """The newest first, of days before the given one."""
    query = select(invariance_run).order_by(invariance_run.c.day.desc()).limit(limit)
    if before is not None:
        query = query.where(invariance_run.c.day < before)
    return [_run(row) for row in await connection.execute(query)]


async def tallies_between(
    connection: Connection, start: datetime, end: datetime
) -> list[tuple[tuple[TrialCount, ...], str]]:
    """Return tallies and salt of each run that ended in [start, end), the oldest first."""
    query = (
        select(invariance_run.c.tallies, invariance_run.c.swap_salt)
        .where(
            invariance_run.c.finished_at >= start.astimezone(UTC),
            invariance_run.c.finished_at < end.astimezone(UTC),
        )
        .order_by(invariance_run.c.day)
    )
    rows = await connection.execute(query)
    return [(_tallies(stored), salt) for stored, salt in rows]


def _tallies(stored: list[dict[str, Any]]) -> tuple[TrialCount, ...]:
    return tuple(TrialCount(**tally) for tally in stored)


def _run(row: Row[Any]) -> InvarianceRun:
    counts = _tallies(row.tallies)
    result = read_row(
        InvarianceResult,
        row,
        tallies=tuple(count for count in counts if not count.is_swap),
        swaps=tuple(count for count in counts if count.is_swap),
        examples=tuple(Violation(**example) for example in row.examples),
        policy_digest=row.policy,
    )
    return read_row(InvarianceRun, row, result=result)
