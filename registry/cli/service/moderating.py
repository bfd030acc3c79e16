"""`moderate`: taking a site out of all answers, on public record; `lookalikes`."""

import asyncio
from typing import get_args

import click

from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import database_or_exit, reached_database
from registry.db.engine.engines import Role, engine_at
from registry.errors import RegistryError
from registry.records.record_fields import ModerationAct
from registry.terminal.output import console, errors, json_option, print_json
from registry.usecases.ids import IdSource
from registry.usecases.moderation import ModeratedSite, lookalikes, moderate

ACTS: tuple[ModerationAct, ...] = get_args(ModerationAct)


@click.command(name="moderate")
@click.argument("act", type=click.Choice(ACTS))
@click.argument("host")
@click.option(
    "--reason",
    required=True,
    help="Its category, one word such as phishing: public, and in the log for ever.",
)
@json_option
def moderate_site(act: ModerationAct, host: str, reason: str, *, as_json: bool) -> None:
    """Do ACT to the site of HOST: on record, told to its owner, in force at once.

    A quarantined or delisted site is in no answer, whatever its owner signs, until it is
    released or an appeal is upheld.
    """
    with reached_database(settings_or_exit()) as reached:
        try:
            with database_or_exit(f"nothing is done to {host}"):
                done = asyncio.run(_moderate(reached.database_url, act, host, reason))
        except RegistryError as refused:
            problem = refused.problem
            errors.print(f"[red]{problem.code}[/]: {problem.detail}", soft_wrap=True)
            raise SystemExit(1) from refused
    if as_json:
        summary = {
            "host": done.host,
            "siteId": done.site_id,
            "moderated": done.moderated,
        }
        print_json({**summary, "leafHash": done.record.leaf_hash.hex()})
    else:
        standing = done.moderated or "not moderated"
        console.print(f"{done.host} is {standing}; leaf {done.record.leaf_hash.hex()}")


async def _moderate(
    url: str, act: ModerationAct, host: str, reason: str
) -> ModeratedSite:
    async with (
        engine_at(url, Role.MODERATOR, pool=1) as engine,
        engine.begin() as connection,
    ):
        return await moderate(connection, host, act, reason, IdSource())


@click.command(name="lookalikes")
@json_option
def list_lookalikes(*, as_json: bool) -> None:
    """Domains that look like one registered before, for a person to look at.

    Such names are legal, and most are honest: nothing follows from it by itself.
    """
    with (
        reached_database(settings_or_exit()) as reached,
        database_or_exit("they are not found"),
    ):
        groups = asyncio.run(_lookalikes(reached.database_url))
    if as_json:
        print_json(groups)
    else:
        for group in groups:
            console.print("  ".join(group), soft_wrap=True)


async def _lookalikes(url: str) -> list[tuple[str, ...]]:
    async with (
        engine_at(url, Role.MODERATOR, pool=1) as engine,
        engine.connect() as connection,
    ):
        return await lookalikes(connection)
