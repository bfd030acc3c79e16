"""`archive`: what the reports of a window are made of, as signed Parquet files."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from registry import keyring
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import (
    database_or_exit,
    in_transaction,
    reached_database,
    refusal_or_exit,
)
from registry.db.engine.engines import Role, engine_at
from registry.db.reports import made_archives
from registry.identity.keys.private_keys import PrivateKey
from registry.records.record import format_minute
from registry.reports.archive.archive_manifest import Manifest
from registry.reports.report_terms import Window
from registry.terminal.options import data_option
from registry.terminal.output import console, errors, json_option, print_json
from registry.usecases.reports.write_archive import window_of_minutes, write_archive


@click.command()
@click.option("--from", "start", required=True, help="Such as 2026-11-01T00:00Z.")
@click.option("--to", "end", required=True, help="Such as 2026-12-01T00:00Z.")
@click.option(
    "--out",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="An empty folder, or one that is not there yet.",
)
@data_option("The registry's folder; the key of its promises signs the manifest.")
@json_option
def archive(
    start: str, end: str, folder: Path, data: Path | None, *, as_json: bool
) -> None:
    """Write the rankings, choices and labels of a window as Parquet files.

    They hold what people asked, as far as it is not erased yet: keep them as long as
    the registry itself keeps it, and no longer. Reads the database as the auditor.
    """
    settings = settings_or_exit(data=data)
    with refusal_or_exit():
        window = window_of_minutes(_parse(start), _parse(end), datetime.now(UTC))
        with (
            reached_database(settings) as reached,
            database_or_exit("the archive was not written"),
        ):
            signer = keyring.load_signer(
                settings.keys, keyring.PROMISE, settings.log_origin
            )
            url = reached.database_url
            written = asyncio.run(_write(url, window, folder.resolve(), signer.private))
    if as_json:
        print_json(msgspec.to_builtins(written))
        return
    console.print_line(
        f"{folder}: {written.rankings} rankings in {len(written.names)} days, "
        f"{written.erased} of them erased, {written.selections} choices, "
        f"{written.sites} sites"
    )


@click.command()
@data_option("The registry's folder, where the database is.")
@json_option
def archives(data: Path | None, *, as_json: bool) -> None:
    """List the archives that open what was erased after they were made.

    Replace each by one that is made now, and delete it wherever it was passed on to.
    """
    outdated = in_transaction(
        settings_or_exit(data=data),
        Role.AUDITOR,
        made_archives.outdated_archives,
        failing="the archives were not listed",
    )
    rows: list[dict[str, Any]] = [
        {
            "folder": row.folder,
            "madeAt": format_minute(row.made_at),
            "from": format_minute(row.start_at),
            "to": format_minute(row.end_at),
            "erasures": row.erasures,
        }
        for row in outdated
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        console.print(
            f"{row['folder']}, made {row['madeAt']}, of {row['from']} to {row['to']}: "
            f"{row['erasures']} erasures since",
            soft_wrap=True,
            markup=False,
        )
    if not rows:
        console.print("No archive opens what was erased since.")


async def _write(url: str, window: Window, folder: Path, key: PrivateKey) -> Manifest:
    async with engine_at(url, Role.AUDITOR, pool=1) as engine:
        made_at, path = datetime.now(UTC), str(folder)
        async with engine.begin() as connection:
            bounds = (window.start_at, window.end_at)
            number = await made_archives.save_archive(connection, made_at, bounds, path)
        async with engine.connect() as connection:
            manifest = await write_archive(
                connection, window, folder, key, on_progress=_print_count
            )
        async with engine.begin() as connection:
            await made_archives.finish_archive(connection, number, datetime.now(UTC))
    return manifest


def _print_count(count: int) -> None:
    if errors.is_terminal:
        errors.print(f"{count} rankings written", end="\r")


def _parse(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no instant: {error}") from error
