"""Public keys, their names, and verification of signatures.

Owns the two signature algorithms of the registry, Ed25519 (RFC 8032, RFC 8037) and ES256
(RFC 7518 §3.4), and the names of keys: the RFC 7638 thumbprint and WAB's `key_id`.
"""

import base64
import hashlib
import json
from dataclasses import dataclass
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from registry.ed25519_points import L, point_fault
from registry.errors import Refused
from registry.identity import base64url, refusals

Algorithm = Literal["Ed25519", "ES256"]

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_SIGNATURE_BYTES = 64
_RAW_BYTES: dict[Algorithm, int] = {"Ed25519": 32, "ES256": 65}
_UNCOMPRESSED = b"\x04"
_DER_SEQUENCE = 0x30
_KEY_ID_LENGTH = 16
_FAULTS = {
    "not canonical": refusals.KEY_NOT_CANONICAL,
    "of small order": refusals.KEY_SMALL_ORDER,
    "not on the curve": refusals.KEY_NOT_ON_CURVE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A valid key; construction raises Refused for any other.

    raw: Ed25519, the 32 bytes of RFC 8032 §5.1.2; ES256, the 65 bytes 04 ‖ x ‖ y of a
    P-256 point (SEC 1 §2.3.3).
    """

    alg: Algorithm
    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != _RAW_BYTES[self.alg]:
            detail = (
                f"{self.alg} needs {_RAW_BYTES[self.alg]} bytes, not {len(self.raw)}."
            )
            raise Refused(refusals.KEY_MALFORMED, detail)
        if self.alg == "Ed25519":
            _verify_ed25519_point(self.raw)
        else:
            _load_p256_point(self.raw)

    @property
    def jwk(self) -> dict[str, str]:
        """The members that RFC 7638 hashes, in its order."""
        if self.alg == "Ed25519":
            return {"crv": "Ed25519", "kty": "OKP", "x": base64url.encode(self.raw)}
        x, y = self.raw[1:33], self.raw[33:]
        return {
            "crv": "P-256",
            "kty": "EC",
            "x": base64url.encode(x),
            "y": base64url.encode(y),
        }

    @property
    def kid(self) -> str:
        """RFC 7638 SHA-256 thumbprint, base64url: 43 characters."""
        canonical = json.dumps(self.jwk, separators=(",", ":"), sort_keys=True)
        return base64url.encode(hashlib.sha256(canonical.encode()).digest())


def parse_thumbprint(text: str) -> str:
    """Check the form of a `kid` and return it. Raises: ValueError."""
    base64url.decode_exactly(text, hashlib.sha256().digest_size)
    return text


def wab_key_id(raw: bytes) -> str:
    """Return the `key_id` of WAB documents. raw: the 32 bytes of an Ed25519 key."""
    digest = hashlib.sha256(raw).digest()
    return base64.b64encode(digest).decode("ascii")[:_KEY_ID_LENGTH]


def verify_signature(key: PublicKey, message: bytes, signature: bytes) -> None:
    """Verify a signature of 64 bytes, R ‖ S or r ‖ s.

    A valid ES256 signature has a valid twin (r, n - s): never tell messages apart by
    their signatures. Raises: Refused(SIGNATURE_INVALID).
    """
    if len(signature) != _SIGNATURE_BYTES:
        raise Refused(refusals.SIGNATURE_INVALID, _describe_length(key, signature))
    with Refused.on(InvalidSignature, refusals.SIGNATURE_INVALID):
        if key.alg == "Ed25519":
            _verify_ed25519(key.raw, message, signature)
        else:
            _verify_es256(key.raw, message, signature)


def _describe_length(key: PublicKey, signature: bytes) -> str:
    if key.alg == "ES256" and signature[:1] == bytes([_DER_SEQUENCE]):
        return (
            "The signature is in the DER form that openssl writes; "
            "ES256 here is r and s, 32 bytes each, one after the other."
        )
    return f"The signature has {len(signature)} bytes, not {_SIGNATURE_BYTES}."


def _verify_ed25519(raw: bytes, message: bytes, signature: bytes) -> None:
    # S + L would be a second signature of the same message (RFC 8032 §8.4).
    if int.from_bytes(signature[32:], "little") >= L:
        raise InvalidSignature
    Ed25519PublicKey.from_public_bytes(raw).verify(signature, message)


def _verify_es256(raw: bytes, message: bytes, signature: bytes) -> None:
    r = int.from_bytes(signature[:32], "big")
    s = int.from_bytes(signature[32:], "big")
    if not (0 < r < P256_ORDER and 0 < s < P256_ORDER):
        raise InvalidSignature
    der = encode_dss_signature(r, s)
    _load_p256_point(raw).verify(der, message, ECDSA(SHA256()))


def _verify_ed25519_point(raw: bytes) -> None:
    fault = point_fault(raw)
    if fault is not None:
        raise Refused(_FAULTS[fault])


def _load_p256_point(raw: bytes) -> EllipticCurvePublicKey:
    if raw[:1] != _UNCOMPRESSED:
        raise Refused(refusals.KEY_MALFORMED, "A P-256 key is given by both x and y.")
    with Refused.on(ValueError, refusals.KEY_NOT_ON_CURVE):
        return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), raw)
