"""`search`: ranked sites for plain words."""

import shlex
from pathlib import Path
from typing import Any

import click
import msgspec

from registry.interfaces.web.page_wording import explain_factors
from registry.ranking.explain import Explanation
from registry.ranking.rank_score import SHOWN
from registry.terminal.output import console, json_option, registry_option
from registry.terminal.printable import counted
from registry.terminal.registry_calls import auth_of, operator_options, print_answer
from registry.terminal.styled import RenderableType, Table, escape


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--city")
@click.option("--country")
@click.option("--lat", type=float)
@click.option("--lon", type=float)
@click.option("--category")
@click.option("--limit", type=int, default=5, show_default=True)
@operator_options
@registry_option
@json_option
def search(
    words: tuple[str, ...],
    api_key: str | None,
    key: Path | None,
    url: str,
    *,
    as_json: bool,
    **query: Any,
) -> None:
    """Search for sites; shows them ranked, with the reasons."""
    query_text, auth = " ".join(words), auth_of(url, api_key, key)

    print_answer(
        url,
        lambda client: client.search(q=query_text, **query),
        show_answer,
        as_json=as_json,
        operator=auth,
    )


def show_answer(answer: dict[str, Any]) -> None:
    for result in answer["results"]:
        console.print(render_result(result))
    print_receipt(answer)
    for hint in answer["hints"]:
        print_hint(hint)
    for near in answer.get("near", ()):
        offers = f": {', '.join(near['words'])}" if near["words"] else ""
        console.print(
            f"nearest: {near['category']} ({counted(near['sites'], 'site')}){offers}"
        )


def render_result(result: dict[str, Any]) -> RenderableType:
    """A result with its five factors."""
    site = result["site"]
    place = site["location"]
    where = escape(f", {place['city']} {place['country']}") if place else ""
    table = Table(
        title=f"{result['rank']}. {escape(site['provider']['name'])} "
        f"([cyan]{site['host']}[/]{where}) — {SHOWN.points(result['score']):.1f} of 100",
        title_justify="left",
        box=None,
        padding=(0, 2, 0, 0),
    )
    for heading in ("factor", "value", "weight", "adds", "because"):
        table.add_column(heading, overflow="fold")
    for factor in explain_factors(msgspec.convert(result["factors"], Explanation)):
        table.add_row(
            factor.title,
            f"{SHOWN.percent(factor.value):.0f}%",
            f"{factor.weight / 100:.0f}%",
            f"{factor.contribution / 1e6:.1f}",
            escape(factor.because),
        )
    return table


def print_hint(hint: dict[str, Any]) -> None:
    """Print the options that ask from a city that the words name."""
    options = f"--city {shlex.quote(hint['city'])} --country {hint['country']}"
    sentence = (
        f"{hint['words']!r} in the words does not say where you are; to ask from "
        f"{hint['city']} ({hint['country']}), add: {options}"
    )
    console.print(sentence, markup=False, highlight=False, soft_wrap=True)


def print_receipt(answer: dict[str, Any]) -> None:
    ranking = answer["ranking"]
    if not answer["results"]:
        console.print("No listed site does this.")
    console.print(f"[dim]{ranking['eligible']} eligible · ranking {ranking['id']}[/]")
    console.print(f"[dim]leaf {ranking['leafHash']}[/]")
    if ranking["number"] is not None:
        console.print(f"[dim]ranking {ranking['number']} of this operator[/]")
