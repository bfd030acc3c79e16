"""The key that an auditor signs with: what the registry asks of those whom it knows."""

from pathlib import Path

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import RegistryError
from registry.terminal.key_files import KEY_FILE, key_file, load_key
from registry.terminal.options import joined
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

auditor_options = joined(
    click.option(
        "--key",
        type=KEY_FILE,
        default=lambda: key_file("auditor"),
        help="Your Ed25519 key, as PEM. [default: what `keygen auditor` made]",
    ),
    click.option(
        "--name", required=True, help="Of your verifier key, as the registry has it."
    ),
)
"""Options of a command that takes key and name, for `signer_of`."""
log_option = click.option(
    "--log",
    "log_name",
    default="",
    metavar="NAME",
    help="Of the log that you sign for, where it is not the registry's address.",
)


def signer_of(key: Path, name: str) -> Signer:
    """Raises: click.ClickException."""
    private = load_key(key)
    if not isinstance(private, Ed25519PrivateKey):
        raise click.ClickException(f"{key} holds no Ed25519 key")
    try:
        signer = Signer(name=name, algorithm=NoteAlgorithm.ED25519, private=private)
        format_vkey(signer.verifier_key)  # a name that no verifier key has is refused
    except RegistryError as refused:
        raise click.ClickException(refused.problem.detail) from refused
    return signer


def audience_of(url: str, log_name: str) -> str:
    """Return the log's name, not as the registry gives it: it could pass a statement on."""
    return log_name or url.partition("://")[2].rstrip("/")


@click.command("verifier-key")
@auditor_options
def verifier_key(key: Path, name: str) -> None:
    """Print the verifier key of your key, for FAIR_REGISTRY_AUDITORS of a registry.

    NAME is a name of your own, such as your domain.
    """
    click.echo(format_vkey(signer_of(key, name).verifier_key))
