"""`audit counterfactual`: what an answer would be if one thing were otherwise."""

import time
from itertools import zip_longest
from pathlib import Path
from typing import Any

import click

from registry.auditor.auditor_key import (
    audience_of,
    auditor_options,
    log_option,
    signer_of,
)
from registry.auditor.command import registry_options
from registry.client import Json, RegistryClient
from registry.records.counterfactual import Inquiry
from registry.reports.invariance import PERTURBATION
from registry.terminal.output import console, json_option, print_json, with_client
from registry.terminal.styled import Table
from registry.tlog.note import format_vkey

MAX_SHOWN = 20


@click.command()
@registry_options
@auditor_options
@log_option
@click.option("--perturbation", type=click.Choice(tuple(PERTURBATION)), required=True)
@click.option(
    "--site", "sites", multiple=True, metavar="HOST", help="Site to change; repeatable."
)
@click.option("--ranking", help="Id of a ranking, whose query is asked again.")
@click.option("--query", help="Instead of a ranking: what should be done, in words.")
@click.option("--cell", help="With --query: the geohash that it is asked from.")
@click.option(
    "--filter", "filters", multiple=True, metavar="NAME=VALUE", help="With --query."
)
@json_option
def counterfactual(
    url: str, key: Path, name: str, *, as_json: bool, **options: Any
) -> None:
    """Ask the registry for an answer with one property of some sites changed.

    Exit code 1: a change that must not matter did. For known auditors only.
    """
    signer = signer_of(key, name)
    if bool(options["ranking"]) == bool(options["query"]):
        raise click.UsageError("name either --ranking or --query")

    async def work(client: RegistryClient) -> bool:
        hosts = [
            (await client.get(f"/v1/sites/{host}"))["id"] for host in options["sites"]
        ]
        inquiry = Inquiry(
            auditor=format_vkey(signer.verifier_key),
            audience=audience_of(url, options["log_name"]),
            issued_at=int(time.time()),
            perturbation=options["perturbation"],
            sites=tuple(hosts),
            ranking=options["ranking"] and options["ranking"].partition(".")[0],
            query=options["query"],
            cell=options["cell"],
            filters=_filters(options["filters"]),
        )
        signed = inquiry.signed(signer.private).signed_members
        answered = await client.post("/v1/counterfactual", signed)
        (print_json if as_json else _print_answer)(answered)
        return bool(answered["held"])

    raise SystemExit(0 if with_client(url, work) else 1)


def _filters(pairs: tuple[str, ...]) -> dict[str, str | bool | int]:
    filters: dict[str, str | bool | int] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or (name == "withinKm" and not value.isdecimal()):
            raise click.UsageError(f"{pair!r} is not NAME=VALUE")
        if name == "requiresAuth" and value in {"true", "false"}:
            filters[name] = value == "true"
        else:
            filters[name] = int(value) if name == "withinKm" else value
    return filters


def _print_answer(answered: Json) -> None:
    word = "[green]held[/]" if answered["held"] else "[red]did not hold[/]"
    console.print(f"{answered['changes']}: {answered['expectation']}: {word}")
    console.print(
        f"{answered['shadow']} of {answered['listed']} listed sites were ranked"
    )
    changed = answered["changed"]
    table = Table("rank", "before", "score", "after", "score", box=None)
    before, after = (
        [
            (f"{row['siteId']}{' *' * (row['siteId'] in changed)}", str(row["score"]))
            for row in answered[name]["places"][:MAX_SHOWN]
        ]
        for name in ("before", "after")
    )
    rows = zip_longest(before, after, fillvalue=("", ""))
    for rank, (first, second) in enumerate(rows, start=1):
        table.add_row(str(rank), *first, *second)
    console.print(table)
