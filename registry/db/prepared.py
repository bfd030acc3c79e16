"""Statements of the crawler's every visit: put together once, given to the driver itself.

SQLAlchemy takes a millisecond to put together, look up and carry out what takes the
driver a tenth of it. Such a statement runs in the transaction of its connection, as all
others do; its parameters are named by the statement's own.
"""

from types import SimpleNamespace
from typing import Any

import asyncpg
import msgspec
from sqlalchemy import Executable
from sqlalchemy.dialects.postgresql import asyncpg as driver
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.types import JSON

from registry.db.engine import Connection, driver_errors

_DIALECT = driver.dialect()  # type: ignore[no-untyped-call]

Rows = list[SimpleNamespace]


async def _pooled(connection: Connection) -> PoolProxiedConnection:
    """Only a connection that has to be made anew is worth SQLAlchemy's greenlet."""
    held = connection.sync_connection
    if held is None or held.invalidated or held.closed:
        return await connection.get_raw_connection()
    return held.connection


class Prepared:
    """Made at import; awaited with a connection and the parameters."""

    def __init__(self, statement: Executable) -> None:
        compiled: Any = statement.compile(dialect=_DIALECT)  # type: ignore[attr-defined]
        self._sql: str = compiled.string
        self._names: list[str] = compiled.positiontup or []
        bounds = compiled.binds
        self._json = {one for one in bounds if isinstance(bounds[one].type, JSON)}
        self._fixed = {
            name: bound.value for name, bound in bounds.items() if not bound.required
        }

    async def __call__(self, connection: Connection, **given: Any) -> Rows:
        """Its rows. Raises: DriverError."""
        values = {**self._fixed, **given}
        arguments = [self._spell(name, values[name]) for name in self._names]
        with driver_errors():
            found = await self._fetch(connection, arguments)
        return [SimpleNamespace(**one) for one in found]

    def _spell(self, name: str, value: Any) -> Any:
        if name in self._json and value is not None:
            return msgspec.json.encode(value).decode()
        return value

    async def _fetch(self, connection: Connection, arguments: list[Any]) -> Any:
        pooled = await _pooled(connection)
        adapted: Any = pooled.dbapi_connection
        raw: Any = pooled.driver_connection
        try:
            if adapted._transaction is None:  # noqa: SLF001 - SQLAlchemy begins as late as this
                await adapted._start_transaction()  # noqa: SLF001
            return await raw.fetch(self._sql, *arguments)
        except BaseException as error:
            if raw.is_closed() or not isinstance(error, asyncpg.PostgresError):
                await connection.invalidate()  # nobody else is to meet it
            raise
