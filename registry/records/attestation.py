"""An auditor's attestation: rankings recomputed, and how many came out otherwise.

The auditor signs the members auditor, first, last, n, mismatches, and report where it is
one that was computed again, under the line `fair-registry/rescore/v1`
(`auditor_signature`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.records.auditor_signature import (
    parse_signature,
    statement_of,
    verify_auditor,
)
from registry.records.canonical import JsonValue
from registry.records.refusals import ATTESTATION_INVALID


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """Rankings that an auditor recomputed, and the outcome.

    auditor: a C2SP verifier key. first_index..last_index: the leaves looked at.
    checked_count: rankings among them that could be recomputed. report: `sha256:…` of the
    report's JSON form, if its figures were; mismatch_count then counts them, too.
    """

    auditor: str
    first_index: int
    last_index: int
    checked_count: int
    mismatch_count: int
    report: str | None = None

    @property
    def members(self) -> dict[str, str | int]:
        members: dict[str, str | int] = {
            "auditor": self.auditor,
            "first": self.first_index,
            "last": self.last_index,
            "n": self.checked_count,
            "mismatches": self.mismatch_count,
        }
        return members if self.report is None else {**members, "report": self.report}

    @property
    def statement(self) -> bytes:
        return statement_of("rescore", self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """A rescoring and, not yet verified, its auditor's signature."""

    rescoring: Rescoring
    signature: bytes


def attest(rescoring: Rescoring, private: Ed25519PrivateKey) -> Attestation:
    """private: of the key that the rescoring names as its auditor."""
    signature = private.sign(rescoring.statement)
    return Attestation(rescoring=rescoring, signature=signature)


def parse_attestation(members: Mapping[str, JsonValue]) -> Attestation:
    """members: of a parsed rescore record. Raises: Refused."""
    match members:
        case {
            "auditor": str() as auditor,
            "first": int() as first,
            "last": int() as last,
            "n": int() as checked,
            "mismatches": int() as mismatches,
            "sig": str() as signature,
        }:
            rescoring = Rescoring(
                auditor=auditor,
                first_index=first,
                last_index=last,
                checked_count=checked,
                mismatch_count=mismatches,
                report=None
                if members.get("report") is None
                else str(members["report"]),
            )
        case _:
            raise Refused(ATTESTATION_INVALID, "not a rescore record")
    parsed = parse_signature(signature, ATTESTATION_INVALID)
    return Attestation(rescoring=rescoring, signature=parsed)


def verify_attestation(attestation: Attestation) -> Rescoring:
    """Raises: Refused."""
    rescoring = attestation.rescoring
    verify_auditor(
        rescoring.auditor,
        rescoring.statement,
        attestation.signature,
        ATTESTATION_INVALID,
    )
    return rescoring
