"""Preparation of a database and keys, before the processes of a larger installation start.

`serve` does the same by itself; `deploy/` runs these once, with rights and keys that the
processes need not have.
"""

import asyncio

import click

from registry import keyring
from registry.cli.service.command_settings import (
    make_data_folder,
    settings_of_log,
    settings_or_exit,
)
from registry.cli.service.database import migrate_or_exit
from registry.terminal.output import console


@click.group()
def db() -> None:
    """Look after the database that FAIR_REGISTRY_DATABASE_URL names."""


@db.command("migrate")
def migrate_database() -> None:
    """Bring the schema and the roles to the newest version; run it as the owner."""
    url = settings_or_exit().database_url
    if not url:
        raise click.ClickException(
            "FAIR_REGISTRY_DATABASE_URL is not set. The embedded database needs no "
            "command: serve migrates it."
        )
    asyncio.run(migrate_or_exit(url))
    console.print("The schema is the newest.")


@click.command("keyring")
@click.option(
    "--rotate-log",
    is_flag=True,
    help="Replace the log's key. The old one signs beside the new one, from the "
    "publisher's next start, until its file log-retiring.pem is deleted.",
)
def make_keyring(*, rotate_log: bool) -> None:
    """Make the registry's own keys in FAIR_REGISTRY_DATA, as far as they are missing."""
    settings = settings_of_log(settings_or_exit())
    make_data_folder(settings)
    keyring.create_keyring(settings.keys, settings.log_origin)
    if rotate_log:
        try:
            keyring.rotate_log_key(settings.keys, settings.log_origin)
        except FileExistsError as error:
            raise click.ClickException(str(error)) from error
    vkey = keyring.load_vkey(settings.keys, keyring.LOG)
    console.print_line(f"The log's verifier key: {vkey}")
