import contextlib
import hashlib
import hmac
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.private_keys import (
    private_key_pem,
    public_key_of,
    sign,
)
from registry.identity.keys.public_keys import Algorithm
from registry.identity.statements.jws import (
    MAX_TOKEN_BYTES,
    parse_compact,
    sign_compact,
    verify_jws,
)
from registry.strict_json import JsonValue
from tests.unit.identity.fixed_keys import fixed_key

ALGORITHMS: list[Algorithm] = ["Ed25519", "ES256"]
KEYS = {alg: fixed_key(alg) for alg in ALGORITHMS}
ED, EC = KEYS["Ed25519"], KEYS["ES256"]
PAYLOAD: dict[str, JsonValue] = {
    "sub": "shop.example.com",
    "seq": 1,
    "note": "größer 店",
}
HEADER = {
    "alg": "Ed25519",
    "kid": public_key_of(ED).kid,
    "typ": "site-registration+jws",
}


def b64(value: object) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64url.encode(raw)


def token_of(header: object, payload: object = PAYLOAD) -> bytes:
    """Signed by ED whatever the header says."""
    signing_input = f"{b64(header)}.{b64(payload)}".encode()
    return signing_input + b"." + b64(sign(ED, signing_input)).encode()


def code_of(token: bytes) -> str:
    with pytest.raises(Refused) as caught:
        verify_jws(parse_compact(token), public_key_of(ED))
    return caught.value.code


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_what_is_signed_verifies(alg: Algorithm) -> None:
    token = sign_compact(PAYLOAD, KEYS[alg]).encode()
    jws = verify_jws(parse_compact(token), public_key_of(KEYS[alg]))
    assert jws.payload == PAYLOAD
    assert (jws.alg, jws.kid) == (alg, public_key_of(KEYS[alg]).kid)
    assert jws.digest == hashlib.sha256(token).digest()


def test_eddsa_is_another_name_of_ed25519() -> None:
    jws = parse_compact(token_of({**HEADER, "alg": "EdDSA"}))
    assert verify_jws(jws, public_key_of(ED)).alg == "Ed25519"


def test_a_token_of_another_purpose_is_refused() -> None:
    token = sign_compact(PAYLOAD, ED, typ="disclosure+jws").encode()
    assert code_of(token) == "typ_wrong"
    assert parse_compact(token, typ="disclosure+jws").payload == PAYLOAD


SOUND = token_of(HEADER)
H, P, S = SOUND.split(b".")
HOSTILE = {
    "empty": (b"", "token_malformed"),
    "too large": (b"A" * (MAX_TOKEN_BYTES + 1), "token_too_large"),
    "two parts": (H + b"." + P, "token_malformed"),
    "four parts": (SOUND + b".AA", "token_malformed"),
    "not ASCII": (b"\xff" + SOUND, "token_malformed"),
    "padding": (SOUND + b"==", "token_malformed"),
    "line break at the end": (SOUND + b"\n", "token_malformed"),
    "space before": (b" " + SOUND, "token_malformed"),
    "standard alphabet": (H + b"." + P + b".++++", "token_malformed"),
    "trailing bits of the signature": (
        SOUND[:-1] + bytes([SOUND[-1] + 1]),
        "token_malformed",
    ),
    "cut off": (SOUND[:-1], "token_malformed"),
    "header empty": (b"." + P + b"." + S, "json_syntax"),
    "header an array": (token_of([HEADER]), "json_syntax"),
    "header not JSON": (token_of(b"{alg}"), "json_syntax"),
    "duplicate alg": (
        token_of(b'{"alg":"none",' + json.dumps(HEADER).encode()[1:]),
        "json_duplicate_key",
    ),
    "embedded jwk": (
        token_of({**HEADER, "jwk": public_key_of(ED).jwk}),
        "header_members",
    ),
    "jku": (token_of({**HEADER, "jku": "https://evil.example"}), "header_members"),
    "x5u": (token_of({**HEADER, "x5u": "https://evil.example"}), "header_members"),
    "crit": (token_of({**HEADER, "crit": ["b64"], "b64": False}), "header_members"),
    "b64": (token_of({**HEADER, "b64": False}), "header_members"),
    "no typ": (
        token_of({"alg": "Ed25519", "kid": HEADER["kid"]}),
        "header_members",
    ),
    "typ JWT": (token_of({**HEADER, "typ": "JWT"}), "typ_wrong"),
    "typ not a string": (token_of({**HEADER, "typ": {}}), "typ_wrong"),
    "alg none": (token_of({**HEADER, "alg": "none"}), "alg_unsupported"),
    "alg none, unsigned": (
        token_of({**HEADER, "alg": "none"}).rpartition(b".")[0] + b".",
        "alg_unsupported",
    ),
    "alg NONE": (token_of({**HEADER, "alg": "nOnE"}), "alg_unsupported"),
    "alg of other case": (token_of({**HEADER, "alg": "ed25519"}), "alg_unsupported"),
    "alg an array": (token_of({**HEADER, "alg": ["Ed25519"]}), "alg_unsupported"),
    "alg RS256": (token_of({**HEADER, "alg": "RS256"}), "alg_unsupported"),
    "alg of another key type": (token_of({**HEADER, "alg": "ES256"}), "alg_mismatch"),
    "kid not a thumbprint": (token_of({**HEADER, "kid": "key-1"}), "kid_malformed"),
    "kid null": (token_of({**HEADER, "kid": None}), "kid_malformed"),
    "kid a path": (token_of({**HEADER, "kid": "../../dev/null"}), "kid_malformed"),
    "kid of another key": (
        token_of({**HEADER, "kid": public_key_of(EC).kid}),
        "kid_mismatch",
    ),
    "payload an array": (token_of(HEADER, [1]), "json_syntax"),
    "payload empty": (token_of(HEADER, b""), "json_syntax"),
    "duplicate payload member": (
        token_of(HEADER, b'{"sub":"a","sub":"b"}'),
        "json_duplicate_key",
    ),
    "unsigned": (H + b"." + P + b".", "signature_invalid"),
    "signature of another payload": (
        H + b"." + b64({**PAYLOAD, "seq": 2}).encode() + b"." + S,
        "signature_invalid",
    ),
}


