"""`audit`: checking what the registry has put on record, and what it has promised."""

import click

from registry.terminal.lazy_group import LazyGroup
from registry.toml_table import read_table

COMMANDS = read_table("registry.auditor", "commands.toml", dict[str, str])


@click.group(cls=LazyGroup, locations=COMMANDS)
def audit() -> None:
    """Check what the registry has put on record."""
