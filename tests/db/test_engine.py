"""Whatever the driver raises arrives as an error that those who wait for it know."""

from typing import Any

import asyncpg
import pytest
from sqlalchemy import text
from sqlalchemy.engine import URL
from sqlalchemy.exc import InterfaceError

from registry.db.engine.engines import (
    ROLES_LOG_IN,
    DatabaseError,
    DriverError,
    Engine,
    Role,
    is_away,
    open_engine,
)
from registry.errors import root_cause


async def test_server_that_turns_a_connection_away_raises_a_database_error(
    database: URL,
) -> None:
    """As one does that is starting; SQLAlchemy passes the driver's own error on."""
    engine = open_engine(database.set(database="no_such_database"), Role.API)
    with pytest.raises(DatabaseError, match="InvalidCatalogName") as caught:
        async with engine.connect():
            pass
    assert isinstance(caught.value, DriverError)
    assert is_away(caught.value)
    assert root_cause(caught.value) == "InvalidCatalogNameError"
    await engine.dispose()


async def test_what_is_logged_of_a_refused_statement_names_its_cause(
    database: URL,
) -> None:
    """Both where SQLAlchemy stands between and where it does not."""
    engine = open_engine(database)
    async with engine.connect() as connection:
        with pytest.raises(DatabaseError) as caught:
            await connection.execute(text("SELECT 1/0"))
        assert root_cause(caught.value) == "DivisionByZeroError"
    await engine.dispose()


async def test_sslmode_of_a_url_reaches_the_driver(database: URL) -> None:
    """As managed databases give it; the embedded one has no TLS."""
    plain = database.update_query_dict({"sslmode": "disable"})
    engine = open_engine(plain, Role.API)
    async with engine.connect() as connection:
        assert await connection.scalar(text("SELECT 1")) == 1
    await engine.dispose()

    engine = open_engine("postgresql://u@db.example/registry?sslmode=verify-full")
    assert dict(engine.url.query) == {"ssl": "verify-full"}


async def test_server_that_is_not_there_raises_an_os_error() -> None:
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(OSError, match="1"):
        async with engine.connect():
            pass
    await engine.dispose()


async def test_statement_that_starts_while_the_server_hangs_up_is_a_database_error(
    database: URL,
) -> None:
    """The driver calls it a fault of its own, under a name that SQLAlchemy lacks."""
    engine = open_engine(database, Role.API)
    async with engine.connect() as connection:
        adapted = (await connection.get_raw_connection()).dbapi_connection
        assert adapted
        with pytest.raises(engine.dialect.loaded_dbapi.InterfaceError):
            adapted._handle_exception(asyncpg.InternalClientError("cannot switch"))
    assert issubclass(InterfaceError, DatabaseError)
    await engine.dispose()


async def test_connection_that_ends_while_it_is_set_up_is_a_database_error(
    database: URL,
) -> None:
    """Else whoever connects again after one would end."""
    engine = open_engine(database, Role.API)
    dialect: Any = engine.dialect
    async with engine.connect() as connection:
        adapted: Any = (await connection.get_raw_connection()).dbapi_connection
        adapted.driver_connection.terminate()
        for step in (
            dialect.setup_asyncpg_json_codec,
            dialect.setup_asyncpg_jsonb_codec,
        ):
            with pytest.raises(DatabaseError, match="connection is closed"):
                await step(adapted)
        await connection.invalidate()
    await engine.dispose()


async def test_login_of_a_socket_address_takes_the_role(database: URL) -> None:
    """As over TCP: only the embedded server lets each role log in itself."""
    plain = database.difference_update_query(ROLES_LOG_IN)
    assert "host" in plain.query, "a Unix socket"
    for url, login in ((plain, plain.username), (database, Role.API.value)):
        engine = open_engine(url, Role.API)
        async with engine.connect() as connection:
            users = await connection.execute(text("SELECT session_user, current_user"))
            assert tuple(users.one()) == (login, Role.API.value)
        await engine.dispose()


async def test_embedded_server_has_room_for_its_log_from_the_start(
    owner: Engine,
) -> None:
    async with owner.connect() as connection:
        assert await connection.scalar(text("SHOW max_wal_size")) == "4GB"


@pytest.mark.parametrize(
    ("sqlstate", "is_exhausted"), [("53100", True), ("58030", True), ("23505", False)]
)
async def test_full_disk_is_a_database_that_is_not_at_work(
    owner: Engine, sqlstate: str, *, is_exhausted: bool
) -> None:
    """So that every way answers 503 with Retry-After, selections too."""
    statement = f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{sqlstate}'; END $$"
    with pytest.raises(DatabaseError) as caught:
        async with owner.connect() as connection:
            await connection.execute(text(statement))
    assert is_away(caught.value) is is_exhausted
