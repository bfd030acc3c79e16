"""Keys that are the same in every process, so that they can stand in a test's name."""

from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.identity.keys.private_keys import PrivateKey
from registry.identity.keys.public_keys import Algorithm


def fixed_key(alg: Algorithm, name: str = "") -> PrivateKey:
    secret = sha256(f"{alg} {name}".encode()).digest()
    if alg == "Ed25519":
        return Ed25519PrivateKey.from_private_bytes(secret)
    return derive_private_key(int.from_bytes(secret[:31], "big"), SECP256R1())
