"""`erase`: what the owner of the registry may erase, whoever asked."""

import re
from pathlib import Path
from typing import Any

import click

from registry import keyring
from registry.cli.output import (
    console,
    json_option,
    print_json,
    registry_option,
    with_client,
)
from registry.cli.settings import settings_or_exit
from registry.client import RegistryClient
from registry.usecases.receipts import make_receipt

_PUBLIC_HALF = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


@click.command()
@click.argument("ranking_ids", metavar="RANKING...", nargs=-1, required=True)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="The registry's folder; its web.key stands for the asker's secret.",
)
@registry_option
@json_option
def erase(
    ranking_ids: tuple[str, ...], data: Path | None, url: str, *, as_json: bool
) -> None:
    """Erase for good what rankings disclose: query, place, scores and the rest.

    RANKING is the id in the log, the part before the dot. Their records and all proofs
    stay.
    """
    for one in ranking_ids:
        if not _PUBLIC_HALF.fullmatch(one.partition(".")[0]):
            raise click.BadParameter(f"{one!r} is no ranking id")
    keys = settings_or_exit(data=data).keys
    try:
        web_key = keyring.load_web_key(keys)
    except OSError as error:
        raise click.ClickException(
            f"the registry's web.key is needed: {error}"
        ) from error
    public = [one.partition(".")[0] for one in ranking_ids]

    async def work(client: RegistryClient) -> list[dict[str, Any]]:
        return [await client.erase(make_receipt(web_key, one)) for one in public]

    erased = with_client(url, work)
    if as_json:
        print_json(erased)
        return
    for one, told in zip(public, erased, strict=True):
        console.print(f"{one} is erased; record {told['id']} tells of it")
