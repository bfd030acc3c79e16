"""`exposure`: how often a site appeared and was chosen, told to its owner alone."""

import time
from pathlib import Path

import click
from rich.table import Table

from registry.cli.owners.registering import act_options, host_name
from registry.client.statements import sign_request
from registry.identity.statements.jws import OWN_EXPOSURE_TYP
from registry.terminal.key_files import key_file, load_key
from registry.terminal.output import console, print_json, with_client


@click.command()
@act_options
@click.option("--since", metavar="DAY", help="First of 92 days, such as 2026-11-23.")
def exposure(
    host: str, key: Path | None, url: str, *, since: str | None, as_json: bool
) -> None:
    """Show how often the site of HOST appeared and was chosen: of whole months exactly.

    Days have the noise of GET /v1/exposure/DAY, so that none tells of one request.
    """
    name = host_name(host)
    private = load_key(key or key_file(host))
    now = int(time.time())
    token = sign_request(private, OWN_EXPOSURE_TYP, host=name, origin=url, now=now)
    answer = with_client(url, lambda client: client.own_exposure(name, token, since))
    if as_json:
        print_json(answer)
        return
    table = Table("day or month", "appearances", "attention", "selections")
    for row in (*answer["days"], *answer["months"]):
        attention = f"{row['attention'] / 1000:.3f}"
        name = row.get("day") or row["month"]
        table.add_row(name, str(row["appearances"]), attention, str(row["selections"]))
    console.print(table)
    console.print("Attention is in rankings' worth, as reports count it.")
