"""The registry's own secrets: files that only its user can read.

* `log.pem` signs checkpoints; only the publisher reads it.
* `promise.pem` signs the promise in each answer and each report; the web processes and
  the reporter read it.
* `web.key` is 32 random bytes behind cursors and ranking receipts.
* `bot.pem` signs the crawler's requests, and the directory that names its public half;
  crawler and web processes read it where the crawler signs at all.

* `log-retiring.pem`, while the log's key is being replaced, signs beside its successor
  until it is deleted.

The public halves of the first two are stored beside them as C2SP verifier keys (`.vkey`);
`log-former.vkey` has those of all earlier keys of the log, one a line.
"""

import secrets
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from registry.durable_file import replace_durably
from registry.identity.keys.private_keys import private_key_pem
from registry.identity.requests.web_bot_auth import Draft, SignatureAgent
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

LOG, PROMISE, BOT = "log", "promise", "bot"
RETIRING = "log-retiring"
FORMER_KEYS = "log-former.vkey"
WEB_KEY_BYTES = 32


class LogRenamed(ValueError):
    """The keys are those of a log of another name, which it has for life."""

    def __init__(self, name: str, other: str) -> None:
        super().__init__(
            f"the log is named {name} for life, and would be {other} by the settings: "
            "its keys and all that is signed would be another registry's. Set "
            f"FAIR_REGISTRY_LOG_NAME={name} if the registry has moved to another "
            "address, or put FAIR_REGISTRY_PUBLIC_URL back; a new log begins with "
            "another FAIR_REGISTRY_DATA and an empty database."
        )


def load_log_name(folder: Path) -> str | None:
    """Load the name that the log has for life, None before it has one."""
    path = folder / f"{LOG}.vkey"
    return load_vkey(folder, LOG).partition("+")[0] if path.exists() else None


def create_keyring(folder: Path, origin: str) -> None:
    """Create missing files. origin: the log's name, part of its verifier key.

    Raises: LogRenamed.
    """
    name = load_log_name(folder)
    if name not in {None, origin}:
        raise LogRenamed(str(name), origin)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for purpose in (LOG, PROMISE, BOT):
        path = folder / f"{purpose}.pem"
        if not path.exists():
            replace_durably(path, private_key_pem(Ed25519PrivateKey.generate()))
    for purpose in (LOG, PROMISE):
        vkey = format_vkey(load_signer(folder, purpose, origin).verifier_key)
        (folder / f"{purpose}.vkey").write_text(vkey + "\n")
    if not (folder / "web.key").exists():
        replace_durably(folder / "web.key", secrets.token_bytes(WEB_KEY_BYTES))


def rotate_log_key(folder: Path, origin: str) -> None:
    """Give the log a new key; the former one goes on signing beside it.

    Clients that trust the old key alone can follow the log until `log-retiring.pem` is
    deleted. Call it while no publisher runs; `create_keyring` completes a killed call.
    Raises: FileExistsError while an earlier rotation has not ended.
    """
    retiring = folder / f"{RETIRING}.pem"
    if retiring.exists():
        raise FileExistsError(f"{retiring} is still in use: delete it first")
    former = load_vkey(folder, LOG)
    if former not in load_former_vkeys(folder):
        with (folder / FORMER_KEYS).open("a") as file:
            file.write(former + "\n")
    (folder / f"{LOG}.pem").rename(retiring)
    create_keyring(folder, origin)


def load_retiring_signer(folder: Path, origin: str) -> Signer | None:
    """Load the key that is being replaced, None if there is none."""
    if not (folder / f"{RETIRING}.pem").exists():
        return None
    key = _load_key(folder, RETIRING)
    return Signer(name=origin, algorithm=NoteAlgorithm.ED25519, private=key)


def load_former_vkeys(folder: Path) -> tuple[str, ...]:
    """Load the verifier keys of the log's earlier keys, the oldest first."""
    path = folder / FORMER_KEYS
    return tuple(path.read_text().split()) if path.exists() else ()


def load_signer(folder: Path, purpose: str, origin: str) -> Signer:
    """Load a signing key. Raises: TypeError if the file holds no Ed25519 key."""
    name = origin if purpose == LOG else f"{origin}/{purpose}"
    key = _load_key(folder, purpose)
    return Signer(name=name, algorithm=NoteAlgorithm.ED25519, private=key)


def load_signature_agent(folder: Path, public_url: str, draft: str) -> SignatureAgent:
    """Load the crawler's signer. Raises: TypeError if the file holds no Ed25519 key."""
    key = _load_key(folder, BOT)
    return SignatureAgent(origin=public_url, key=key, draft=Draft(draft))


def load_vkey(folder: Path, purpose: str) -> str:
    return (folder / f"{purpose}.vkey").read_text().strip()


def load_web_key(folder: Path) -> bytes:
    return (folder / "web.key").read_bytes()


def _load_key(folder: Path, purpose: str) -> Ed25519PrivateKey:
    key = load_pem_private_key((folder / f"{purpose}.pem").read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise TypeError(f"{purpose}.pem must hold an Ed25519 key")
    return key
