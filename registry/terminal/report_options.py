"""Options that commands of reports share: a month, and the file of a signature."""

from datetime import date
from pathlib import Path

import click

from registry.errors import RegistryError
from registry.usecases.reports.calendar_months import parse_month


def parsed_month(month: str) -> date:
    """Return the first day of a month as `2026-11`. Raises: click.BadParameter."""
    try:
        return parse_month(month)
    except RegistryError as refused:
        raise click.BadParameter(refused.problem.detail) from refused


def signature_beside(file: Path) -> Path:
    return file.with_name(f"{file.name}.jws")
