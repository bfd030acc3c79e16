"""`archive`: what the reports of a window are made of, as signed Parquet files."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from registry import keyring
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import database_or_exit, reached_database
from registry.db.engine.engines import Role, engine_at
from registry.errors import RegistryError
from registry.identity.keys.private_keys import PrivateKey
from registry.reports.archive.archive_manifest import Manifest
from registry.reports.report_terms import Window
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
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The registry's folder; the key of its promises signs the manifest.",
)
@json_option
def archive(
    start: str, end: str, folder: Path, data: Path | None, *, as_json: bool
) -> None:
    """Write the rankings, choices and labels of a window as Parquet files.

    They hold what people asked, as far as it is not erased yet: keep them as long as
    the registry itself keeps it, and no longer. Reads the database as the auditor.
    """
    settings = settings_or_exit(data=data)
    try:
        now = datetime.now(UTC)
        window = window_of_minutes(_parse(start), _parse(end), now)
        with (
            reached_database(settings) as reached,
            database_or_exit("the archive was not written"),
        ):
            signer = keyring.load_signer(
                settings.keys, keyring.PROMISE, settings.log_origin
            )
            url = reached.database_url
            written = asyncio.run(_write(url, window, folder, signer.private))
    except RegistryError as refused:
        raise click.ClickException(f"{refused}. {refused.problem.fix}") from refused
    if as_json:
        print_json(msgspec.to_builtins(written))
        return
    console.print(
        f"{folder}: {written.rankings} rankings in {len(written.names)} days, "
        f"{written.erased} of them erased, {written.selections} choices, "
        f"{written.sites} sites",
        soft_wrap=True,
    )


async def _write(url: str, window: Window, folder: Path, key: PrivateKey) -> Manifest:
    async with (
        engine_at(url, Role.AUDITOR, pool=1) as engine,
        engine.connect() as connection,
    ):
        return await write_archive(connection, window, folder, key, tell=_print_count)


def _print_count(count: int) -> None:
    if errors.is_terminal:
        errors.print(f"{count} rankings written", end="\r")


def _parse(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is no instant: {error}") from error
