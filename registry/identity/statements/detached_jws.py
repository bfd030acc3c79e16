"""Signatures of files: a compact JWS without its payload (RFC 7515, appendix F).

The file is the payload, byte for byte. Any JOSE library reads it once the file, in
base64url, is put back between the two dots.
"""

import json

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.private_keys import PrivateKey, public_key_of, sign
from registry.identity.keys.public_keys import PublicKey, verify_signature
from registry.identity.refusals import (
    SIGNATURE_INVALID,
    TOKEN_MALFORMED,
    TOKEN_TOO_LARGE,
)
from registry.identity.statements.jws import decode_part

REPORT_TYP = "fairness-report+jws"
LABELS_TYP = "fairness-labels+jws"
EXPOSURE_TYP = "fairness-exposure+jws"
HEADER = "X-JWS-Signature"
MAX_SIGNATURE_BYTES = 1024
_PART_COUNT = 3
_FIX = (
    "File and signature do not belong together, or one was changed: fetch both again from "
    "the same answer, byte for byte, and check whose key it should be."
)


def sign_detached(payload: bytes, key: PrivateKey, *, typ: str) -> str:
    header = _header(public_key_of(key), typ)
    signature = sign(key, _signing_input(header, payload))
    return f"{header}..{base64url.encode(signature)}"


def verify_detached(token: bytes, payload: bytes, key: PublicKey, *, typ: str) -> None:
    """Verify that the key signed the payload as a file of this type.

    The header must equal, byte for byte, the one that `sign_detached` writes for this
    key and type, so no member of it needs parsing. Raises: Refused.
    """
    if len(token) > MAX_SIGNATURE_BYTES:
        raise Refused(TOKEN_TOO_LARGE, f"The signature has {len(token)} bytes.")
    header, signature = _split(token)
    if header != _header(key, typ):
        detail = f"The header is not that of the key {key.kid} and the type {typ!r}."
        raise Refused(TOKEN_MALFORMED, detail, pointer="/protected")
    detail = "The file is not what this key signed."
    with Refused.on(Refused, SIGNATURE_INVALID, detail, fix=_FIX):
        verify_signature(key, _signing_input(header, payload), signature)


def _split(token: bytes) -> tuple[str, bytes]:
    with Refused.on(ValueError, TOKEN_MALFORMED, "The signature is not ASCII."):
        parts = token.decode("ascii").split(".")
    if len(parts) != _PART_COUNT or parts[1]:
        detail = "A detached signature is a header, two dots and a signature."
        raise Refused(TOKEN_MALFORMED, detail)
    return parts[0], decode_part("signature", parts[2])


def _header(key: PublicKey, typ: str) -> str:
    members = {"alg": key.alg, "kid": key.kid, "typ": typ}
    return base64url.encode(json.dumps(members, separators=(",", ":")).encode())


def _signing_input(header: str, payload: bytes) -> bytes:
    return f"{header}.{base64url.encode(payload)}".encode("ascii")
