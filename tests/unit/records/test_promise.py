from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.records.promise import (
    format_promise,
    parse_promise,
    promise_key_id,
    sign_promise,
    verify_promise,
)
from registry.tlog.merkle import leaf_hash

AT = datetime(2026, 11, 20, 18, 0, 1, 234_567, tzinfo=UTC)
LEAF = leaf_hash(b"record")


@pytest.fixture(scope="module")
def private():
    seed = sha256(b"promise key").digest()
    return Ed25519PrivateKey.from_private_bytes(seed)


@pytest.fixture(scope="module")
def public(private):
    return private.public_key().public_bytes_raw()


@pytest.fixture(scope="module")
def promise(private):
    return sign_promise(LEAF, AT, private)


def test_a_promise_verifies(promise, public):
    assert verify_promise(promise, LEAF, public) == promise
    assert promise.promised_at == datetime(2026, 11, 20, 18, 0, 1, 234_000, tzinfo=UTC)


def test_the_signed_bytes_are_those_documented(promise, private, public):
    unix_ms = 1_795_197_601_234
    message = b"fair-registry/promise/v1\n" + unix_ms.to_bytes(8, "big") + LEAF
    assert len(message) == 65
    assert promise.unix_ms == unix_ms
    assert promise.signature == private.sign(message)
    expected = sha256(b"fair-registry/promise/v1\n" + public).hexdigest()[:16]
    assert promise.key_id == promise_key_id(public) == expected


def test_the_zone_of_the_clock_does_not_matter(promise, private):
    east = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    assert sign_promise(LEAF, east, private) == promise


@pytest.mark.parametrize(
    "changes",
    [
        {"unix_ms": 1_795_197_601_235},
        {"unix_ms": -1},
        {"unix_ms": 2**64},
        {"key_id": "0" * 16},
        {"signature": bytes(64)},
        {"signature": b""},
    ],
    ids=repr,
)
def test_an_edited_promise_is_refused(promise, public, changes):
    with pytest.raises(Refused) as refused:
        verify_promise(replace(promise, **changes), LEAF, public)
    assert refused.value.code == "promise_invalid"


@pytest.mark.parametrize("leaf", [leaf_hash(b"other"), LEAF[:31], LEAF + b"\0", b""])
def test_a_promise_for_another_leaf_is_refused(promise, public, leaf):
    with pytest.raises(Refused):
        verify_promise(promise, leaf, public)


def test_a_promise_by_another_key_is_refused(public):
    other = Ed25519PrivateKey.from_private_bytes(bytes(32))
    promise = replace(sign_promise(LEAF, AT, other), key_id=promise_key_id(public))
    with pytest.raises(Refused):
        verify_promise(promise, LEAF, public)


def test_a_promise_travels_as_json(promise):
    members = format_promise(promise)
    assert members["time"] == "2026-11-20T18:00:01.234Z"
    assert parse_promise(members) == promise


@pytest.mark.parametrize(
    "changes",
    [
        {"time": None},
        {"time": "yesterday"},
        {"time": "2026-11-20T18:00:01.234"},
        {"time": "2026-11-20T18:00:01Z"},
        {"time": "2026-11-20T18:00:01.2345Z"},
        {"time": "2026-11-20T19:00:01.234+01:00"},
        {"keyId": 7},
        {"signature": 7},
        {"signature": "AA=="},
        {"signature": "\u00e4"},
    ],
    ids=repr,
)
def test_a_promise_of_another_form_is_refused(promise, changes):
    with pytest.raises(Refused) as refused:
        parse_promise(format_promise(promise) | changes)
    assert refused.value.code == "promise_malformed"
