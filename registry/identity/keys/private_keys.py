"""The signer's side: keys of site owners who use our tools, and of the demo.

The registry never asks for a site's private key; nothing here is reached by a request.
"""

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
)
from cryptography.hazmat.primitives.asymmetric.ec import (
    generate_private_key as generate_ec_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from registry.errors import Refused
from registry.identity.keys.public_keys import Algorithm, PublicKey
from registry.identity.refusals import PRIVATE_KEY_UNREADABLE

PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey


def generate_private_key(alg: Algorithm) -> PrivateKey:
    if alg == "Ed25519":
        return Ed25519PrivateKey.generate()
    return generate_ec_key(SECP256R1())


def load_private_key(pem: bytes) -> PrivateKey:
    """Load an unencrypted PEM file, as `openssl genpkey` writes it. Raises: Refused."""
    with Refused.on(
        (ValueError, TypeError, UnsupportedAlgorithm), PRIVATE_KEY_UNREADABLE
    ):
        key = load_pem_private_key(pem, password=None)
    if isinstance(key, Ed25519PrivateKey):
        return key
    if isinstance(key, EllipticCurvePrivateKey) and isinstance(key.curve, SECP256R1):
        return key
    raise Refused(PRIVATE_KEY_UNREADABLE, "It is a key of another type.")


def private_key_pem(key: PrivateKey) -> bytes:
    """Encode as unencrypted PKCS #8: a reader of the file can sign for the site."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def public_key_of(key: PrivateKey) -> PublicKey:
    if isinstance(key, Ed25519PrivateKey):
        return PublicKey(alg="Ed25519", raw=key.public_key().public_bytes_raw())
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return PublicKey(alg="ES256", raw=point)


def sign(key: PrivateKey, message: bytes) -> bytes:
    """Return 64 bytes: R ‖ S for Ed25519, r ‖ s for ES256 (RFC 7518 §3.4)."""
    if isinstance(key, Ed25519PrivateKey):
        return key.sign(message)
    r, s = decode_dss_signature(key.sign(message, ECDSA(SHA256())))
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")
