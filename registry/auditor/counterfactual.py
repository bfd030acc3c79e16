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
from registry.reports.invariance import (
    HOLDS,
    PERTURBATION,
    Page,
    Perturbation,
    ResultSlot,
    is_violated,
    slack_of,
)
from registry.sites.identifier import parse_site_id
from registry.terminal.output import console, json_option, print_json, shown
from registry.terminal.registry_calls import with_client
from registry.terminal.styled import Table
from registry.tlog.note import format_vkey

MAX_SHOWN = 20
NOT_PROVEN = (
    "both answers; `audit trials` asks such questions without the registry",
    "which site a HOST is; `audit profile HOST` shows it, and --site takes its id",
)


@click.command()
@registry_options
@auditor_options
@log_option
@click.option("--perturbation", type=click.Choice(tuple(PERTURBATION)), required=True)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="HOST",
    help="Site to change, or its id; repeatable.",
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

    Exit code 1: a change that must not matter did, or by its two answers the registry
    can't say that it did not. For known auditors only.
    """
    signer = signer_of(key, name)
    if bool(options["ranking"]) == bool(options["query"]):
        raise click.UsageError("name either --ranking or --query")

    async def work(client: RegistryClient) -> bool:
        ids = {name: await _site_id(client, name) for name in options["sites"]}
        inquiry = Inquiry(
            auditor=format_vkey(signer.verifier_key),
            audience=audience_of(url, options["log_name"]),
            issued_at=int(time.time()),
            perturbation=options["perturbation"],
            sites=tuple(ids.values()),
            ranking=options["ranking"] and options["ranking"].partition(".")[0],
            query=options["query"],
            cell=options["cell"],
            filters=_filters(options["filters"]),
        )
        signed = inquiry.signed(signer.private).signed_members
        answered = await client.post("/v1/counterfactual", signed)
        perturbation = PERTURBATION[options["perturbation"]]
        differences = _differences(answered, perturbation, {*ids.values()})
        if as_json:
            checked = {"sites": ids, "differences": differences}
            print_json({**answered, **checked, "notProven": NOT_PROVEN})
        else:
            _print_answer(answered, perturbation)
            _print_checks(ids, differences)
        return bool(answered["held"]) and not differences

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


async def _site_id(client: RegistryClient, name: str) -> str:
    try:
        parse_site_id(name)
    except ValueError:
        return str((await client.get(f"/v1/sites/{name}"))["id"])
    return name


def _page(answered: Json) -> Page:
    """Return an answer as it is served, without the steps of what people are shown."""
    slots = (
        ResultSlot(
            site_id=parse_site_id(row["siteId"]),
            score=int(row["score"]),
            shown=(0,),
            behind=tuple(map(parse_site_id, row["behind"])),
        )
        for row in answered["places"]
    )
    return Page(slots=tuple(slots), is_whole=bool(answered["isWhole"]))


def _differences(
    answered: Json, perturbation: Perturbation, sites: set[str]
) -> list[str]:
    """Return what the answer says against itself, or of other sites. sites: asked for."""
    before, after = _page(answered["before"]), _page(answered["after"])
    changed, slack = answered["changed"], slack_of(int(answered["shadow"]))
    ids = frozenset(map(parse_site_id, changed))
    is_off = is_violated(perturbation.holds, before, after, ids, slack=slack)
    lies = ["it did not hold, by the two answers"] if is_off else []
    if sites and sites != {*changed}:
        lies.append(f"other sites were changed: {' '.join(changed)}")
    return lies


def _print_answer(answered: Json, perturbation: Perturbation) -> None:
    word = "[green]held[/]" if answered["held"] else "[red]did not hold[/]"
    console.print(f"{perturbation.changes}: {HOLDS[perturbation.holds]}: {word}")
    sites = f"{int(answered['shadow'])} of {int(answered['listed'])}"
    console.print(f"{sites} listed sites were ranked")
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


def _print_checks(ids: dict[str, str], differences: list[str]) -> None:
    for name, site_id in ids.items():
        console.print_line(f"{name}: site {shown(site_id)}")
    for line in differences:
        console.print_line(f"[red]differs:[/] {shown(line)}")
    for line in NOT_PROVEN:
        console.print_line(f"  the registry's word: {line}")
