"""Statements of every visit and answer: put together once, given to the driver itself.

SQLAlchemy takes a millisecond to put together, look up and carry out what takes the
driver a tenth of it. Such a statement runs in the transaction of its connection, as all
others do; its parameters are named by the statement's own.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import asyncpg
import msgspec
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql import asyncpg as driver
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.types import JSON

from registry.db.engine.engines import Connection, driver_errors

_DIALECT = driver.dialect()  # type: ignore[no-untyped-call]

_PARAMETER = re.compile(r"\$([0-9]+)")

Rows = list[SimpleNamespace]


class Prepared:
    """A statement compiled at import; awaited with a connection and parameters."""

    def __init__(self, statement: Executable) -> None:
        compiled: Any = statement.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
        self.sql: str = compiled.string
        self._names: list[str] = compiled.positiontup or []
        bounds = compiled.binds
        self._json = {name for name in bounds if isinstance(bounds[name].type, JSON)}
        self._fixed = {
            name: bound.value for name, bound in bounds.items() if not bound.required
        }

    async def __call__(self, connection: "Connection | Gathered", **given: Any) -> Rows:
        """Return the rows; none if the statement is gathered. Raises: DriverError."""
        if isinstance(connection, Gathered):
            connection.add(self, given)
            return []
        rows = await _fetch(connection, self.sql, self.arguments(given))
        return [SimpleNamespace(**row) for row in rows]

    def arguments(self, given: dict[str, Any]) -> list[Any]:
        """Return the arguments in the order of the SQL, JSON encoded."""
        values = {**self._fixed, **given}
        for name in self._json:
            if values[name] is not None:
                values[name] = msgspec.json.encode(values[name]).decode()
        return [values[name] for name in self._names]


class Gathered:
    """Writes that are carried out together, in as few round trips as they need.

    Those of one statement are one, with the statements in the order in which each came
    first; a single row of each is one round trip in all. So none may count on seeing
    what another writes, nor on not seeing it, and no two may be of the same row.
    """

    def __init__(self) -> None:
        self._given: dict[Prepared, list[dict[str, Any]]] = {}

    def add(self, statement: Prepared, given: dict[str, Any]) -> None:
        self._given.setdefault(statement, []).append(given)

    async def carry_out(self, connection: Connection) -> None:
        """Raises: DriverError."""
        rows = {
            statement: list(map(statement.arguments, all_))
            for statement, all_ in self._given.items()
        }
        self._given = {}
        if all(len(several) == 1 for several in rows.values()):
            if rows:
                sql = _joined(tuple(statement.sql for statement in rows))
                given = [value for [first] in rows.values() for value in first]
                await _fetch(connection, sql, given)
            return
        for statement, several in rows.items():
            async with _raw(connection) as raw:
                await raw.executemany(statement.sql, several)


@lru_cache(maxsize=64)
def _joined(several: tuple[str, ...]) -> str:
    """Join statements into one, whose parameters are theirs one after the other."""
    parts, before = [], 0
    for number, sql in enumerate(several):
        parts.append(f"part_{number} AS ({_moved(sql, before)})")
        before += max(map(int, _PARAMETER.findall(sql)), default=0)
    return f"WITH {', '.join(parts)} SELECT 1"


def _moved(sql: str, by: int) -> str:
    return _PARAMETER.sub(lambda parameter: f"${int(parameter[1]) + by}", sql)


async def _fetch(connection: Connection, sql: str, arguments: Sequence[Any]) -> Any:
    """Raises: DriverError."""
    async with _raw(connection) as raw:
        return await raw.fetch(sql, *arguments)


@asynccontextmanager
async def _raw(connection: Connection) -> AsyncIterator[Any]:
    """The driver's own, in the transaction. Raises: DriverError."""
    pooled = await _pooled(connection)
    adapted: Any = pooled.dbapi_connection
    raw: Any = pooled.driver_connection
    try:
        with driver_errors():
            if adapted._transaction is None:  # noqa: SLF001 - SQLAlchemy begins as late as this
                await adapted._start_transaction()  # noqa: SLF001
            yield raw
    except BaseException as error:
        if raw.is_closed() or not isinstance(error.__cause__, asyncpg.PostgresError):
            await connection.invalidate()  # it must not go back to the pool
        raise


async def _pooled(connection: Connection) -> PoolProxiedConnection:
    """Return the pooled connection; only a new one takes SQLAlchemy's greenlet."""
    held = connection.sync_connection
    if held is None or held.invalidated or held.closed:
        return await connection.get_raw_connection()
    return held.connection
