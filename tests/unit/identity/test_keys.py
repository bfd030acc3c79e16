"""Vectors: RFC 8032 §7.1, RFC 8037 A.3, RFC 7515 A.3."""

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.ed25519_points import L
from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.private_keys import (
    generate_private_key,
    public_key_of,
    sign,
)
from registry.identity.keys.public_keys import (
    P256_ORDER,
    Algorithm,
    PublicKey,
    parse_thumbprint,
    verify_signature,
    wab_key_id,
)
from tests.unit.identity.fixed_keys import fixed_key

RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
            "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
            "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
]
RFC_7515_X = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
RFC_7515_Y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
RFC_7515_SIGNING_INPUT = (
    b"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0"
    b"dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
)
RFC_7515_SIGNATURE = (
    "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-"
    "Kg6NU1Q"
)
ALGORITHMS: list[Algorithm] = ["Ed25519", "ES256"]
KEYS = {alg: fixed_key(alg) for alg in ALGORITHMS}
MESSAGE = b"header.payload"


def refused(key: PublicKey, message: bytes, signature: bytes) -> bool:
    with pytest.raises(Refused) as caught:
        verify_signature(key, message, signature)
    return caught.value.code == "signature_invalid"


@pytest.mark.parametrize(("raw", "message", "signature"), RFC_8032)
def test_rfc_8032_signatures_verify(raw: str, message: str, signature: str) -> None:
    key = PublicKey(alg="Ed25519", raw=bytes.fromhex(raw))
    verify_signature(key, bytes.fromhex(message), bytes.fromhex(signature))


def test_rfc_7515_es256_signature_verifies() -> None:
    x, y = base64url.decode(RFC_7515_X), base64url.decode(RFC_7515_Y)
    key = PublicKey(alg="ES256", raw=b"\x04" + x + y)
    signature = base64url.decode(RFC_7515_SIGNATURE)
    verify_signature(key, RFC_7515_SIGNING_INPUT, signature)


def test_rfc_8037_thumbprint() -> None:
    key = PublicKey(alg="Ed25519", raw=bytes.fromhex(RFC_8032[0][0]))
    assert key.jwk["x"] == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert key.kid == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_es256_thumbprint_hashes_the_members_in_lexical_order() -> None:
    x, y = base64url.decode(RFC_7515_X), base64url.decode(RFC_7515_Y)
    canonical = (
        f'{{"crv":"P-256","kty":"EC","x":"{RFC_7515_X}","y":"{RFC_7515_Y}"}}'.encode()
    )
    key = PublicKey(alg="ES256", raw=b"\x04" + x + y)
    assert key.kid == base64url.encode(hashlib.sha256(canonical).digest())


def test_wab_key_id_is_cut_from_standard_base64_of_the_hash() -> None:
    raw = bytes.fromhex(RFC_8032[0][0])
    key_id = wab_key_id(raw)
    assert len(key_id) == 16
    assert base64url.decode_either(key_id) == hashlib.sha256(raw).digest()[:12]


