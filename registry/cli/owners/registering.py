"""`register`: the whole of a registration in one command."""

import time
from pathlib import Path
from typing import Any

import click

from registry.client import RegistryClient
from registry.identity.keys.private_keys import load_private_key
from registry.identity.statements.jws import sign_compact
from registry.terminal.output import (
    console,
    json_option,
    print_json,
    registry_option,
    tell_problem,
    with_client,
)

LIFETIME_S = 600


@click.command()
@click.argument("host")
@click.option("--key", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--doc", "documents", multiple=True, help="URL of a discovery document.")
@click.option(
    "--act",
    type=click.Choice(["register", "update", "withdraw"]),
    default="register",
    show_default=True,
)
@click.option("--category")
@click.option("--city")
@click.option("--country", help="Two capital letters, such as DE.")
@click.option("--size", type=click.Choice(["micro", "small", "medium", "large"]))
@click.option("--commission-rate", help='Such as "0%".')
@click.option("--independent/--chain", default=None)
@click.option("--chain-id", help="Which chain, by its domain or another identifier.")
@registry_option
@json_option
def register(host: str, key: Path, url: str, *, as_json: bool, **declared: Any) -> None:
    """Ask for a challenge, sign it with the site's key, and send the statement.

    The key set (see keygen) must be served by the site already.
    """
    private_key = load_private_key(key.read_bytes())

    async def work(client: RegistryClient) -> dict[str, Any]:
        challenge = await client.challenge(host)
        payload = {
            **challenge["payload"],
            **_members(declared),
            "iat": int(time.time()),
        }
        payload["exp"] = payload["iat"] + LIFETIME_S
        if declared["act"] == "withdraw":
            payload.pop("docs")
        token = sign_compact(payload, private_key)
        submitted = await client.submit(token)
        return await client.decided(submitted["id"])

    outcome = with_client(url, work)
    if as_json:
        print_json(outcome)
    else:
        console.print(f"{outcome['host']}: [bold]{outcome['status']}[/]")
        for problem in outcome["problems"]:
            tell_problem(problem)
    if outcome["status"] == "rejected":
        raise SystemExit(1)


def _members(declared: dict[str, Any]) -> dict[str, Any]:
    """The payload's members; what is not given is not declared."""
    location = None
    if declared["country"]:
        location = {"country": declared["country"], "city": declared["city"]}
        location = {name: value for name, value in location.items() if value}
    members = {
        "act": declared["act"],
        "docs": [{"url": url} for url in declared["documents"]] or None,
        "category": declared["category"],
        "location": location,
        "size": declared["size"],
        "commission_rate": declared["commission_rate"],
        "is_independent": declared["independent"],
        "chain": declared["chain_id"],
    }
    return {name: value for name, value in members.items() if value is not None}
