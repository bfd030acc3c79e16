"""Engines: one a role, so that the database itself keeps each part to its rights."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from enum import StrEnum
from functools import lru_cache
from typing import Any

import asyncpg
import msgspec
from sqlalchemy import text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, EmulatedDBAPIException, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

Connection = AsyncConnection
Engine = AsyncEngine
DatabaseError = SQLAlchemyError
"""Errors of statements and connections, for those who do not know SQLAlchemy."""

CONNECT_TIMEOUT_S = 5.0
STATEMENT_TIMEOUT_MS: Mapping[str, int] = {
    "registry_api": 5_000,
    "registry_ranker": 60_000,
    "registry_crawler": 15_000,
    "registry_publisher": 15_000,
    "registry_moderator": 15_000,
    "registry_eraser": 15_000,
    "registry_cosigner": 15_000,
    "registry_labeller": 15_000,
    "registry_reporter": 15_000,
    "registry_auditor": 300_000,
}


class DriverError(DatabaseError):
    """Errors of the driver where SQLAlchemy does not stand between."""


# The third is what a statement meets that starts while the server hangs up; SQLAlchemy
# does not know it (`open_engine`). The last is what its dialect makes of the others.
_DRIVER_ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    EmulatedDBAPIException,
)


@contextmanager
def driver_errors() -> Iterator[None]:
    """Raises: DriverError for whatever the driver raises."""
    try:
        yield
    except _DRIVER_ERRORS as error:
        raise DriverError(f"{type(error).__name__}: {error}") from error


class Role(StrEnum):
    """A database role; migrations grant each what it needs and no more."""

    API = "registry_api"
    RANKER = "registry_ranker"
    CRAWLER = "registry_crawler"
    PUBLISHER = "registry_publisher"
    MODERATOR = "registry_moderator"
    ERASER = "registry_eraser"
    COSIGNER = "registry_cosigner"
    LABELLER = "registry_labeller"
    REPORTER = "registry_reporter"
    AUDITOR = "registry_auditor"


_EXHAUSTED = ("53", "58")
"""Classes of SQLSTATE: insufficient resources, and errors of the operating system."""

ROLES_LOG_IN = {"logins": "roles"}
"""Query of a URL: its server lets each role in without a password."""


def open_engine(url: URL | str, role: Role | None = None, *, pool: int = 5) -> Engine:
    """An engine that acts as `role`; without one, as the owner of the URL.

    Where ROLES_LOG_IN stands in the URL, each role logs in itself, as on the embedded
    server. Else the login of the URL is used and the role taken at connection, unless
    the URL is the role's own.
    """
    given = _parse_url(url)
    address = given.difference_update_query(ROLES_LOG_IN)
    server_settings = {"application_name": "fair-registry"}
    if role is not None:
        server_settings["statement_timeout"] = str(STATEMENT_TIMEOUT_MS[role])
        if address != given:
            address = address.set(username=role.value)
        elif address.username != role.value:
            server_settings["role"] = role.value
    engine = create_async_engine(
        address,
        pool_size=pool,
        max_overflow=0,
        # A crawler's job that meets a dead connection is done again, as the index's look is.
        pool_pre_ping=role not in (Role.CRAWLER, Role.RANKER),
        hide_parameters=True,  # they hold queries of users, and secrets
        connect_args={
            "server_settings": server_settings,
            "timeout": CONNECT_TIMEOUT_S,
            "async_creator_fn": _connect,
        },
        json_serializer=lambda value: msgspec.json.encode(value).decode(),
        json_deserializer=msgspec.json.decode,
    )
    dbapi: Any = engine.dialect.dbapi
    translated = dbapi._asyncpg_error_translate  # noqa: SLF001 — there is no other way in
    translated[asyncpg.InternalClientError] = dbapi.InterfaceError
    for step in ("setup_asyncpg_json_codec", "setup_asyncpg_jsonb_codec"):
        setattr(engine.dialect, step, _set_up(getattr(engine.dialect, step)))
    return engine


def _parse_url(url: URL | str) -> URL:
    """Read libpq's `sslmode` as well, which the driver calls `ssl`."""
    parsed = make_url(url).set(drivername="postgresql+asyncpg")
    mode = parsed.query.get("sslmode")
    plain = parsed.difference_update_query(["sslmode"])
    return plain.update_query_dict({"ssl": mode}) if mode else plain


@asynccontextmanager
async def engine_at(
    url: URL | str, role: Role | None = None, *, pool: int = 5
) -> AsyncIterator[Engine]:
    """Open an engine as `open_engine` does, and close its connections in the end."""
    engine = open_engine(url, role, pool=pool)
    try:
        yield engine
    finally:
        await engine.dispose()


def _set_up(step: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """Wrap a step of a new connection: the server may hang up between two of them."""

    async def set_up(connection: Any) -> None:
        with driver_errors():
            await step(connection)

    return set_up


@lru_cache(maxsize=4)  # a process has one or two, and each visit asks
def reading(engine: Engine) -> Engine:
    """The same connections, for statements that stand alone.

    None is begun or rolled back, which saves two of three round trips.
    """
    return engine.execution_options(isolation_level="AUTOCOMMIT")


async def _connect(*arguments: Any, **options: Any) -> Any:
    """Connect, with errors translated, say of recovery: SQLAlchemy passes them on."""
    with driver_errors():
        return await asyncpg.connect(*arguments, **options)


def cause_of(error: Exception) -> str:
    """Return in one line what the database refused, without the statement."""
    cause = getattr(error, "orig", None) or error
    first = str(cause).partition("\n")[0]
    return first.partition(">: ")[2] or first


def is_denied(error: Exception) -> bool:
    """Return whether the login lacks a right."""
    return getattr(getattr(error, "orig", None), "sqlstate", "") == "42501"


async def denied_roles(owner: Engine) -> list[Role]:
    """Return the roles that the login may not take."""
    denied = []
    async with reading(owner).connect() as connection:
        for role in Role:
            try:
                await connection.execute(text(f"SET ROLE {role}"))
            except DBAPIError:
                denied.append(role)
        await connection.invalidate()
    return denied


def is_away(error: DatabaseError) -> bool:
    """Return whether the database is not at work, as against answering with a fault.

    A full disk, memory or connection table counts as not at work.
    """
    if not isinstance(error, DBAPIError) or error.connection_invalidated:
        return True
    return str(getattr(error.orig, "sqlstate", "")).startswith(_EXHAUSTED)
