"""Old checkpoints are thinned out: what was cosigned, and what dates a policy, stays."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.engines import Engine, Role
from registry.db.log.old_checkpoints import thin_checkpoints
from tests.db.filled_log import FilledLog, empty_log

HOUR = datetime(2026, 9, 1, 10, tzinfo=UTC)
OLD = {size: HOUR + timedelta(minutes=7 * size) for size in range(1, 20)}
COSIGNED = (4, 5, 12)


@pytest.fixture
async def log(owner: Engine) -> FilledLog:
    """Checkpoints of three hours in September, three of which were cosigned."""
    log = await empty_log(owner)
    async with owner.begin() as connection:
        await connection.execute(
            text("INSERT INTO audit.checkpoint VALUES (:size, '', '', :at)"),
            [{"size": size, "at": at} for size, at in OLD.items()],
        )
        await connection.execute(
            text("INSERT INTO audit.cosignature VALUES (:size, 'w', '', :at)"),
            [{"size": size, "at": OLD[size]} for size in COSIGNED],
        )
    return log


async def sizes(owner: Engine, table: str) -> list[int]:
    async with owner.connect() as connection:
        query = text(f"SELECT size FROM audit.{table} ORDER BY size")
        return list((await connection.execute(query)).scalars())


async def thin(engines: dict[Role, Engine], before: datetime) -> int:
    async with engines[Role.PUBLISHER].begin() as connection:
        return await thin_checkpoints(connection, before)


async def test_the_last_of_each_hour_and_the_last_cosigned_stay(
    owner: Engine, engines: dict[Role, Engine], log: FilledLog
) -> None:
    before = HOUR + timedelta(hours=2)
    assert await thin(engines, before) == 17 - 4
    assert await sizes(owner, "checkpoint") == [5, 8, 12, 17, 18, 19]
    assert await sizes(owner, "cosignature") == [5, 12]
    assert await thin(engines, before) == 0


async def test_what_dates_a_policy_stays(
    owner: Engine, engines: dict[Role, Engine], log: FilledLog
) -> None:
    async with owner.begin() as connection:
        entry = "INSERT INTO audit.entry VALUES (2, :id, 'policy', '', '', :at)"
        policy = (
            "INSERT INTO audit.policy (digest, code, body, record_id, effective_at) "
            "VALUES ('sha256:p', 'c', '', :id, :at)"
        )
        for statement in (entry, policy):
            record_id = "00000000-0000-0000-0000-0000000000aa"
            values = {"id": record_id, "at": HOUR}
            typed = statement.replace(":id", "CAST(:id AS uuid)")
            await connection.execute(text(typed), values)
        await thin_checkpoints(connection, HOUR + timedelta(hours=9))
        query = text("SELECT min(size) FROM audit.checkpoint")
        assert (await connection.execute(query)).scalar_one() == 3
        await connection.rollback()


@pytest.mark.parametrize("table", ["checkpoint", "cosignature"])
async def test_none_of_the_last_week_is_dropped_by_anybody(
    owner: Engine, engines: dict[Role, Engine], log: FilledLog, table: str
) -> None:
    async with owner.begin() as connection:
        values = {"checkpoint": "99, '', ''", "cosignature": "99, 'w', ''"}[table]
        await connection.execute(
            text(f"INSERT INTO audit.{table} VALUES ({values}, now())")
        )
    for engine in (owner, engines[Role.PUBLISHER]):
        with pytest.raises(DBAPIError, match="append-only for a week"):
            async with engine.begin() as connection:
                await connection.execute(text(f"DELETE FROM audit.{table}"))
    for role in (Role.API, Role.ERASER, Role.COSIGNER, Role.AUDITOR):
        with pytest.raises(DBAPIError, match="permission denied"):
            async with engines[role].begin() as connection:
                await connection.execute(text(f"DELETE FROM audit.{table}"))
