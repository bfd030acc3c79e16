"""A file and its signature: of this key, of this type, byte for byte."""

import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.private_keys import public_key_of
from registry.identity.statements.detached_jws import sign_detached, verify_detached

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
OTHER = Ed25519PrivateKey.from_private_bytes(bytes(32))
FILE = b"path,value\r\nversion,1\r\n"
TYP = "fairness-report+jws"
TOKEN = sign_detached(FILE, KEY, typ=TYP)
HEADER, _, SIGNATURE = TOKEN.split(".")


def refused(token: bytes, payload: bytes = FILE, typ: str = TYP) -> str:
    with pytest.raises(Refused) as error:
        verify_detached(token, payload, public_key_of(KEY), typ=typ)
    return error.value.code


@given(st.binary(max_size=300))
def test_what_was_signed_is_verified(payload: bytes) -> None:
    token = sign_detached(payload, KEY, typ=TYP)
    verify_detached(token.encode(), payload, public_key_of(KEY), typ=TYP)


def test_with_the_file_put_back_it_is_a_compact_jws() -> None:
    signed = f"{HEADER}.{base64url.encode(FILE)}".encode()
    KEY.public_key().verify(base64url.decode(SIGNATURE), signed)
    assert json.loads(base64url.decode(HEADER)) == {
        "alg": "Ed25519",
        "kid": public_key_of(KEY).kid,
        "typ": TYP,
    }


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(FILE + b"\n", id="a line more"),
        pytest.param(FILE.replace(b"\r", b""), id="other line ends"),
        pytest.param(b"", id="nothing"),
    ],
)
def test_another_file_is_refused(payload: bytes) -> None:
    with pytest.raises(Refused, match="signature_invalid") as error:
        verify_detached(TOKEN.encode(), payload, public_key_of(KEY), typ=TYP)
    assert "your site" not in error.value.problem.fix, "it is no statement of a site"


def header(**members: object) -> str:
    header = {"alg": "Ed25519", "kid": public_key_of(KEY).kid, "typ": TYP, **members}
    return base64url.encode(json.dumps(header, separators=(",", ":")).encode())


@pytest.mark.parametrize(
    ("token", "code"),
    [
        pytest.param(b"", "token_malformed", id="nothing"),
        pytest.param(b"..", "token_malformed", id="empty parts"),
        pytest.param(f"{HEADER}.{SIGNATURE}".encode(), "token_malformed", id="one dot"),
        pytest.param(
            f"{HEADER}.{base64url.encode(FILE)}.{SIGNATURE}".encode(),
            "token_malformed",
            id="not detached",
        ),
        pytest.param(
            f"{HEADER}..{SIGNATURE}=".encode(), "token_malformed", id="padded"
        ),
        pytest.param(
            f"{HEADER}..{SIGNATURE[:-2]}".encode(), "signature_invalid", id="cut off"
        ),
        pytest.param("é..é".encode(), "token_malformed", id="not ASCII"),
        pytest.param(b"x" * 5000, "token_too_large", id="large"),
        pytest.param(
            f"{header(alg='none')}..".encode(), "token_malformed", id="no algorithm"
        ),
        pytest.param(
            f"{header(b64=False)}..{SIGNATURE}".encode(),
            "token_malformed",
            id="another member",
        ),
        pytest.param(
            sign_detached(FILE, OTHER, typ=TYP).encode(),
            "token_malformed",
            id="of another key",
        ),
        pytest.param(
            sign_detached(FILE, KEY, typ="site-registration+jws").encode(),
            "token_malformed",
            id="of another type",
        ),
    ],
)
def test_any_other_token_is_refused(token: bytes, code: str) -> None:
    assert refused(token) == code


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(token: bytes) -> None:
    assert refused(token)
