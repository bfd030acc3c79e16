"""The witness's side of `add-checkpoint` (C2SP tlog-witness): which checkpoints it cosigns.

Without I/O. Who calls `judge_checkpoint` stores what it returns, durably and with nothing
in between, before the cosignature leaves: else two requests could have two histories
cosigned.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import Conflict, Refused
from registry.tlog import refusals
from registry.tlog.canonical_text import parse_decimal, parse_hash
from registry.tlog.checkpoint import Checkpoint, parse_checkpoint
from registry.tlog.merkle import EMPTY_ROOT, verify_consistency
from registry.tlog.note import VerifierKey, parse_note, verify_note
from registry.tlog.proof import MAX_PROOF_HASHES
from registry.tlog.refusals import ProofInvalid

_OLD = "old "


@dataclass(frozen=True, slots=True, kw_only=True)
class AddCheckpoint:
    """A request. note: the signed checkpoint; origin: as it claims, unverified."""

    old_size: int
    proof: tuple[bytes, ...]
    note: bytes
    origin: str


class SizeConflict(Conflict):
    """The log's last cosigned checkpoint, of this size, is not where the proof begins."""

    def __init__(self, size: int, detail: str) -> None:
        super().__init__(refusals.WITNESS_CONFLICT, detail)
        self.size = size


def parse_add_checkpoint(body: bytes) -> AddCheckpoint:
    """Parse a request without verifying it. Raises: Refused, TooLarge."""
    head, blank, note = body.partition(b"\n\n")
    if not blank or not head.isascii():
        raise Refused(
            refusals.WITNESS_REQUEST_MALFORMED, "no blank line before the checkpoint"
        )
    first, *lines = head.decode("ascii").split("\n")
    if not first.startswith(_OLD):
        raise Refused(
            refusals.WITNESS_REQUEST_MALFORMED, "the first line is old and a size"
        )
    if len(lines) > MAX_PROOF_HASHES:
        raise Refused(
            refusals.WITNESS_REQUEST_MALFORMED, f"over {MAX_PROOF_HASHES} hashes"
        )
    return AddCheckpoint(
        old_size=parse_decimal(
            first.removeprefix(_OLD), refusals.WITNESS_REQUEST_MALFORMED
        ),
        proof=tuple(
            parse_hash(line, refusals.WITNESS_REQUEST_MALFORMED) for line in lines
        ),
        note=note,
        origin=parse_checkpoint(parse_note(note).text).origin,
    )


def judge_checkpoint(
    request: AddCheckpoint, keys: Sequence[VerifierKey], cosigned: Checkpoint | None
) -> Checkpoint:
    """Return the checkpoint if a witness that last cosigned `cosigned` may cosign it.

    keys: of the log that the request names, any of which must have signed. Raises:
    Refused: NOTE_UNSIGNED, NOTE_SIGNATURE_INVALID, WITNESS_REQUEST_MALFORMED; SizeConflict;
    ProofInvalid.
    """
    new = parse_checkpoint(verify_note(request.note, keys).text)
    if request.old_size > new.size:
        raise Refused(
            refusals.WITNESS_REQUEST_MALFORMED, "the old size is above the new one"
        )
    known = cosigned or Checkpoint(origin=new.origin, size=0, root=EMPTY_ROOT)
    if request.old_size != known.size:
        raise SizeConflict(known.size, f"the last size cosigned is {known.size}")
    if new.size == known.size and new.root != known.root:
        raise SizeConflict(known.size, "another tree of this size is cosigned")
    if request.old_size in {0, new.size}:
        if request.proof:
            raise ProofInvalid("a proof from size 0 or between equal sizes is empty")
        return new
    verify_consistency(
        request.proof,
        old_size=known.size,
        new_size=new.size,
        old_root=known.root,
        new_root=new.root,
    )
    return new
