"""Signed requests: good for one request, at one registry, for minutes, once."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity.keys.api_key import RANDOM_BYTES, digest_api_key, format_api_key
from registry.identity.keys.private_keys import PrivateKey, public_key_of
from registry.identity.requests.message_signature import content_digest
from registry.identity.requests.operator_request import (
    MAX_LIFETIME_S,
    MAX_SKEW_S,
    SignedRequest,
    is_for_us,
    key_of,
    sign_request,
    verify_request,
)
from tests.unit.identity.fixed_keys import fixed_key

KEYS = [fixed_key("Ed25519", 1), fixed_key("ES256", 2)]
NOW = 1_790_000_000
GET = SignedRequest(
    method="GET",
    authority="registry.example",
    path="/v1/search",
    query="q=bread&city=Amman",
    fields={},
    body=b"",
)
POST = replace(GET, method="POST", query="", body=b'{"q":"bread"}')


def signed(
    request: SignedRequest, key: PrivateKey = KEYS[0], **parameters: Any
) -> SignedRequest:
    fields = sign_request(request, key, **{"now": NOW, "nonce": "n1", **parameters})
    return replace(
        request, fields={name.lower(): value for name, value in fields.items()}
    )


def verify(request: SignedRequest, key: PrivateKey = KEYS[0], now: int = NOW) -> Any:
    return verify_request(request, public_key_of(key), now=now)


@pytest.mark.parametrize("key", KEYS, ids=["Ed25519", "ES256"])
@pytest.mark.parametrize("request_", [GET, POST], ids=["GET", "POST"])
def test_signed_request_tells_its_key_and_its_nonce(
    request_: SignedRequest, key: PrivateKey
) -> None:
    request = signed(request_, key)
    assert key_of(request) == public_key_of(key).kid
    used = verify(request, key)
    assert (used.nonce, used.expires) == ("n1", NOW + 60)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"method": "POST"}, id="method"),
        pytest.param({"authority": "other.example"}, id="registry"),
        pytest.param({"path": "/v1/selections"}, id="path"),
        pytest.param({"query": "q=bombs"}, id="query"),
        pytest.param({"query": ""}, id="no query"),
        pytest.param({"body": b"{}"}, id="a body that was not there"),
        pytest.param({"path": "/v1/search\n"}, id="line in the path"),
        pytest.param({"query": "q=\xe9"}, id="query beyond ASCII"),
    ],
)
def test_signature_is_for_one_request(change: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        verify(replace(signed(GET), **change))


def test_signature_is_by_one_key() -> None:
    for key in KEYS:
        with pytest.raises(Refused, match="signature_invalid"):
            verify(signed(GET, fixed_key("Ed25519", 3)), key)


@pytest.mark.parametrize(
    "bend",
    [
        pytest.param(lambda fields: fields.pop("content-digest"), id="no digest"),
        pytest.param(lambda fields: fields.update({"content-digest": content_digest(b"x")}), id="another's digest"),
        pytest.param(lambda fields: fields.update({"content-digest": "sha-256=:AAAA:"}), id="short digest"),
        pytest.param(lambda fields: fields.update({"content-digest": "?"}), id="no dictionary"),
        pytest.param(lambda fields: fields.update({"content-digest": "md5=:AAAA:"}), id="another hash"),
    ],
)  # fmt: skip
def test_body_is_bound_by_its_digest(bend: Callable[[dict[str, str]], object]) -> None:
    request = signed(POST)
    fields = dict(request.fields)
    bend(fields)
    with pytest.raises(Refused, match="request_digest_wrong"):
        verify(replace(request, fields=fields))
    with pytest.raises(Refused, match="request_digest_wrong"):
        verify(replace(request, body=b"{}"))


def test_digest_is_covered_as_it_was_sent() -> None:
    request = signed(POST)
    both = f"{request.fields['content-digest']}, sha-512=:AAAA:"
    with pytest.raises(Refused, match="signature_invalid"):
        verify(replace(request, fields={**request.fields, "content-digest": both}))


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (NOW, True),
        (NOW + 59, True),
        (NOW + 60, False),
        (NOW - MAX_SKEW_S, True),
        (NOW - MAX_SKEW_S - 1, False),
    ],
)
def test_signature_holds_for_its_time(now: int, holds: bool) -> None:
    if holds:
        verify(signed(GET), now=now)
        return
    with pytest.raises(Refused, match="signature_invalid"):
        verify(signed(GET), now=now)


def test_nobody_signs_for_long() -> None:
    verify(signed(GET, lifetime_s=MAX_LIFETIME_S))
    with pytest.raises(Refused, match="more than"):
        verify(signed(GET, lifetime_s=MAX_LIFETIME_S + 1))


@pytest.mark.parametrize("nonce", ["", "n" * 65])
def test_nonce_is_there_and_short(nonce: str) -> None:
    with pytest.raises(Refused, match="nonce"):
        verify(signed(GET, nonce=nonce))


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("signature-input", lambda old: old.replace('"@method" ', "")),
        ("signature-input", lambda old: old.replace('"@authority" ', "")),
        ("signature-input", lambda old: old.replace('"@path" ', "")),
        ("signature-input", lambda old: old.replace(' "@query"', "")),
        ("signature-input", lambda old: old.replace(";created", ";made")),
        ("signature-input", lambda old: old.replace(";expires", ";ends")),
        ("signature-input", lambda old: old.replace('"ed25519"', '"hmac-sha256"')),
        ("signature-input", lambda old: old.replace("keyid=", "key=")),
        ("signature-input", lambda old: f"{old}, b{old}"),
        ("signature-input", lambda _: ""),
        ("signature", lambda old: old.replace("operator=", "other=")),
        ("signature", lambda _: "operator=:AAAA:"),
        ("signature", lambda _: ""),
    ],
)
def test_bent_signature_is_refused(field: str, change: Callable[[str], str]) -> None:
    request = signed(GET)
    fields = {**request.fields, field: change(request.fields[field])}
    assert fields != request.fields
    with pytest.raises(Refused, match="signature_invalid"):
        verify(replace(request, fields=fields))


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_stands_in_the_fields_is_refused(
    parameters: str, signature: str
) -> None:
    fields = {"signature-input": parameters, "signature": signature}
    with pytest.raises(Refused):
        key_of(replace(GET, fields=fields))
    with pytest.raises(Refused):
        verify(replace(GET, fields=fields))


def test_signatures_of_others_are_not_for_us() -> None:
    assert is_for_us(signed(GET).fields["signature-input"])
    assert not is_for_us('sig=("@authority");created=1;tag="web-bot-auth"')
    assert not is_for_us("")


@given(st.binary(min_size=RANDOM_BYTES, max_size=RANDOM_BYTES))
def test_api_key_has_one_spelling(randomness: bytes) -> None:
    key = format_api_key(randomness)
    assert len(digest_api_key(key)) == 32
    for other in (key[:-1], key + "A", key.removeprefix("frk_"), f" {key}", key + "="):
        with pytest.raises(ValueError, match=r"."):
            digest_api_key(other)


@given(st.text())
def test_any_text_is_an_api_key_or_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        digest_api_key(text)


def test_api_key_is_of_full_length() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        format_api_key(b"short")
