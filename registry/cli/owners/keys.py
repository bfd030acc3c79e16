"""`keygen` and `sign`: what openssl does too, for those who have it not."""

import json
import os
from pathlib import Path
from typing import BinaryIO

import click

from registry.errors import RegistryError
from registry.identity.keys.jwk import jwks_document
from registry.identity.keys.private_keys import (
    generate_private_key,
    load_private_key,
    private_key_pem,
    public_key_of,
)
from registry.identity.keys.public_keys import Algorithm
from registry.identity.statements.jws import sign_compact
from registry.terminal.output import console


@click.command()
@click.option("--out", type=click.Path(path_type=Path), default=Path("key.pem"))
@click.option(
    "--alg",
    type=click.Choice(["Ed25519", "ES256"]),
    default="Ed25519",
    show_default=True,
)
@click.option(
    "--jwks",
    type=click.Path(path_type=Path),
    default=Path("agent-registry-keys.json"),
    help="Where to write the public key set, to be served by your site.",
)
def keygen(out: Path, alg: Algorithm, jwks: Path) -> None:
    """Make a signing key, and the key set that the site has to publish."""
    key = generate_private_key(alg)
    try:
        handle = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise click.ClickException(f"{out} exists; it is not overwritten") from error
    with os.fdopen(handle, "wb") as file:
        file.write(private_key_pem(key))
    public = public_key_of(key)
    jwks.write_bytes(jwks_document([public]))
    console.print(f"{out}: the private key; keep it to yourself")
    console.print(f"{jwks}: serve it at /.well-known/agent-registry-keys.json")
    console.print(f"kid: {public.kid}")


@click.command()
@click.option("--key", type=click.Path(path_type=Path, exists=True), required=True)
@click.argument("payload", type=click.File("rb"), default="-")
def sign(key: Path, payload: BinaryIO) -> None:
    """Sign a payload (JSON, from a file or standard input) as a compact JWS."""
    try:
        private_key = load_private_key(key.read_bytes())
        click.echo(sign_compact(json.load(payload), private_key))
    except RegistryError as refused:
        raise click.ClickException(refused.problem.detail) from refused
    except ValueError as error:
        raise click.ClickException(f"the payload is no JSON: {error}") from error
