"""`erase`: what the owner of the registry may erase, of any caller."""

import re
from pathlib import Path
from typing import Any

import click

from registry import keyring
from registry.cli.service.command_settings import settings_or_exit
from registry.client import RegistryClient
from registry.terminal.options import data_option
from registry.terminal.output import console, json_option, registry_option
from registry.terminal.registry_calls import print_answer
from registry.usecases.search.receipts import make_receipt

_PUBLIC_HALF = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


@click.command()
@click.argument("ranking_ids", metavar="RANKING...", nargs=-1, required=True)
@data_option("The registry's folder; its web.key stands for the asker's secret.")
@registry_option
@json_option
def erase(
    ranking_ids: tuple[str, ...], data: Path | None, url: str, *, as_json: bool
) -> None:
    """Erase for good what rankings disclose: query, place, scores and the rest.

    RANKING is the id in the log, the part before the dot. Their records and all proofs
    stay.
    """
    for ranking_id in ranking_ids:
        if not _PUBLIC_HALF.fullmatch(ranking_id.partition(".")[0]):
            raise click.BadParameter(f"{ranking_id!r} is no ranking id")
    keys = settings_or_exit(data=data).keys
    try:
        web_key = keyring.load_web_key(keys)
    except OSError as error:
        raise click.ClickException(
            f"the registry's web.key is needed: {error}"
        ) from error
    public = [ranking_id.partition(".")[0] for ranking_id in ranking_ids]

    async def work(client: RegistryClient) -> list[dict[str, Any]]:
        return [
            await client.erase(make_receipt(web_key, ranking_id))
            for ranking_id in public
        ]

    def show(erased: list[dict[str, Any]]) -> None:
        for ranking_id, record in zip(public, erased, strict=True):
            console.print(f"{ranking_id} is erased; record {record['id']} tells of it")

    print_answer(url, work, show, as_json=as_json)
