"""The key that an auditor signs with: what the registry asks of those whom it knows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import RegistryError
from registry.identity.keys.private_keys import load_private_key
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


def auditor_options(command: AnyCommand) -> AnyCommand:
    """Options of a command that takes key and name, for `signer_of`."""
    named = click.option(
        "--name", required=True, help="Of your verifier key, as the registry has it."
    )
    keyed = click.option(
        "--key",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        required=True,
        help="Your Ed25519 key, as PEM.",
    )
    return keyed(named(command))


def signer_of(key: Path, name: str) -> Signer:
    """Raises: click.ClickException."""
    try:
        private = load_private_key(key.read_bytes())
        if not isinstance(private, Ed25519PrivateKey):
            raise click.ClickException(f"{key} holds no Ed25519 key")
        signer = Signer(name=name, algorithm=NoteAlgorithm.ED25519, private=private)
        format_vkey(signer.verifier_key)  # a name that no verifier key has is refused
    except RegistryError as refused:
        raise click.ClickException(refused.problem.detail) from refused
    return signer


@click.command("verifier-key")
@auditor_options
def verifier_key(key: Path, name: str) -> None:
    """Tell the verifier key of your key, for FAIR_REGISTRY_AUDITORS of a registry.

    NAME is a name of your own, such as your domain.
    """
    click.echo(format_vkey(signer_of(key, name).verifier_key))
