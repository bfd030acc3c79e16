import base64
import contextlib
import json
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity.keys.private_keys import public_key_of
from registry.identity.keys.public_keys import wab_key_id
from registry.identity.statements.document_signature import (
    Signed,
    Unsigned,
    sign_document,
    verify_document_signature,
)
from registry.strict_json import JsonValue, parse_json
from tests.unit.identity.envelopes import sign_envelope
from tests.unit.identity.fixed_keys import fixed_key

HOST = "shop.example.com"
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
    "host": HOST,
    "endpoint": f"https://{HOST}/agent-bridge.json",
    "issued_at": "2026-11-01T00:00:00Z",
    "expires_at": "2026-12-01T00:00:00Z",
    "capabilities": ["search"],
}
FLAT = sign_document(DOCUMENT, OWNER, signed_at=NOW)
ENVELOPE = sign_envelope(PAYLOAD, OWNER)


def b64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def verify(document: dict[str, JsonValue], now: datetime = NOW) -> Signed | Unsigned:
    return verify_document_signature(document, host=HOST, pinned=PINNED, now=now)


def parsed(text: str) -> dict[str, JsonValue]:
    value = parse_json(text.encode(), max_depth=8, max_bytes=10_000)
    assert isinstance(value, dict)
    return value


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


def turned(value: JsonValue) -> JsonValue:
    """The members of every object in the opposite order."""
    if isinstance(value, dict):
        return {name: turned(value[name]) for name in reversed(value)}
    return [turned(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("document", [FLAT, ENVELOPE], ids=["flat", "envelope"])
def test_the_order_of_members_does_not_matter(document: dict[str, JsonValue]) -> None:
    other = turned(document)
    assert isinstance(other, dict)
    assert json.dumps(other) != json.dumps(document)
    assert isinstance(verify(other), Signed)


# The RFC 8785 form is written by hand, so that signing and verifying can't err alike.
VECTORS = [
    pytest.param('{"a":1.0}', b'{"a":1}', id="1.0"),
    pytest.param('{"a":1e2}', b'{"a":100}', id="1e2"),
    pytest.param('{"a":1E-7,"b":-0.0}', b'{"a":1e-7,"b":0}', id="small, minus zero"),
    pytest.param('{"a":0.10,"b":4.50}', b'{"a":0.1,"b":4.5}', id="trailing zeros"),
    pytest.param(
        '{"b":9007199254740991,"a":-5}', b'{"a":-5,"b":9007199254740991}', id="whole"
    ),
    pytest.param(
        '{ "\\u20ac" : "\\u0041\\/\\u001f" }',
        '{"\u20ac":"A/\\u001f"}'.encode(),
        id="escapes",
    ),
    pytest.param(
        '{"\\ud83d\\ude00":1,"\ufb33":2,"\u00f6":3,"1":4}',
        '{"1":4,"\u00f6":3,"\U0001f600":1,"\ufb33":2}'.encode(),
        id="sorted by UTF-16 units",
    ),
]


@pytest.mark.parametrize(("written", "canonical"), VECTORS)
def test_what_is_signed_is_the_rfc_8785_form(written: str, canonical: bytes) -> None:
    document = parsed(written)
    signature: dict[str, JsonValue] = {
        "algorithm": "ed25519",
        "value": b64(OWNER.sign(canonical)),
        "key_id": wab_key_id(KEY.raw),
    }
    assert isinstance(verify({**document, "signature": signature}), Signed)


@pytest.mark.parametrize(("written", "canonical"), VECTORS)
def test_an_envelope_is_signed_in_the_rfc_8785_form(
    written: str, canonical: bytes
) -> None:
    """`extra` sorts between the payload's own members."""
    payload = {
        "expires_at": "2026-12-01T00:00:00Z",
        "extra": parsed(written),
        "host": HOST,
        "trust": {"pk": f"ed25519:{b64(KEY.raw)}"},
        "type": "wab.trust",
    }
    parts = [
        b'{"expires_at":"2026-12-01T00:00:00Z","extra":' + canonical,
        f'"host":"{HOST}"'.encode(),
        f'"trust":{{"pk":"ed25519:{b64(KEY.raw)}"}}'.encode(),
        b'"type":"wab.trust"}',
    ]
    signature = f"ed25519:{b64(OWNER.sign(b','.join(parts)))}"
    assert isinstance(verify({"payload": payload, "signature": signature}), Signed)


def test_signed_at_is_outside_the_signature() -> None:
    assert isinstance(verify(with_signature(signed_at="1999-01-01T00:00:00Z")), Signed)


def test_other_members_of_the_signature_are_outside_it_too() -> None:
    document = with_signature(note="x", payload={"host": "evil.example.net"}, nested=[])
    assert isinstance(verify(document), Signed)


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
        verify_document_signature(FLAT, host=HOST, pinned=[], now=NOW)
    assert caught.value.code == "document_key_not_pinned"


@pytest.mark.parametrize(
    "key_id",
    [
        wab_key_id(KEY.raw)[:-1],
        wab_key_id(KEY.raw) + "A",
        wab_key_id(KEY.raw)[:4],
        wab_key_id(KEY.raw).swapcase(),
        f" {wab_key_id(KEY.raw)}",
        "",
    ],
    ids=["cut", "longer", "prefix", "other case", "space", "empty"],
)
def test_a_key_id_names_a_key_only_as_a_whole(key_id: str) -> None:
    document = with_signature(key_id=key_id, public_key=None)
    assert code_of(document) == "document_key_not_pinned"


def test_two_keys_of_one_prefix_are_two_keys() -> None:
    """The stranger's key_id begins like the owner's: two characters are soon found."""
    keys = (
        Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big"))
        for number in range(1, 100_000)
    )
    mine = wab_key_id(KEY.raw)
    twin = next(
        key for key in keys if wab_key_id(public_key_of(key).raw)[:2] == mine[:2]
    )
    forged = sign_document(DOCUMENT, twin, signed_at=NOW)
    assert code_of(forged) == "document_key_not_pinned"


def test_each_byte_of_a_signature_counts() -> None:
    signature = FLAT["signature"]
    assert isinstance(signature, dict)
    value = base64.b64decode(str(signature["value"]))
    for position in range(64):
        changed = bytearray(value)
        changed[position] ^= 1
        document = with_signature(value=b64(bytes(changed)))
        assert code_of(document) == "document_signature_invalid", position


def test_each_character_of_the_content_counts() -> None:
    text = json.dumps(DOCUMENT, ensure_ascii=False)
    for name in ("1.0", "Bücher", "books", "search", "true"):
        changed = parsed(text.replace(name, {"1.0": "1.1", "true": "1"}.get(name, "x")))
        document = {**changed, "signature": FLAT["signature"]}
        assert code_of(document) == "document_signature_invalid", name


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
        with_signature(value=f"{b64(bytes(64))}\n"),
        with_signature(value=f"data:;base64,{b64(bytes(64))}"),
        with_signature(value=f"{b64(bytes(64))}===="),
        with_signature(value="A" * 85 + "B"),
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
        with_payload(issued_at=1),
        with_payload(issued_at="2026-11-01"),
        with_payload(issued_at="yesterday"),
        with_payload(host=None),
        with_payload(host=[HOST]),
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


@pytest.mark.parametrize("host", [HOST, "SHOP.Example.com", "shop\u3002example.com"])
def test_an_envelope_speaks_for_its_host_in_any_spelling(host: str) -> None:
    assert isinstance(verify(with_payload(host=host)), Signed)


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "www.shop.example.com",
        "shop.example.com.evil.net",
        "shop.example.com.",
        "shop.example.com:443",
        "https://shop.example.com",
        "*.example.com",
        "sh\u043ep.example.com",
        "",
        "\u202e" + "x" * 500,
    ],
    ids=[
        "the domain",
        "with www",
        "as a label",
        "final dot",
        "port",
        "URL",
        "wildcard",
        "confusable",
        "empty",
        "long",
    ],
)
def test_an_envelope_for_another_host_is_refused(host: str) -> None:
    with pytest.raises(Refused) as caught:
        verify(with_payload(host=host))
    assert caught.value.code == "document_signature_host"
    assert caught.value.problem.pointer == "/payload/host"
    assert HOST in caught.value.problem.detail
    assert len(caught.value.problem.detail) < 600
    assert caught.value.problem.detail.isascii()


