"""`report`: the fairness report of a window."""

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


@click.command()
@click.option("--from", "start", help="RFC 3339, such as 2026-11-01T00:00:00Z.")
@click.option("--to", "end")
@registry_option
@json_option
def report(start: str | None, end: str | None, url: str, *, as_json: bool) -> None:
    """Pull the fairness report: the four items of WAB 9.7."""
    window = {"from": start, "to": end}
    params = {name: value for name, value in window.items() if value}
    found = with_client(url, lambda client: client.get("/v1/reports/fairness", params))
    if as_json:
        print_json(found)
    else:
        tell_report(found, console)


def tell_report(found: dict[str, Any], told: Console) -> None:
    window = found["terms"]["window"]
    told.print(f"  Fairness report, {window['startAt']} to {window['endAt']}")
    for sentence in found["sentences"]:
        told.print(f"  {sentence}", soft_wrap=True)
