import pytest
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from registry.errors import Refused
from registry.identity.keys.private_keys import (
    generate_private_key,
    load_private_key,
    private_key_pem,
    public_key_of,
)
from registry.identity.keys.public_keys import Algorithm

ENCRYPTED = generate_private_key("Ed25519").private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"password")
)
P384 = ec.generate_private_key(ec.SECP384R1()).private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
)
X25519 = x25519.X25519PrivateKey.generate().private_bytes(
    Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
)


@pytest.mark.parametrize("alg", ["Ed25519", "ES256"])
def test_a_written_key_is_read_back(alg: Algorithm) -> None:
    key = generate_private_key(alg)
    again = load_private_key(private_key_pem(key))
    assert public_key_of(again) == public_key_of(key)
    assert public_key_of(key).alg == alg


@pytest.mark.parametrize(
    "pem", [b"", b"-----BEGIN PRIVATE KEY-----", ENCRYPTED, P384, X25519]
)
def test_a_file_that_can_not_sign_is_refused(pem: bytes) -> None:
    with pytest.raises(Refused) as caught:
        load_private_key(pem)
    assert caught.value.code == "private_key_unreadable"
