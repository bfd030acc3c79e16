"""Requests for a witness's cosignature (C2SP tlog-witness and tlog-cosignature).

A witness cosigns a checkpoint only after a proof that it extends the last one that it
cosigned, so a log that shows two histories can not have both of them cosigned. Without
I/O: `format_add_checkpoint` makes the request, `parse_witness_answer` reads the response.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus

from registry.errors import Refused
from registry.tlog.canonical_text import format_base64, parse_decimal
from registry.tlog.note import (
    NoteAlgorithm,
    VerifierKey,
    format_note,
    parse_note,
    parse_vkey,
    verify_note,
)
from registry.tlog.refusals import WITNESS_ANSWER_INVALID, WITNESS_MALFORMED

SIZE_TYPE = "text/x.tlog.size"
MAX_ANSWER_BYTES = 16 * 1024
MAX_WITNESSES = 15  # with the log's own signature as many as every client must accept

_CALL = "/add-checkpoint"
_YEAR_10000_S = 253_402_300_800


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A witness. prefix: the https URL of its interface, without a final slash."""

    key: VerifierKey
    prefix: str

    @property
    def url(self) -> str:
        return self.prefix + _CALL

    @property
    def id(self) -> str:
        """Name and key id: another key is another witness."""
        return f"{self.key.name}+{self.key.key_id.hex()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosigned:
    """A valid cosignature. line: the signature line with its newline."""

    line: str
    unix_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherSize:
    """The size that the witness last cosigned, where the proof has to begin."""

    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Declined:
    """A refusal. status: of HTTP. reason: its meaning in tlog-witness."""

    status: int
    reason: str


WitnessAnswer = Cosigned | OtherSize | Declined

_REASONS: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "it says that the request is malformed",
    HTTPStatus.FORBIDDEN: "it does not trust the key that signed the checkpoint",
    HTTPStatus.NOT_FOUND: "it does not know this log; `witness --follow VKEY` adds it there",
    HTTPStatus.UNPROCESSABLE_ENTITY: "it says that the log does not extend what it saw",
    HTTPStatus.TOO_MANY_REQUESTS: "it receives too many requests",
}


def parse_witness(text: str) -> Witness:
    """Parse a verifier key, a space and an https URL. Raises: Refused."""
    vkey, _, prefix = text.strip().partition(" ")
    key = parse_vkey(vkey)
    if key.algorithm is not NoteAlgorithm.COSIGNATURE_V1:
        raise Refused(WITNESS_MALFORMED, f"{key.name} has no key of cosignature/v1")
    prefix = prefix.strip().rstrip("/")
    if not prefix.startswith("https://") or set(prefix) & set(" ?#"):
        raise Refused(WITNESS_MALFORMED, f"{key.name} has no https URL")
    return Witness(key=key, prefix=prefix)


def format_add_checkpoint(
    old_size: int, proof: Sequence[bytes], checkpoint: bytes
) -> bytes:
    """Return the body of the request.

    old_size: the size that the witness last cosigned, or 0; proof: of consistency from
    there, empty from 0 and from the same size. checkpoint: the note the log signed.
    """
    lines = [f"old {old_size}", *map(format_base64, proof)]
    return "\n".join([*lines, "", ""]).encode() + checkpoint


def parse_witness_answer(
    witness: Witness, checkpoint: bytes, *, status: int, content_type: str, body: bytes
) -> WitnessAnswer:
    """Parse and verify a response. checkpoint: the note that was sent.

    Raises: Refused, TooLarge if the answer is not what a witness may say; a cosignature
    that is not valid is such an answer.
    """
    if status == HTTPStatus.OK:
        return _parse_cosignature(witness, checkpoint, body)
    if status == HTTPStatus.CONFLICT and content_type.strip() == SIZE_TYPE:
        return OtherSize(size=_parse_size(body))
    reason = _REASONS.get(status, f"it answered {status}")
    return Declined(status=status, reason=reason)


def is_fork(answer: WitnessAnswer, old_size: int, new_size: int) -> bool:
    """Return whether a witness denies that the tree extends the one it cosigned.

    old_size: from which it was proven. It says so by 422, and of a tree of the same size
    by 409 with that size.
    """
    if isinstance(answer, Declined):
        return bool(old_size) and answer.status == HTTPStatus.UNPROCESSABLE_ENTITY
    return answer == OtherSize(size=new_size) and old_size == new_size


def _parse_cosignature(witness: Witness, checkpoint: bytes, body: bytes) -> Cosigned:
    text = parse_note(checkpoint).text
    head = f"{text}\n".encode()
    cosigned = parse_note(head + body)
    if cosigned.text != text:
        raise Refused(WITNESS_ANSWER_INVALID, "more than signature lines")
    [verified] = verify_note(head + body, [witness.key]).signatures
    mine = [
        line
        for line in cosigned.signatures
        if (line.name, line.key_id) == (witness.key.name, witness.key.key_id)
    ]
    unix_s = verified.cosigned_unix_s or 0
    if not 0 < unix_s < _YEAR_10000_S:
        raise Refused(WITNESS_ANSWER_INVALID, "the cosignature tells no time")
    line = format_note(text, mine[:1])[len(head) :].decode()
    return Cosigned(line=line, unix_s=unix_s)


def _parse_size(body: bytes) -> int:
    text = body.decode("ascii", "replace")
    if not text.endswith("\n"):
        raise Refused(WITNESS_ANSWER_INVALID, "a size is a line")
    return parse_decimal(text[:-1], WITNESS_ANSWER_INVALID)
