"""`refresh` and `exposure`: signed requests of a site's owner, answered to the owner alone."""

import time
from pathlib import Path

import click
from rich.table import Table

from registry.calls.results import Json
from registry.cli.owners.registering import act_options, host_name
from registry.client.statements import sign_request
from registry.identity.statements.jws import OWN_EXPOSURE_TYP, REFRESH_TYP
from registry.terminal.key_files import key_file, load_key
from registry.terminal.output import console
from registry.terminal.registry_calls import print_answer


def _sign(host: str, key: Path | None, url: str, typ: str) -> tuple[str, str]:
    """Return the host's name and the signed request. Raises: click.ClickException."""
    name = host_name(host)
    private, now = load_key(key or key_file(host)), int(time.time())
    return name, sign_request(private, typ, host=name, origin=url, now=now)


@click.command()
@act_options
def refresh(host: str, key: Path | None, url: str, *, as_json: bool) -> None:
    """Say that the site's documents changed: a crawler reads them next.

    Three may come at once, then one in ten minutes. It brings one visit and no probe.
    """
    name, token = _sign(host, key, url, REFRESH_TYP)

    def show(answer: Json) -> None:
        status_url = url.rstrip("/") + answer["statusUrl"]
        console.print(f"{name}: a crawler takes it from {answer['dueAt']} on.")
        console.print_line(f"`lastOutcomes.crawl` tells how it went: {status_url}")

    path = f"/v1/sites/{name}/refresh"
    print_answer(url, lambda client: client.state(path, token), show, as_json=as_json)


@click.command()
@act_options
@click.option("--since", metavar="DAY", help="First of 92 days, such as 2026-11-23.")
def exposure(
    host: str, key: Path | None, url: str, *, since: str | None, as_json: bool
) -> None:
    """Show how often the site of HOST appeared and was chosen: of whole months exactly.

    Days have the noise of GET /v1/exposure/DAY, so that none discloses a single request.
    """
    name, token = _sign(host, key, url, OWN_EXPOSURE_TYP)
    path = f"/v1/sites/{name}/exposure" + (f"?since={since}" if since else "")
    print_answer(
        url, lambda client: client.state(path, token), _show_exposure, as_json=as_json
    )


def _show_exposure(answer: Json) -> None:
    table = Table("day or month", "appearances", "attention", "selections")
    for row in (*answer["days"], *answer["months"]):
        attention = f"{row['attention'] / 1000:.3f}"
        name = row.get("day") or row["month"]
        table.add_row(name, str(row["appearances"]), attention, str(row["selections"]))
    console.print(table)
    console.print("Attention is in rankings' worth, as reports count it.")
