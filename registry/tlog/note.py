"""C2SP signed notes: a text, a blank line, and lines by keys that signed the text.

Algorithms: Ed25519 (0x01) over the text, and the witness's cosignature/v1 (0x04) over a
time and the text. A note proves nothing until the signature of a trusted key is
verified: `parse_note` only parses, `verify_note` verifies.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from registry.ed25519_points import point_fault
from registry.errors import Refused, TooLarge
from registry.tlog import refusals
from registry.tlog.canonical_text import MAX_INT64, format_base64, parse_base64

MAX_NOTE_BYTES = 512 * 1024  # dozens of post-quantum signatures, 5 kB each
MAX_SIGNATURES = 64  # the specification asks for 16 at least
KEY_ID_BYTES = 4
ED25519_KEY_BYTES = 32

_DASH = "\u2014 "
_TIME_BYTES = 8


class NoteAlgorithm(IntEnum):
    ED25519 = 0x01
    COSIGNATURE_V1 = 0x04


_SIGNATURE_BYTES = {
    NoteAlgorithm.ED25519: 64,
    NoteAlgorithm.COSIGNATURE_V1: _TIME_BYTES + 64,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierKey:
    """A public key of 32 bytes (RFC 8032) with its name. Raises: Refused on a bad name."""

    name: str
    algorithm: NoteAlgorithm
    public: bytes

    def __post_init__(self) -> None:
        if not _is_key_name(self.name):
            raise Refused(
                refusals.NOTE_KEY_MALFORMED, "a key name has no spaces and no plus"
            )
        if len(self.public) != ED25519_KEY_BYTES:
            raise Refused(
                refusals.NOTE_KEY_MALFORMED, "an Ed25519 public key has 32 bytes"
            )

    @property
    def key_id(self) -> bytes:
        """SHA-256(name, newline, algorithm, public key), its first four bytes."""
        named = self.name.encode() + b"\n" + _typed(self)
        return sha256(named).digest()[:KEY_ID_BYTES]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """A private key under the name and algorithm with which it signs notes."""

    name: str
    algorithm: NoteAlgorithm
    private: Ed25519PrivateKey

    @property
    def verifier_key(self) -> VerifierKey:
        public = self.private.public_key().public_bytes_raw()
        return VerifierKey(name=self.name, algorithm=self.algorithm, public=public)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteSignature:
    """An unverified signature line. signature: the bytes behind the key id."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """An unverified note. text: ends in a newline."""

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedSignature:
    """A valid signature. cosigned_unix_s: the witness's time, None for the log's own."""

    key: VerifierKey
    cosigned_unix_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedNote:
    """A note with at least one signature by a trusted key, in the order of the note."""

    text: str
    signatures: tuple[VerifiedSignature, ...]


def format_vkey(key: VerifierKey) -> str:
    return f"{key.name}+{key.key_id.hex()}+{format_base64(_typed(key))}"


def parse_vkey(text: str) -> VerifierKey:
    """Parse a verifier key. Raises: Refused, also for a key id of another key."""
    parts = text.split("+", 2)
    if len(parts) != 3:
        raise Refused(refusals.NOTE_KEY_MALFORMED, "a verifier key has three parts")
    typed = parse_base64(parts[2], refusals.NOTE_KEY_MALFORMED)
    if typed[:1] not in {bytes([algorithm]) for algorithm in NoteAlgorithm}:
        raise Refused(refusals.NOTE_KEY_MALFORMED, "neither Ed25519 nor cosignature/v1")
    key = VerifierKey(
        name=parts[0], algorithm=NoteAlgorithm(typed[0]), public=typed[1:]
    )
    if key.key_id.hex() != parts[1]:
        raise Refused(
            refusals.NOTE_KEY_MALFORMED, "the key id does not belong to the key"
        )
    fault = point_fault(key.public)
    if fault is not None:  # anybody can sign under some of these
        raise Refused(refusals.NOTE_KEY_MALFORMED, f"the public key is {fault}")
    return key


def sign_text(text: str, signer: Signer) -> NoteSignature:
    """Sign the text with Ed25519 (0x01)."""
    if signer.algorithm is not NoteAlgorithm.ED25519:
        raise ValueError("a witness's key cosigns, at a time")
    return _line(signer, signer.private.sign(text.encode()))


def cosign_text(text: str, signer: Signer, unix_s: int) -> NoteSignature:
    """Sign a cosignature/v1 (0x04): the signer saw the text at that time."""
    if signer.algorithm is not NoteAlgorithm.COSIGNATURE_V1:
        raise ValueError("a log's key signs, without a time")
    signature = signer.private.sign(_cosigned(text, unix_s))
    return _line(signer, unix_s.to_bytes(_TIME_BYTES, "big") + signature)


def format_note(text: str, signatures: Sequence[NoteSignature]) -> bytes:
    """Format a note. text: must end in a newline; signatures: at least one."""
    lines = "".join(
        f"{_DASH}{line.name} {format_base64(line.key_id + line.signature)}\n"
        for line in signatures
    )
    return f"{text}\n{lines}".encode()


def parse_note(data: bytes) -> Note:
    """Parse a note without verifying it. Raises: Refused, TooLarge."""
    if len(data) > MAX_NOTE_BYTES:
        raise TooLarge(refusals.NOTE_TOO_LARGE, f"over {MAX_NOTE_BYTES} bytes")
    text, blank, tail = _decode(data).rpartition("\n\n")
    if not blank or not tail.endswith("\n"):
        raise Refused(refusals.NOTE_MALFORMED, "no signature lines after a blank line")
    lines = tail[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise TooLarge(refusals.NOTE_TOO_LARGE, f"over {MAX_SIGNATURES} signatures")
    return Note(text=text + "\n", signatures=tuple(map(_parse_line, lines)))


def verify_note(data: bytes, keys: Iterable[VerifierKey]) -> VerifiedNote:
    """Verify a note's signatures by these keys; lines by other keys are ignored.

    Raises: Refused if a line of one of these keys fails, or if there is none.
    """
    known = {(key.name, key.key_id): key for key in keys}
    note = parse_note(data)
    verified: dict[VerifierKey, VerifiedSignature] = {}
    for line in note.signatures:
        key = known.get((line.name, line.key_id))
        if key is not None:
            verified.setdefault(key, _verify(key, note.text, line.signature))
    if not verified:
        raise Refused(refusals.NOTE_UNSIGNED)
    return VerifiedNote(text=note.text, signatures=tuple(verified.values()))


def _typed(key: VerifierKey) -> bytes:
    return bytes([key.algorithm]) + key.public


def _verify(key: VerifierKey, text: str, signature: bytes) -> VerifiedSignature:
    if len(signature) != _SIGNATURE_BYTES[key.algorithm]:
        raise Refused(refusals.NOTE_SIGNATURE_INVALID, f"{key.name}: wrong length")
    message, cosigned_unix_s = text.encode(), None
    if key.algorithm is NoteAlgorithm.COSIGNATURE_V1:
        cosigned_unix_s = int.from_bytes(signature[:_TIME_BYTES], "big")
        signature = signature[_TIME_BYTES:]
        message = _cosigned(text, cosigned_unix_s)
    detail = f"{key.name} did not sign this"
    with Refused.on(InvalidSignature, refusals.NOTE_SIGNATURE_INVALID, detail):
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
    return VerifiedSignature(key=key, cosigned_unix_s=cosigned_unix_s)


def _cosigned(text: str, unix_s: int) -> bytes:
    if unix_s > MAX_INT64:
        raise Refused(
            refusals.NOTE_SIGNATURE_INVALID, "a cosignature's time is below 2**63"
        )
    return f"cosignature/v1\ntime {unix_s}\n{text}".encode()


def _line(signer: Signer, signature: bytes) -> NoteSignature:
    key_id = signer.verifier_key.key_id
    return NoteSignature(name=signer.name, key_id=key_id, signature=signature)


def _decode(data: bytes) -> str:
    with Refused.on(UnicodeDecodeError, refusals.NOTE_MALFORMED, "not UTF-8"):
        text = data.decode()
    if any(character < " " and character != "\n" for character in text):
        raise Refused(refusals.NOTE_MALFORMED, "control characters other than newline")
    return text


def _parse_line(line: str) -> NoteSignature:
    parts = line.removeprefix(_DASH).split(" ")
    if not line.startswith(_DASH) or len(parts) != 2 or not _is_key_name(parts[0]):
        raise Refused(
            refusals.NOTE_MALFORMED, "a signature line is: em dash, name, base64"
        )
    data = parse_base64(parts[1], refusals.NOTE_MALFORMED)
    if len(data) <= KEY_ID_BYTES:
        raise Refused(refusals.NOTE_MALFORMED, "a signature line without a signature")
    return NoteSignature(
        name=parts[0], key_id=data[:KEY_ID_BYTES], signature=data[KEY_ID_BYTES:]
    )


def _is_key_name(name: str) -> bool:
    forbidden = any(
        character.isspace() or character < " " or character == "+" for character in name
    )
    return bool(name) and not forbidden
