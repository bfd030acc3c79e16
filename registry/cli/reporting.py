"""`report`: the fairness report of a window, told, or kept as a file with its signature."""

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from registry.cli.output import (
    console,
    json_option,
    print_json,
    registry_option,
    with_client,
)
from registry.client import SignedFile

SIGNATURE_SUFFIX = ".jws"


@click.command()
@click.option("--from", "start", help="RFC 3339, such as 2026-11-01T00:00:00Z.")
@click.option("--to", "end")
@click.option("--operator", help="Only the rankings that it asked for.")
@click.option("--category", help="Only the sites of this category.")
@click.option(
    "--form",
    type=click.Choice(["json", "csv", "html"]),
    help="As the registry signs it, instead of sentences.",
)
@click.option(
    "--out",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the form (JSON by default) and, beside it, its signature.",
)
@registry_option
@json_option
def report(  # noqa: PLR0917 — one for each option
    start: str | None,
    end: str | None,
    operator: str | None,
    category: str | None,
    form: str | None,
    file: Path | None,
    url: str,
    *,
    as_json: bool,
) -> None:
    """Pull the fairness report: the four items of WAB 9.7."""
    asked = {"from": start, "to": end, "operator": operator, "category": category}
    params = {name: value for name, value in asked.items() if value}
    if form or file:
        formed = {**params, "form": form or "json"}
        found = with_client(url, lambda client: client.report(formed))
        _hand_out(found, file)
        return
    told = with_client(url, lambda client: client.get("/v1/reports/fairness", params))
    if as_json:
        print_json(told)
    else:
        tell_report(told, console)


def tell_report(found: dict[str, Any], told: Console) -> None:
    window = found["terms"]["window"]
    told.print(f"  Fairness report, {window['startAt']} to {window['endAt']}")
    for sentence in found["sentences"]:
        told.print(f"  {sentence}", soft_wrap=True, markup=False)


def signature_beside(file: Path) -> Path:
    return file.with_name(file.name + SIGNATURE_SUFFIX)


def _hand_out(found: SignedFile, file: Path | None) -> None:
    """To standard output without its signature, which has no place there."""
    if file is None:
        sys.stdout.buffer.write(found.body)
        return
    signature = signature_beside(file)
    try:
        file.write_bytes(found.body)
        signature.write_text(found.signature + "\n", encoding="ascii")
    except (OSError, UnicodeEncodeError) as error:
        raise click.ClickException(f"{file} can't be written: {error}") from error
    console.print(f"{file}, signed in {signature.name}", soft_wrap=True, markup=False)
