import base64
import contextlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity.document_signature import (
    Signed,
    Unsigned,
    sign_document,
    sign_envelope,
    verify_document_signature,
)
from registry.identity.keys import wab_key_id
from registry.identity.private_keys import public_key_of
from registry.strict_json import JsonValue
from tests.unit.identity.fixed_keys import fixed_key

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
OWNER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
THIEF = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
KEY = public_key_of(OWNER)
PINNED = [public_key_of(fixed_key("ES256")), KEY]
DOCUMENT: dict[str, JsonValue] = {
    "wab_version": "1.0",
    "provider": {"name": "Bücher & 本", "category": "books"},
    "capabilities": {"commands": [{"name": "search", "weight": 1.0}, None, True]},
}
PAYLOAD: dict[str, JsonValue] = {
    "version": "wab1",
    "type": "wab.trust",
    "host": "shop.example.com",
    "endpoint": "https://shop.example.com/agent-bridge.json",
    "issued_at": "2026-11-01T00:00:00Z",
    "expires_at": "2026-12-01T00:00:00Z",
    "capabilities": ["search"],
}
FLAT = sign_document(DOCUMENT, OWNER, signed_at=NOW)
ENVELOPE = sign_envelope(PAYLOAD, OWNER)


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def verify(document: dict[str, JsonValue], now: datetime = NOW) -> Signed | Unsigned:
    return verify_document_signature(document, pinned=PINNED, now=now)


def code_of(document: dict[str, JsonValue], now: datetime = NOW) -> str:
    with pytest.raises(Refused) as caught:
        verify(document, now)
    return caught.value.code


def with_signature(**changes: JsonValue) -> dict[str, JsonValue]:
    signature = FLAT["signature"]
    assert isinstance(signature, dict)
    return {**FLAT, "signature": {**signature, **changes}}


def with_payload(**changes: JsonValue) -> dict[str, JsonValue]:
    """Signed anew by the owner after the change."""
    return sign_envelope({**PAYLOAD, **changes}, OWNER)


def test_a_flat_signature_verifies() -> None:
    assert verify(FLAT) == Signed(kind="A", key_id=wab_key_id(KEY.raw))


def test_an_envelope_verifies_until_it_expires() -> None:
    expires_at = datetime(2026, 12, 1, tzinfo=UTC)
    just_before = expires_at - timedelta(seconds=1)
    assert verify(ENVELOPE, just_before) == Signed(
        kind="B", key_id=wab_key_id(KEY.raw), expires_at=expires_at
    )
    assert code_of(ENVELOPE, expires_at) == "document_signature_expired"


@pytest.mark.parametrize("document", [{}, DOCUMENT, {**DOCUMENT, "signature": None}])
def test_a_document_without_a_signature_is_unsigned(
    document: dict[str, JsonValue],
) -> None:
    assert verify(document) == Unsigned()


def test_the_order_of_members_does_not_matter() -> None:
    assert isinstance(verify(dict(reversed(FLAT.items()))), Signed)


def test_signed_at_is_outside_the_signature() -> None:
    assert isinstance(verify(with_signature(signed_at="1999-01-01T00:00:00Z")), Signed)


def test_the_embedded_key_may_be_left_out() -> None:
    assert isinstance(verify(with_signature(public_key=None)), Signed)


def test_the_name_of_the_algorithm_may_be_capitalised() -> None:
    assert isinstance(verify(with_signature(algorithm="Ed25519")), Signed)


def test_anybodys_new_signature_with_the_key_enclosed_is_refused() -> None:
    forged = sign_document({**DOCUMENT, "evil": True}, THIEF, signed_at=NOW)
    assert code_of(forged) == "document_key_not_pinned"
    assert code_of(sign_envelope(PAYLOAD, THIEF)) == "document_key_not_pinned"


def test_the_owners_key_id_over_a_thiefs_signature_is_refused() -> None:
    forged = sign_document({**DOCUMENT, "evil": True}, THIEF, signed_at=NOW)
    signature = forged["signature"]
    assert isinstance(signature, dict)
    signature["key_id"] = wab_key_id(KEY.raw)
    assert code_of(forged) == "document_signature_malformed"
    signature["public_key"] = b64(KEY.raw)
    assert code_of(forged) == "document_signature_invalid"


