"""Checkpoints: a signed note over a tree's origin, size and root (C2SP tlog-checkpoint)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.errors import Refused
from registry.tlog.canonical_text import format_base64, parse_decimal, parse_hash
from registry.tlog.note import (
    NoteSignature,
    Signer,
    VerifiedSignature,
    VerifierKey,
    format_note,
    sign_text,
    verify_note,
)
from registry.tlog.refusals import CHECKPOINT_MALFORMED, NOTE_UNSIGNED, WRONG_ORIGIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """size: 0..2**63-1; root: 32 bytes; extensions: opaque lines, not audited."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCheckpoint:
    """A checkpoint signed by its log. cosignatures: those by the given witness keys."""

    checkpoint: Checkpoint
    cosignatures: tuple[VerifiedSignature, ...] = ()


def format_checkpoint(checkpoint: Checkpoint) -> str:
    """Return the text to sign."""
    lines = (
        checkpoint.origin,
        str(checkpoint.size),
        format_base64(checkpoint.root),
        *checkpoint.extensions,
    )
    return "".join(f"{line}\n" for line in lines)


def parse_checkpoint(text: str) -> Checkpoint:
    """Parse the text of a verified note. Raises: Refused."""
    lines = text.removesuffix("\n").split("\n")
    if not text.endswith("\n") or len(lines) < 3 or not all(lines):
        raise Refused(CHECKPOINT_MALFORMED, "fewer than three lines, or an empty one")
    return Checkpoint(
        origin=lines[0],
        size=parse_decimal(lines[1], CHECKPOINT_MALFORMED),
        root=parse_hash(lines[2], CHECKPOINT_MALFORMED),
        extensions=tuple(lines[3:]),
    )


def sign_checkpoint(
    checkpoint: Checkpoint, signer: Signer, cosignatures: Iterable[NoteSignature] = ()
) -> bytes:
    """Return the note to serve. cosignatures: of this very checkpoint."""
    text = format_checkpoint(checkpoint)
    return format_note(text, [sign_text(text, signer), *cosignatures])


def verify_by_any(data: bytes, log_keys: Sequence[VerifierKey]) -> Checkpoint:
    """Return the checkpoint if one of a log's keys has signed it. Raises: as `verify_checkpoint`."""
    checkpoint = parse_checkpoint(verify_note(data, log_keys).text)
    if checkpoint.origin != log_keys[0].name:
        raise Refused(WRONG_ORIGIN, f"the origin is not {log_keys[0].name}")
    return checkpoint


def verify_checkpoint(
    data: bytes, log_key: VerifierKey, witness_keys: Iterable[VerifierKey] = ()
) -> VerifiedCheckpoint:
    """Return the checkpoint if the log itself signed it, with its own name as the origin.

    A quorum of witnesses is the caller's policy: count the cosignatures.
    Raises: Refused, TooLarge.
    """
    note = verify_note(data, [log_key, *witness_keys])
    cosignatures = tuple(s for s in note.signatures if s.key != log_key)
    if len(cosignatures) == len(note.signatures):
        raise Refused(NOTE_UNSIGNED, "witnesses signed the checkpoint, the log did not")
    checkpoint = parse_checkpoint(note.text)
    if checkpoint.origin != log_key.name:
        raise Refused(WRONG_ORIGIN, f"the origin is not {log_key.name}")
    return VerifiedCheckpoint(checkpoint=checkpoint, cosignatures=cosignatures)
