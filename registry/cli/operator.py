"""`operator`: the account of an operator of agents."""

import time
from pathlib import Path
from typing import Any

import click

from registry.identity.keys.private_keys import PrivateKey, public_key_of
from registry.identity.statements.jws import OPERATOR_TYP, sign_compact
from registry.terminal.key_files import KEY_FILE, key_file, load_key
from registry.terminal.output import console, json_option, registry_option
from registry.terminal.printable import counted, printable
from registry.terminal.registry_calls import auth_of, operator_options, print_answer

LIFETIME_S = 600

key_option = click.option(
    "--key",
    type=KEY_FILE,
    default=lambda: key_file("operator"),
    envvar="FAIR_REGISTRY_OPERATOR_KEY",
    help="The operator's private key. [default: what `keygen operator` made]",
)
id_option = click.option(
    "--id", "operator_id", help="Of the operator, if the key is no longer its first."
)
api_key_option = click.option(
    "--api-key/--no-api-key",
    default=None,
    help="Ask for a new API key, which ends the former, or for none any more.",
)


@click.group()
def operator() -> None:
    """Register as the operator of agents, whose rankings are counted for it."""


@operator.command()
@key_option
@click.option("--name", required=True, help="One line; nobody checks it.")
@click.option("--contact", required=True, help="A mailto: or https: URL.")
@click.option("--public", is_flag=True, help="Tell name and contact to anybody.")
@api_key_option
@registry_option
@json_option
def register(
    key: Path,
    url: str,
    *,
    name: str,
    contact: str,
    public: bool,
    api_key: bool | None,
    as_json: bool,
) -> None:
    """Register the key; its thumbprint is the operator's id for good."""
    private = load_key(key)
    members = {
        "jwk": public_key_of(private).jwk,
        "name": name,
        "contact": contact,
        "public": public,
        "api_key": api_key,
    }
    _state(url, private, None, "register", members, as_json=as_json)


@operator.command()
@key_option
@id_option
@click.option("--next-key", type=KEY_FILE, help="The private key that takes its place.")
@api_key_option
@registry_option
@json_option
def rotate(
    key: Path,
    operator_id: str | None,
    next_key: Path | None,
    url: str,
    *,
    api_key: bool | None,
    as_json: bool,
) -> None:
    """Replace the key, the API key, or both; what is replaced ends within seconds."""
    if next_key is None and api_key is None:
        raise click.UsageError("give --next-key, --api-key or --no-api-key")
    members: dict[str, Any] = {"api_key": api_key}
    if next_key:
        members["next_jwk"] = public_key_of(load_key(next_key)).jwk
    act = "rotate" if next_key else "update"
    _state(url, load_key(key), operator_id, act, members, as_json=as_json)


@operator.command()
@key_option
@id_option
@registry_option
@json_option
@click.confirmation_option(
    prompt="A closed account is never opened again. Close it?", help="Do not ask."
)
def close(key: Path, operator_id: str | None, url: str, *, as_json: bool) -> None:
    """Close the account for good: name, contact and keys are deleted, the count stays."""
    _state(url, load_key(key), operator_id, "close", {}, as_json=as_json)


# An id may begin with a hyphen.
@operator.command(context_settings={"ignore_unknown_options": True})
@click.argument("operator_id", metavar="[ID]", default="self")
@operator_options
@registry_option
@json_option
def show(
    operator_id: str, api_key: str | None, key: Path | None, url: str, *, as_json: bool
) -> None:
    """Show an operator; without ID, the one whose key is given."""
    auth = auth_of(url, api_key, key) if operator_id == "self" else None
    path = f"/v1/operators/{operator_id}"
    print_answer(
        url,
        lambda client: client.get(path),
        _show_summary,
        as_json=as_json,
        operator=auth,
    )


def _state(
    url: str,
    key: PrivateKey,
    operator_id: str | None,
    act: str,
    members: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    now = int(time.time())
    declared = {name: value for name, value in members.items() if value is not None}
    payload = {
        **declared,
        "act": act,
        "aud": url.rstrip("/"),
        "sub": operator_id or public_key_of(key).kid,
        "iat": now,
        "exp": now + LIFETIME_S,
    }
    token = sign_compact(payload, key, typ=OPERATOR_TYP)

    path = "/v1/operators"
    if act != "register":
        path += f"/{payload['sub']}/statements"
    print_answer(
        url, lambda client: client.state(path, token), _show_summary, as_json=as_json
    )


def _show_summary(summary: dict[str, Any]) -> None:
    console.print(f"{summary['id']}: [bold]{summary['status']}[/]")
    console.print(
        f"{counted(summary['rankings'], 'ranking')} since {summary['registeredAt']}"
    )
    if declared := summary["declared"]:
        console.print(f"{declared['name']}, {declared['contact']}", markup=False)
    if api_key := summary.get("apiKey"):
        console.print("The API key, shown only this once; keep it secret:")
        click.echo(printable(api_key))
