"""Private keys of the command's user: the folder that they lie in, and reading them.

The folder is outside any project, so that no key lands in a repository or a web root
because a command ran there.
"""

import os
import stat
from pathlib import Path

import click

from registry.errors import RegistryError
from registry.identity.keys.private_keys import PrivateKey, load_private_key
from registry.terminal.output import errors
from registry.terminal.styled import escape

KEY_FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER_SHOWN = "~/.config/fair-registry/keys"


def key_file(name: str) -> Path:
    """Return the file of the key of that name, in $XDG_CONFIG_HOME/fair-registry/keys.

    Raises: click.UsageError if the name leads out of the folder.
    """
    if Path(name).name != name:
        raise click.UsageError(f"{name} is no name of a key; use --out for a path")
    return Path(click.get_app_dir("fair-registry")) / "keys" / f"{name}.pem"


def save_key(file: Path, pem: bytes) -> None:
    """Write a new file that only its user can read. Raises: click.ClickException."""
    if file.parent == key_file("any").parent:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise click.ClickException(f"{file} exists; it is not overwritten") from error
    with os.fdopen(handle, "wb") as opened:
        opened.write(pem)


def load_key(file: Path) -> PrivateKey:
    """Load a PEM file; one that others can read is warned of. Raises: click.ClickException."""
    try:
        with file.open("rb") as opened:
            mode = stat.S_IMODE(os.fstat(opened.fileno()).st_mode)
            key = load_private_key(opened.read())
    except FileNotFoundError as error:
        sentence = f"{file} does not exist; fair-registry keygen makes a key"
        raise click.ClickException(sentence) from error
    except RegistryError as refused:
        raise click.ClickException(f"{file}: {refused.problem.detail}") from refused
    if mode & 0o077:
        errors.print(
            f"[yellow]{escape(str(file))} has mode {mode:04o}: others on this machine "
            f"may use the key.[/] chmod 600 {escape(str(file))}",
            soft_wrap=True,
            highlight=False,
        )
    return key
