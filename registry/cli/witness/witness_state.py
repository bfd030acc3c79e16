"""State of a witness: its key, and of each log the keys trusted and what it cosigned last.

They lie in one folder, so that a witness that has lost its memory has lost its key too,
and comes back as another witness. A damaged file stops it: to start such a log from
the beginning would let a second history be cosigned.
"""

import fcntl
import os
from hashlib import sha256
from pathlib import Path
from typing import Literal

import click
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.durable_file import replace_durably
from registry.errors import RegistryError
from registry.identity.keys.private_keys import private_key_pem
from registry.terminal.key_files import load_key
from registry.tlog.checkpoint import Checkpoint, parse_checkpoint
from registry.tlog.note import (
    NoteAlgorithm,
    Signer,
    VerifierKey,
    format_vkey,
    parse_vkey,
    verify_note,
)

_KEY, _VKEY, _LOGS, _LOCK = "witness.pem", "witness.vkey", "logs", "lock"


class WitnessedLog(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A log. keys: verifier keys, the newest last. note: the checkpoint cosigned last.

    url: of the registry that named its key.
    """

    version: Literal[1] = 1
    keys: list[str]
    url: str = ""
    note: str = ""

    @property
    def verifier_keys(self) -> tuple[VerifierKey, ...]:
        """Raises: RegistryError."""
        return tuple(map(parse_vkey, self.keys))

    @property
    def origin(self) -> str:
        return self.verifier_keys[0].name

    @property
    def cosigned(self) -> Checkpoint | None:
        """The checkpoint of the note, verified again. Raises: RegistryError."""
        if not self.note:
            return None
        note = verify_note(self.note.encode(), self.verifier_keys)
        return parse_checkpoint(note.text)


class WitnessState:
    """The folder, and the logs in it by their origin."""

    def __init__(self, folder: Path, name: str | None) -> None:
        """name: of the witness, for life. Raises: click.ClickException, OSError."""
        self._folder = folder
        (folder / _LOGS).mkdir(mode=0o700, parents=True, exist_ok=True)
        self.signer = _signer(folder, name)
        self._lock = _lock(folder / _LOCK)
        files = (folder / _LOGS).glob("*.json")
        self.logs = {log.origin: log for log in map(_load, files)}

    @property
    def vkey(self) -> str:
        return format_vkey(self.signer.verifier_key)

    def close(self) -> None:
        """Release the folder for another process."""
        os.close(self._lock)

    def save(self, log: WitnessedLog) -> None:
        """Store durably, before the caller answers. Raises: OSError."""
        name = sha256(log.origin.encode()).hexdigest()[:32]
        replace_durably(self._folder / _LOGS / f"{name}.json", msgspec.json.encode(log))
        self.logs[log.origin] = log


def _load(path: Path) -> WitnessedLog:
    """Raises: click.ClickException."""
    try:
        log = msgspec.json.decode(path.read_bytes(), type=WitnessedLog)
        (log.origin, log.cosigned)  # noqa: B018 — they must be what they are taken for
    except (msgspec.MsgspecError, RegistryError, IndexError) as error:
        raise click.ClickException(
            f"{path} is damaged ({error}); restore its newest copy, or begin as another "
            "witness with another --data"
        ) from error
    return log


def _signer(folder: Path, name: str | None) -> Signer:
    """Raises: click.ClickException."""
    vkey = folder / _VKEY
    if not vkey.exists():
        if name is None:
            raise click.ClickException(
                "a new witness needs a --name, such as its domain"
            )
        _create_key(folder, name)
    known = parse_vkey(vkey.read_text().strip())
    if name not in {None, known.name}:
        raise click.ClickException(f"this witness is named {known.name} for life")
    private = load_key(folder / _KEY)
    if not isinstance(private, Ed25519PrivateKey):
        raise click.ClickException(f"{folder / _KEY} holds no Ed25519 key")
    signer = Signer(name=known.name, algorithm=known.algorithm, private=private)
    if signer.verifier_key != known:
        raise click.ClickException(f"{vkey} is of another key than {folder / _KEY}")
    return signer


def _create_key(folder: Path, name: str) -> None:
    """Create the key, and last the file that says that there is one."""
    private = Ed25519PrivateKey.generate()
    algorithm = NoteAlgorithm.COSIGNATURE_V1
    try:
        signer = Signer(name=name, algorithm=algorithm, private=private)
        vkey = format_vkey(signer.verifier_key)
    except RegistryError as refused:
        raise click.ClickException(refused.problem.detail) from refused
    replace_durably(folder / _KEY, private_key_pem(private))
    replace_durably(folder / _VKEY, vkey.encode() + b"\n")


def _lock(path: Path) -> int:
    """Lock for the life of this process. Raises: click.ClickException."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        detail = f"another witness runs on {path.parent}"
        raise click.ClickException(detail) from error
    return handle
