import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.jwk import MAX_KEYS, jwks_document, parse_jwk, parse_jwks
from registry.identity.keys.private_keys import public_key_of
from tests.unit.identity.fixed_keys import fixed_key

ED = public_key_of(fixed_key("Ed25519"))
EC = public_key_of(fixed_key("ES256"))
RSA = {"kty": "RSA", "n": "AQAB", "e": "AQAB"}


def key_set(*entries: object) -> bytes:
    return json.dumps({"keys": entries}).encode()


def test_a_written_key_set_is_read_back() -> None:
    body = jwks_document([ED, EC])
    assert parse_jwks(body) == (ED, EC)
    assert [entry["kid"] for entry in json.loads(body)["keys"]] == [ED.kid, EC.kid]
    assert jwks_document([ED, EC]) == body


def test_an_empty_key_set_is_sound() -> None:
    assert parse_jwks(key_set()) == ()


def test_a_key_that_stands_twice_is_one_key() -> None:
    assert parse_jwks(key_set(ED.jwk, {**ED.jwk, "kid": "mine"})) == (ED,)


@pytest.mark.parametrize(
    "entry",
    [
        RSA,
        {},
        {"kty": "OKP", "crv": "X25519", "x": "AA"},
        {"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"},
        {**EC.jwk, "use": "enc"},
        {**EC.jwk, "alg": "ECDH-ES"},
        {**ED.jwk, "alg": "ES256"},
        {**ED.jwk, "alg": 7},
        {**ED.jwk, "alg": ["Ed25519"]},
        {**EC.jwk, "use": {}},
        {"kty": ["OKP"], "crv": "Ed25519"},
    ],
    ids=str,
)
def test_keys_of_other_types_and_purposes_are_passed_over(
    entry: dict[str, object],
) -> None:
    assert parse_jwks(key_set(entry, ED.jwk)) == (ED,)
    with pytest.raises(Refused) as caught:
        parse_jwk(entry)  # type: ignore[arg-type]
    assert caught.value.code == "key_unsupported"


def test_the_older_name_of_the_algorithm_is_accepted() -> None:
    assert parse_jwk({**ED.jwk, "alg": "EdDSA"}) == ED


IDENTITY = base64url.encode(b"\x01" + bytes(31))
HOSTILE = [
    ({**ED.jwk, "d": "AA"}, "key_secret_published", "/keys/1/d"),
    ({**EC.jwk, "d": ""}, "key_secret_published", "/keys/1/d"),
    ({**RSA, "d": "AQAB"}, "key_secret_published", "/keys/1/d"),
    ({"kty": "oct", "k": "AAAA"}, "key_secret_published", "/keys/1/k"),
    ({"kty": "AKP", "priv": "AAAA"}, "key_secret_published", "/keys/1/priv"),
    ({**ED.jwk, "x": IDENTITY}, "key_small_order", "/keys/1/x"),
    ({**ED.jwk, "x": base64url.encode(b"\xff" * 32)}, "key_not_canonical", "/keys/1/x"),
    ({**ED.jwk, "x": ED.jwk["x"] + "="}, "key_malformed", "/keys/1/x"),
    ({**ED.jwk, "x": ED.jwk["x"][:-1]}, "key_malformed", "/keys/1/x"),
    ({**ED.jwk, "x": ED.jwk["x"][:-1] + "B"}, "key_malformed", "/keys/1/x"),
    ({**ED.jwk, "x": 7}, "key_malformed", "/keys/1/x"),
    ({"kty": "OKP", "crv": "Ed25519"}, "key_malformed", "/keys/1/x"),
    ({**EC.jwk, "y": EC.jwk["x"]}, "key_not_on_curve", "/keys/1/x"),
    ({**EC.jwk, "y": "AA"}, "key_malformed", "/keys/1/y"),
    ("text", "key_set_malformed", "/keys/1"),
    (None, "key_set_malformed", "/keys/1"),
]


@pytest.mark.parametrize(("entry", "code", "pointer"), HOSTILE, ids=range(len(HOSTILE)))
def test_an_unsound_key_refuses_the_whole_set(
    entry: object, code: str, pointer: str
) -> None:
    with pytest.raises(Refused) as caught:
        parse_jwks(key_set(ED.jwk, entry))
    assert (caught.value.code, caught.value.problem.pointer) == (code, pointer)


def test_a_secret_behind_a_malformed_key_is_still_the_refusal() -> None:
    with pytest.raises(Refused) as caught:
        parse_jwks(key_set({**ED.jwk, "x": "AA"}, {**ED.jwk, "d": "AA"}))
    assert caught.value.code == "key_secret_published"


def test_secrets_are_not_repeated_in_the_refusal() -> None:
    with pytest.raises(Refused) as caught:
        parse_jwks(key_set({**ED.jwk, "d": "c2VjcmV0"}))
    assert "c2VjcmV0" not in str(caught.value.problem)


def test_a_duplicate_member_in_the_key_set_is_refused() -> None:
    with pytest.raises(Refused) as caught:
        parse_jwks(b'{"keys":[],"keys":[]}')
    assert caught.value.code == "json_duplicate_key"


def test_a_key_outside_a_set_is_told_how_to_become_one() -> None:
    with pytest.raises(Refused, match="single key"):
        parse_jwks(json.dumps(ED.jwk).encode())
    with pytest.raises(Refused, match="must be an array"):
        parse_jwks(b'{"keys":{}}')
    with pytest.raises(Refused, match="secret"):
        parse_jwks(json.dumps({**ED.jwk, "d": "AA"}).encode())


def test_too_many_keys_are_refused() -> None:
    assert parse_jwks(key_set(*[ED.jwk] * MAX_KEYS)) == (ED,)
    with pytest.raises(Refused) as caught:
        parse_jwks(key_set(*[ED.jwk] * (MAX_KEYS + 1)))
    assert caught.value.code == "key_set_too_many"


MEMBERS = st.dictionaries(
    st.sampled_from(["kty", "crv", "x", "y", "use", "alg", "kid"]),
    st.sampled_from(["OKP", "EC", "Ed25519", "P-256", ED.jwk["x"], "", "sig"])
    | st.none()
    | st.integers()
    | st.lists(st.none(), max_size=1),
)


@given(
    st.binary(max_size=40) | st.lists(MEMBERS, max_size=2).map(lambda k: key_set(*k))
)
def test_any_bytes_are_a_key_set_or_refused(body: bytes) -> None:
    with contextlib.suppress(Refused):
        parse_jwks(body)
