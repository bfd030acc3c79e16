"""`keygen`, `jwks` and `sign`: what openssl does too, for those who have it not."""

import json
from pathlib import Path
from typing import BinaryIO

import click

from registry.errors import RegistryError
from registry.identity.keys.jwk import jwks_document, parse_jwks
from registry.identity.keys.private_keys import (
    generate_private_key,
    private_key_pem,
    public_key_of,
)
from registry.identity.keys.public_keys import Algorithm, PublicKey
from registry.identity.statements.jws import sign_compact
from registry.terminal.key_files import (
    FOLDER_SHOWN,
    KEY_FILE,
    key_file,
    load_key,
    save_key,
)
from registry.terminal.options import READABLE
from registry.terminal.output import console


@click.command()
@click.argument("name", default="key")
@click.option(
    "--out",
    type=KEY_FILE,
    help=f"Where to write the private key. [default: {FOLDER_SHOWN}/NAME.pem]",
)
@click.option(
    "--alg",
    type=click.Choice(["Ed25519", "ES256"]),
    default="Ed25519",
    show_default=True,
)
@click.option(
    "--jwks",
    type=click.Path(path_type=Path),
    help="Also write the public key set there, to be served by your site.",
)
def keygen(name: str, out: Path | None, alg: Algorithm, jwks: Path | None) -> None:
    """Make the signing key called NAME: a site's host, operator or auditor.

    The commands of that site, operator or auditor take it by itself.
    """
    file = out or key_file(name)
    key = generate_private_key(alg)
    save_key(file, private_key_pem(key))
    public = public_key_of(key)
    _print_note(f"{file}: the private key; keep it to yourself")
    if jwks:
        jwks.write_bytes(jwks_document([public]))
        _print_note(f"{jwks}: serve it at /.well-known/agent-registry-keys.json")
    _print_note(f"kid: {public.kid}")


@click.command()
@click.argument("files", type=READABLE, nargs=-1, required=True)
def jwks(files: tuple[Path, ...]) -> None:
    """Print the key set that a site publishes: the public keys of all FILES.

    A file holds a private key as PEM, or a key set to which the others are added.
    """
    keys = dict.fromkeys(key for file in files for key in _public_keys(file))
    click.echo(jwks_document(keys), nl=False)


@click.command()
@click.option("--key", type=KEY_FILE, required=True)
@click.argument("payload", type=click.File("rb"), default="-")
def sign(key: Path, payload: BinaryIO) -> None:
    """Sign a payload (JSON, from a file or standard input) as a compact JWS."""
    private_key = load_key(key)
    try:
        click.echo(sign_compact(json.load(payload), private_key))
    except RegistryError as refused:
        raise click.ClickException(refused.problem.detail) from refused
    except ValueError as error:
        raise click.ClickException(f"the payload is no JSON: {error}") from error


def _public_keys(file: Path) -> tuple[PublicKey, ...]:
    """Raises: click.ClickException."""
    body = file.read_bytes()
    if not body.lstrip().startswith(b"{"):
        return (public_key_of(load_key(file)),)
    try:
        return parse_jwks(body)
    except RegistryError as refused:
        raise click.ClickException(f"{file}: {refused.problem.detail}") from refused


def _print_note(sentence: str) -> None:
    console.print(sentence, soft_wrap=True, markup=False, highlight=False)