@pytest.mark.parametrize(("token", "code"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_token_is_refused_by_name(token: bytes, code: str) -> None:
    assert code_of(token) == code


@pytest.mark.parametrize("secret", ["raw", "pem", "x"])
def test_hs256_with_the_public_key_as_secret_is_refused(secret: str) -> None:
    public = public_key_of(ED)
    secrets = {"raw": public.raw, "pem": b"PEM", "x": public.jwk["x"].encode()}
    signing_input = f"{b64({**HEADER, 'alg': 'HS256'})}.{b64(PAYLOAD)}".encode()
    mac = hmac.digest(secrets[secret], signing_input, "sha256")
    assert code_of(signing_input + b"." + b64(mac).encode()) == "alg_unsupported"


def test_faults_are_reported_in_the_order_of_the_protocol() -> None:
    faults: list[tuple[object, object, str]] = [
        (b'{"alg":1,"alg":1}', b"[", "json_duplicate_key"),
        ({"alg": "none", "kid": "", "typ": "", "jku": ""}, b"[", "header_members"),
        ({"alg": "none", "kid": "", "typ": ""}, b"[", "typ_wrong"),
        ({**HEADER, "alg": "none", "kid": ""}, b"[", "alg_unsupported"),
        ({**HEADER, "kid": ""}, b"[", "kid_malformed"),
        (HEADER, b"[", "json_syntax"),
    ]
    for header, payload, code in faults:
        assert code_of(token_of(header, payload)) == code


@given(
    st.binary(max_size=80)
    | st.binary(max_size=30).map(lambda raw: H + b"." + b64(raw).encode() + b"." + S)
    | st.lists(st.binary(max_size=20).map(b64), max_size=4).map(
        lambda parts: ".".join(parts).encode()
    )
)
def test_any_bytes_are_a_token_or_refused(token: bytes) -> None:
    with contextlib.suppress(Refused):
        parse_compact(token)


@pytest.mark.parametrize("alg", ALGORITHMS)
def test_no_single_flipped_bit_verifies(alg: Algorithm) -> None:
    token, key = sign_compact(PAYLOAD, KEYS[alg]).encode(), public_key_of(KEYS[alg])
    for bit in range(0, len(token) * 8, 7):
        flipped = bytearray(token)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(Refused):
            verify_jws(parse_compact(bytes(flipped)), key)


OPENSSL_LINES = r"""
set -eu
b64u() { openssl base64 -A | tr '+/' '-_' | tr -d '='; }
x=$(openssl pkey -in key.pem -pubout -outform DER | tail -c 32 | b64u)
kid=$(printf '{"crv":"Ed25519","kty":"OKP","x":"%s"}' "$x" \
    | openssl dgst -sha256 -binary | b64u)
header=$(printf '{"alg":"Ed25519","kid":"%s","typ":"site-registration+jws"}' "$kid" \
    | b64u)
printf '%s.%s' "$header" "$(b64u < payload.json)" > signed
signature=$(openssl pkeyutl -sign -rawin -inkey key.pem -in signed | b64u)
printf '%s.%s' "$(cat signed)" "$signature"
"""


def test_a_token_made_with_openssl_is_the_same_bytes(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        reason = "the openssl command line is not installed"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    text = json.dumps(PAYLOAD, separators=(",", ":"), ensure_ascii=False)
    (tmp_path / "payload.json").write_bytes(text.encode())
    (tmp_path / "key.pem").write_bytes(private_key_pem(ED))
    completed = subprocess.run(
        ["sh", "-c", OPENSSL_LINES], cwd=tmp_path, capture_output=True, check=True
    )
    assert completed.stdout.decode() == sign_compact(PAYLOAD, ED)
