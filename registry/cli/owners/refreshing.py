"""`refresh`: a signed hint that a site's documents changed."""

import time
from pathlib import Path

import click

from registry.cli.owners.registering import act_options, host_name
from registry.client.statements import sign_request
from registry.identity.statements.jws import REFRESH_TYP
from registry.terminal.key_files import key_file, load_key
from registry.terminal.output import console, print_json, with_client


@click.command()
@act_options
def refresh(host: str, key: Path | None, url: str, *, as_json: bool) -> None:
    """Say that the site's documents changed: a crawler reads them next.

    Three may come at once, then one in ten minutes. It brings one visit and no probe.
    """
    name = host_name(host)
    private = load_key(key or key_file(host))
    now = int(time.time())
    token = sign_request(private, REFRESH_TYP, host=name, origin=url, now=now)
    answer = with_client(url, lambda client: client.refresh(name, token))
    if as_json:
        print_json(answer)
        return
    status_url = url.rstrip("/") + answer["statusUrl"]
    console.print(f"{name}: a crawler takes it from {answer['dueAt']} on.")
    console.print(
        f"`lastOutcomes.crawl` tells how it went: {status_url}", soft_wrap=True
    )
