"""Options that commands share, and how several become one decorator."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import click

from registry.errors import RegistryError
from registry.usecases.reports.calendar_months import parse_month

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])

READABLE = click.Path(exists=True, dir_okay=False, path_type=Path)
WRITABLE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
DAY_TYPE = click.DateTime(["%Y-%m-%d"])


def joined(*decorators: Callable[[AnyCommand], AnyCommand]) -> Callable[..., Any]:
    """Join options and arguments into one decorator; --help shows them in this order."""

    def decorate(command: AnyCommand) -> AnyCommand:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return decorate


def data_option(of: str) -> Callable[[AnyCommand], AnyCommand]:
    """Make --data, the folder of a registry. of: what the command needs it for."""
    return click.option("--data", type=click.Path(path_type=Path), help=of)


def parsed_month(month: str) -> date:
    """Return the first day of a month as `2026-11`. Raises: click.BadParameter."""
    try:
        return parse_month(month)
    except RegistryError as refused:
        raise click.BadParameter(refused.problem.detail) from refused


def signature_beside(file: Path) -> Path:
    return file.with_name(f"{file.name}.jws")