def test_no_pinned_key_verifies_nothing() -> None:
    with pytest.raises(Refused) as caught:
        verify_document_signature(FLAT, pinned=[], now=NOW)
    assert caught.value.code == "document_key_not_pinned"


def test_an_edited_document_is_refused() -> None:
    assert code_of({**FLAT, "extra": 1}) == "document_signature_invalid"
    payload = ENVELOPE["payload"]
    assert isinstance(payload, dict)
    edited: dict[str, JsonValue] = {**payload, "expires_at": "2099-01-01T00:00:00Z"}
    assert code_of({**ENVELOPE, "payload": edited}) == "document_signature_invalid"


def test_kind_c_signed_in_the_order_of_members_is_named() -> None:
    written = json.dumps(DOCUMENT, separators=(",", ":"), ensure_ascii=False)
    value = b64(OWNER.sign(written.encode()))
    assert code_of(with_signature(value=value)) == "document_signature_not_canonical"


@pytest.mark.parametrize("algorithm", ["ECDSA-SHA256", "ecdsa-sha256", "none", ""])
def test_kind_d_and_other_algorithms_are_named(algorithm: str) -> None:
    document = with_signature(algorithm=algorithm)
    assert code_of(document) == "document_signature_algorithm"


@pytest.mark.parametrize(
    "document",
    [
        {**DOCUMENT, "signature": 7},
        {**DOCUMENT, "signature": []},
        {**DOCUMENT, "signature": True},
        {**DOCUMENT, "signature": {}},
        with_signature(algorithm=None),
        with_signature(key_id=None),
        with_signature(key_id=7),
        with_signature(value=None),
        with_signature(value="***"),
        with_signature(public_key="***"),
        with_signature(public_key=7),
        {**FLAT, "number": 2**60},
        {**FLAT, "lone": "\ud800"},
        {**FLAT, "\udfff": 1},
        {"signature": "ed25519:AAAA"},
        {"payload": [], "signature": "ed25519:AAAA"},
        {**ENVELOPE, "signature": b64(bytes(64))},
        {**ENVELOPE, "signature": "ed25519:*"},
        {"payload": {**PAYLOAD, "trust": None}, "signature": "ed25519:AAAA"},
        {"payload": {**PAYLOAD, "trust": {"pk": 1}}, "signature": "ed25519:AAAA"},
        {"payload": {**PAYLOAD, "trust": {"pk": "x"}}, "signature": "ed25519:AAAA"},
        with_payload(type="wab.other"),
        with_payload(expires_at=None),
        with_payload(expires_at=1),
        with_payload(expires_at="tomorrow"),
        with_payload(expires_at="2026-12-01T00:00:00"),
    ],
    ids=lambda document: ascii(document)[-60:],
)
def test_a_signature_of_wrong_form_is_refused(document: dict[str, JsonValue]) -> None:
    assert code_of(document) == "document_signature_malformed"


@pytest.mark.parametrize("length", [0, 63, 65])
def test_a_signature_of_wrong_length_is_refused(length: int) -> None:
    document = with_signature(value=b64(bytes(length)))
    assert code_of(document) == "document_signature_invalid"


@pytest.mark.parametrize("expires_at", ["0001-01-01T00:00:00+23:59", "20260101T00Z"])
def test_strange_expiry_times_have_expired(expires_at: str) -> None:
    assert code_of(with_payload(expires_at=expires_at)) == "document_signature_expired"


def test_endless_nesting_is_refused() -> None:
    nested: JsonValue = []
    for _ in range(5000):
        nested = [nested]
    assert code_of({**FLAT, "nested": nested}) == "document_signature_malformed"


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("aé😀\uffff", max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=3))
def test_what_is_signed_verifies_after_a_round_trip(
    document: dict[str, JsonValue],
) -> None:
    signed = sign_document(document, OWNER, signed_at=NOW)
    assert isinstance(verify(json.loads(json.dumps(signed))), Signed)


@given(VALUES, st.dictionaries(st.sampled_from(["type", "trust", "pk"]), VALUES))
def test_any_document_is_judged_or_refused(
    signature: JsonValue, payload: dict[str, JsonValue]
) -> None:
    with contextlib.suppress(Refused):
        verify({"payload": payload, "signature": signature})