def test_an_envelope_is_not_shown_on_another_host_of_the_domain() -> None:
    """The key in the DNS serves all of them."""
    with pytest.raises(Refused) as caught:
        verify_document_signature(
            ENVELOPE, host="blog.example.com", pinned=PINNED, now=NOW
        )
    assert caught.value.code == "document_signature_host"


def test_an_envelope_that_nobody_pinned_is_not_asked_for_its_host() -> None:
    forged = sign_envelope({**PAYLOAD, "host": "evil.example.net"}, THIEF)
    assert code_of(forged) == "document_key_not_pinned"


@pytest.mark.parametrize("endpoint", [None, 7, "https://elsewhere.example.net/x", "x"])
def test_the_endpoint_of_an_envelope_is_but_a_claim(endpoint: JsonValue) -> None:
    assert isinstance(verify(with_payload(endpoint=endpoint)), Signed)


def test_an_envelope_from_the_future_is_refused_beyond_ten_minutes() -> None:
    for minutes in (10, 11):
        issued_at = (NOW + timedelta(minutes=minutes)).isoformat()
        document = with_payload(issued_at=issued_at)
        if minutes == 10:
            assert isinstance(verify(document), Signed)
        else:
            assert code_of(document) == "document_signature_from_future"


@pytest.mark.parametrize("issued_at", [None, "0001-01-01T00:00:00+23:59"])
def test_an_envelope_need_not_say_when_it_was_issued(issued_at: JsonValue) -> None:
    assert isinstance(verify(with_payload(issued_at=issued_at)), Signed)


def test_times_are_compared_as_instants() -> None:
    assert isinstance(
        verify(with_payload(expires_at="2026-11-20T10:00:01-02:00")), Signed
    )
    expired = with_payload(expires_at="2026-11-20T14:00:00+02:00")
    assert code_of(expired) == "document_signature_expired"


def test_the_latest_time_there_is_does_not_overflow() -> None:
    document = with_payload(issued_at="9999-12-31T23:59:59-23:59")
    assert code_of(document) == "document_signature_from_future"


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
