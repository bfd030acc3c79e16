"""`audit label`: what an auditor found a site to be, signed and put on record."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args

import click

from registry.auditor.auditor_key import (
    audience_of,
    auditor_options,
    log_option,
    signer_of,
)
from registry.auditor.command import registry_options
from registry.client import Json, RegistryClient
from registry.records.labelling import Labelling, digest_source
from registry.sites.label import Independence, Label, Size, parse_chain, parse_percent
from registry.terminal.options import DAY_TYPE
from registry.terminal.output import console, json_option, shown
from registry.terminal.registry_calls import print_answer
from registry.tlog.note import format_vkey


@click.command()
@click.argument("host")
@registry_options
@auditor_options
@log_option
@click.option(
    "--site", help="The site's id, so that you need not trust the registry for it."
)
@click.option("--size", type=click.Choice(get_args(Size)))
@click.option("--independence", type=click.Choice(get_args(Independence)))
@click.option("--chain", help="Which: its domain, or another identifier in a-z, 0-9.")
@click.option("--commission", help='Such as "12.5%".')
@click.option("--retract", is_flag=True, help="Withdraw your label of the site.")
@click.option(
    "--observed",
    type=DAY_TYPE,
    help="The day that the source is about. [default: today]",
)
@click.option(
    "--source", required=True, help="A public source, without data about a person."
)
@json_option
def label(
    host: str, url: str, key: Path, name: str, *, as_json: bool, **options: Any
) -> None:
    """Label the site of HOST for the reports of the registry.

    The label replaces all your former labels of the site, also the values left out.
    """
    signer = signer_of(key, name)
    labelled = _label(options)
    if (labelled == Label()) is not options["retract"]:
        raise click.UsageError("say what the site is, or --retract")

    async def work(client: RegistryClient) -> Json:
        site_id = options["site"] or (await client.get(f"/v1/sites/{host}"))["id"]
        now = datetime.fromtimestamp(int(time.time()), UTC)
        labelling = Labelling(
            auditor=format_vkey(signer.verifier_key),
            audience=audience_of(url, options["log_name"]),
            site_id=site_id,
            label=labelled,
            observed_on=(options["observed"] or now).date(),
            stated_at=now,
            source_digest=digest_source(options["source"]),
        )
        signed = labelling.signed(signer.private).signed_members
        sent = {**signed, "source": options["source"]}
        return {**await client.post("/v1/labels", sent), "site": site_id}

    def show(answered: Json) -> None:
        site, leaf = shown(answered["site"]), shown(answered["leafHash"])
        console.print_line(f"{host}, site {site}: accepted, leaf {leaf}")
        on_record = f"that it goes on record; `audit monitor --site {site}` shows it"
        console.print_line(f"  the registry's word: {on_record}")

    print_answer(url, work, show, as_json=as_json)


def _label(options: dict[str, Any]) -> Label:
    """Raises: click.UsageError."""
    chain, commission = options["chain"], options["commission"]
    try:
        return Label(
            size=options["size"],
            independence=options["independence"] or ("chain" if chain else None),
            chain=None if chain is None else parse_chain(chain),
            commission_percent=None
            if commission is None
            else parse_percent(commission),
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from error
