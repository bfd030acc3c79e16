"""The database that a command works on, and how its failures are reported."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import click

from registry.db.engine.embedded import EmbeddedPostgres, start_embedded
from registry.db.engine.engines import (
    Connection,
    DatabaseError,
    Role,
    cause_of,
    denied_roles,
    engine_at,
    is_denied,
)
from registry.db.schema.migrate import migrate
from registry.errors import RegistryError
from registry.settings import Settings

T = TypeVar("T")
_RIGHTS = (
    "name the URL of a superuser, or give the parts logins of their own as "
    "deploy/README.md describes"
)


@contextmanager
def database_or_exit(failing: str) -> Iterator[None]:
    """failing: what is printed before the reason, as "the report is not kept".

    Raises: click.ClickException.
    """
    try:
        yield
    except (DatabaseError, OSError) as error:
        advice = f"; {_RIGHTS}" if is_denied(error) else ""
        raise click.ClickException(f"{failing}: {cause_of(error)}{advice}") from error


@contextmanager
def refusal_or_exit() -> Iterator[None]:
    """Raises: click.ClickException, with the repair, for what the registry refuses."""
    try:
        yield
    except RegistryError as refused:
        raise click.ClickException(f"{refused}. {refused.problem.fix}") from refused


def in_transaction(
    settings: Settings,
    role: Role,
    work: Callable[[Connection], Awaitable[T]],
    failing: str,
) -> T:
    """Run the work in one transaction of the role. failing: see `database_or_exit`."""

    async def run(url: str) -> T:
        async with engine_at(url, role, pool=1) as engine, engine.begin() as connection:
            return await work(connection)

    with reached_database(settings) as reached, database_or_exit(failing):
        return asyncio.run(run(reached.database_url))


@contextmanager
def reached_database(settings: Settings) -> Iterator[Settings]:
    """Settings with the URL of the database, which runs in here.

    Raises: click.ClickException if there is none.
    """
    if settings.database_url:
        yield settings
        return
    if not (settings.data / "postgres").is_dir():
        raise click.ClickException(
            f"there is no registry in {settings.data}: start one with serve, or name "
            "its database in FAIR_REGISTRY_DATABASE_URL"
        )
    with database_or_exit("the database does not start"):
        postgres = start_embedded(settings.data)
    try:
        yield replace(settings, database_url=url_of(postgres))
    finally:
        postgres.close()


def url_of(postgres: EmbeddedPostgres) -> str:
    return postgres.url().render_as_string(hide_password=False)


async def migrate_or_exit(url: str) -> None:
    """Bring the schema to the newest version. Raises: click.ClickException."""
    async with engine_at(url) as owner:
        with database_or_exit("the database can't be migrated"):
            await migrate(owner)


async def verify_roles(url: str) -> None:
    """Raises: click.ClickException if the parts can't act as their roles."""
    async with engine_at(url) as owner:
        with database_or_exit("the database's roles can't be read"):
            denied = await denied_roles(owner)
    if denied:
        raise click.ClickException(
            f"the login of FAIR_REGISTRY_DATABASE_URL may not act as {denied[0]}; {_RIGHTS}"
        )
