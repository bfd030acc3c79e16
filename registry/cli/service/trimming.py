"""`trim`: old months and entries leave the database once they stand elsewhere."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import click

from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import (
    database_or_exit,
    reached_database,
    refusal_or_exit,
)
from registry.db.engine.engines import Role, engine_at, reading
from registry.terminal.options import data_option
from registry.terminal.output import console, json_option, print_json
from registry.usecases.log.filed_log import FiledLog
from registry.usecases.log.trim import MONTHS_MIN, Trimmed, trim


@click.command("trim")
@click.option(
    "--months",
    type=click.IntRange(min=MONTHS_MIN),
    required=True,
    help="How many months before the present one stay.",
)
@data_option("The registry's folder, where the database is.")
@json_option
def trim_database(months: int, data: Path | None, *, as_json: bool) -> None:
    """Drop rankings and choices of old months, and their entries, from the database.

    A month goes once it is over, reported, in an archive that was written to its end, and
    erased. Entries go once their months have gone and each of them was read again in
    FAIR_REGISTRY_LOG_FILES, from where they are then served.
    """
    settings = settings_or_exit(data=data)
    filed = FiledLog(settings.log_files) if settings.log_files else None
    with (
        refusal_or_exit(),
        reached_database(settings) as reached,
        database_or_exit("not all was dropped"),
    ):
        trimmed = asyncio.run(_trim(reached.database_url, months, filed))
    if as_json:
        print_json(
            {
                "months": [f"{month:%Y-%m}" for month in trimmed.months],
                "waiting": [f"{month:%Y-%m}" for month in trimmed.waiting],
                "entries": [[part.first, part.after] for part in trimmed.parts],
            }
        )
        return
    _print_trimmed(trimmed)


async def _trim(url: str, months: int, filed: FiledLog | None) -> Trimmed:
    async with (
        engine_at(url, Role.PUBLISHER, pool=1) as engine,
        reading(engine).connect() as connection,
    ):
        return await trim(connection, months, datetime.now(UTC), filed)


def _print_trimmed(trimmed: Trimmed) -> None:
    for month in trimmed.months:
        console.print(f"{month:%Y-%m} was dropped")
    for month in trimmed.waiting:
        console.print_line(
            f"{month:%Y-%m} stays until it is over, reported, archived (`fair-registry "
            "archive`, from its first ranking on) and erased"
        )
    for part in trimmed.parts:
        console.print(
            f"entries {part.first} to {part.after - 1} are served from the files"
        )
