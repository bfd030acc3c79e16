"""Signatures of auditors' statements: an Ed25519 signature by the key it names.

The auditor signs a line that names the kind of statement, and then the canonical JSON of
its members. Who is known as an auditor is decided elsewhere; this says only that the
named key signed.
"""

from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from registry.errors import ProblemType, Refused
from registry.identity import base64url
from registry.records.canonical import JsonValue, canonical_json
from registry.tlog.note import parse_vkey


def statement_of(kind: str, members: Mapping[str, JsonValue]) -> bytes:
    """The bytes that are signed. kind: such as `rescore`."""
    return f"fair-registry/{kind}/v1\n".encode() + canonical_json(members)


def parse_signature(text: str, problem: ProblemType) -> bytes:
    """Raises: Refused, with this problem."""
    try:
        return base64url.decode(text)
    except ValueError as exc:
        raise Refused(problem, "sig is not base64url") from exc


def verify_auditor(
    auditor: str, statement: bytes, signature: bytes, problem: ProblemType
) -> None:
    """auditor: a C2SP verifier key. Raises: Refused, with this problem or the key's."""
    public = Ed25519PublicKey.from_public_bytes(parse_vkey(auditor).public)
    try:
        public.verify(signature, statement)
    except InvalidSignature as exc:
        raise Refused(problem) from exc
