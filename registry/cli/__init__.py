"""`fair-registry`: the commands."""

import os

# For the commands, and the processes that they start.
# More threads of BLAS would spin beside each other: a request took 38 ms of CPU, not 5.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

from registry.garbage_collection import raise_thresholds
from registry.terminal.lazy_group import LazyGroup
from registry.toml_table import read_table

raise_thresholds()

COMMANDS = read_table("registry.cli", "commands.toml", dict[str, str])


@click.group(cls=LazyGroup, locations=COMMANDS)
@click.version_option(package_name="fair-registry")
def main() -> None:
    """A discovery registry for sites that AI agents can use, ranked fairly."""