@pytest.mark.parametrize("alg", ALGORITHMS)
@settings(max_examples=15, deadline=None)
@given(message=st.binary(max_size=40))
def test_what_is_signed_verifies(alg: Algorithm, message: bytes) -> None:
    signature = sign(KEYS[alg], message)
    assert len(signature) == 64
    verify_signature(public_key_of(KEYS[alg]), message, signature)


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_no_single_flipped_bit_of_a_signature_verifies(alg: Algorithm) -> None:
    key, signature = public_key_of(KEYS[alg]), sign(KEYS[alg], MESSAGE)
    for bit in range(0, 512, 3):
        flipped = bytearray(signature)
        flipped[bit // 8] ^= 1 << bit % 8
        assert refused(key, MESSAGE, bytes(flipped))


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_another_message_or_key_does_not_verify(alg: Algorithm) -> None:
    signature = sign(KEYS[alg], MESSAGE)
    assert refused(public_key_of(KEYS[alg]), MESSAGE + b"\n", signature)
    other = public_key_of(generate_private_key(alg))
    assert refused(other, MESSAGE, signature)


def test_s_plus_l_malleation_is_refused() -> None:
    signature = sign(KEYS["Ed25519"], MESSAGE)
    s = int.from_bytes(signature[32:], "little") + L
    malleated = signature[:32] + s.to_bytes(32, "little")
    assert refused(public_key_of(KEYS["Ed25519"]), MESSAGE, malleated)


@pytest.mark.parametrize("s", [L, 2**256 - 1])
def test_s_outside_the_group_is_refused(s: int) -> None:
    forged = bytes(32) + s.to_bytes(32, "little")
    assert refused(public_key_of(KEYS["Ed25519"]), MESSAGE, forged)


@pytest.mark.parametrize(
    ("r", "s"),
    [(0, 1), (1, 0), (0, 0), (P256_ORDER, 1), (1, P256_ORDER), (2**256 - 1, 1)],
)
def test_r_and_s_out_of_range_are_refused(r: int, s: int) -> None:
    forged = r.to_bytes(32, "big") + s.to_bytes(32, "big")
    assert refused(public_key_of(KEYS["ES256"]), MESSAGE, forged)


def test_an_es256_signature_has_a_twin_so_signatures_are_no_replay_keys() -> None:
    key, signature = public_key_of(KEYS["ES256"]), sign(KEYS["ES256"], MESSAGE)
    s = P256_ORDER - int.from_bytes(signature[32:], "big")
    twin = signature[:32] + s.to_bytes(32, "big")
    assert twin != signature
    verify_signature(key, MESSAGE, twin)


@pytest.mark.parametrize("length", [0, 63, 65, 128])
@pytest.mark.parametrize("alg", ALGORITHMS)
def test_signatures_of_other_lengths_are_refused(alg: Algorithm, length: int) -> None:
    assert refused(public_key_of(KEYS[alg]), MESSAGE, bytes(length))


def test_a_der_signature_is_told_to_be_one() -> None:
    with pytest.raises(Refused, match="DER"):
        verify_signature(public_key_of(KEYS["ES256"]), MESSAGE, b"\x30\x45" + bytes(69))


def test_the_identity_point_forgery_is_refused() -> None:
    identity = b"\x01" + bytes(31)
    forged = identity + bytes(32)
    with pytest.raises(Refused) as caught:
        verify_signature(PublicKey(alg="Ed25519", raw=identity), MESSAGE, forged)
    assert caught.value.code == "key_small_order"


P256_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
POINT = public_key_of(KEYS["ES256"]).raw


@pytest.mark.parametrize(
    ("alg", "raw", "code"),
    [
        ("Ed25519", b"", "key_malformed"),
        ("Ed25519", bytes(31), "key_malformed"),
        ("Ed25519", bytes(33), "key_malformed"),
        ("ES256", POINT[:33], "key_malformed"),
        ("ES256", b"\x02" + POINT[1:], "key_malformed"),
        ("ES256", b"\x06" + POINT[1:], "key_malformed"),
        ("ES256", b"\x04" + bytes(64), "key_not_on_curve"),
        ("ES256", POINT[:-1] + bytes([POINT[-1] ^ 1]), "key_not_on_curve"),
        # (5, y) is on the curve; 5 + p is another spelling of the same x
        ("ES256", None, "key_not_on_curve"),
    ],
    # The keys are made anew in each process, so they can't name the cases.
    ids=[
        "empty",
        "short",
        "long",
        "x-only",
        "compressed",
        "hybrid",
        "origin",
        "off-curve",
        "x-over-p",
    ],
)
def test_unsound_keys_can_not_be_made(
    alg: Algorithm, raw: bytes | None, code: str
) -> None:
    with pytest.raises(Refused) as caught:
        PublicKey(alg=alg, raw=p256_point_beyond_p() if raw is None else raw)
    assert caught.value.code == code


def p256_point_beyond_p() -> bytes:
    b = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
    square = (5**3 - 3 * 5 + b) % P256_P
    y = pow(square, (P256_P + 1) // 4, P256_P)
    assert y * y % P256_P == square
    assert PublicKey(alg="ES256", raw=_point(5, y)).alg == "ES256"
    return _point(5 + P256_P, y)


def _point(x: int, y: int) -> bytes:
    return b"\x04" + x.to_bytes(32, "big") + y.to_bytes(32, "big")


@pytest.mark.parametrize("text", ["", "abc", "A" * 42, "A" * 44, "A" * 42 + "B"])
def test_a_thumbprint_is_43_characters_of_base64url(text: str) -> None:
    with pytest.raises(ValueError, match=r"bytes where|bits|cut off"):
        parse_thumbprint(text)
