"""The attacks that the registration protocol lists, against the whole chain of checks.

`accept` does with values what the registry does with its database: every test sends a
token that a naive service would take.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.ed25519_points import L, P
from registry.errors import Refused, RegistryError
from registry.identity import base64url
from registry.identity.keys.jwk import jwks_document, parse_jwks
from registry.identity.keys.key_source import (
    KeyReference,
    key_set_url,
    verify_key_set_origin,
)
from registry.identity.keys.key_trust import Distrusted, KeyEvidence, decide_key_trust
from registry.identity.keys.private_keys import public_key_of, sign
from registry.identity.statements.challenge import IssuedChallenge, verify_challenge
from registry.identity.statements.jws import parse_compact, sign_compact, verify_jws
from registry.identity.statements.registration import (
    SiteStatement,
    parse_statement,
    verify_sequence,
    verify_statement,
)
from registry.strict_json import JsonValue

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
IAT = int(NOW.timestamp())
AUDIENCE = "https://registry.example"
OWNER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
STRANGER = Ed25519PrivateKey.from_private_bytes(bytes(range(1, 33)))
NONCE, OTHER_NONCE, USED_NONCE = "A" * 43, "B" * 42 + "A", "C" * 42 + "A"
PAYLOAD: dict[str, JsonValue] = {
    "aud": AUDIENCE,
    "sub": "shop.example.com",
    "iat": IAT,
    "exp": IAT + 600,
    "jti": NONCE,
    "seq": 8,
    "act": "register",
    "docs": [{"url": "https://shop.example.com/agent.json"}],
}
HEADER: dict[str, JsonValue] = {
    "alg": "Ed25519",
    "kid": public_key_of(OWNER).kid,
    "typ": "site-registration+jws",
}
EXPIRES_AT = NOW + timedelta(minutes=30)


def nonces() -> dict[str, IssuedChallenge]:
    return {
        NONCE: IssuedChallenge(host="shop.example.com", expires_at=EXPIRES_AT),
        OTHER_NONCE: IssuedChallenge(host="other.example.com", expires_at=EXPIRES_AT),
        USED_NONCE: IssuedChallenge(
            host="shop.example.com", expires_at=EXPIRES_AT, consumed_at=NOW
        ),
    }


@dataclass
class World:
    """The registry's memory, and what shop.example.com serves as its key set."""

    key_set: bytes = jwks_document([public_key_of(OWNER)])
    key_set_from: str = key_set_url(parse_statement(PAYLOAD).host)
    issued: dict[str, IssuedChallenge] = field(default_factory=nonces)
    last_seq: int = 7

    def accept(self, token: bytes) -> SiteStatement:
        jws = parse_compact(token)
        statement = parse_statement(jws.payload)
        verify_statement(statement, audience=AUDIENCE, now=NOW)
        issued = self.issued.get(statement.nonce)
        verify_challenge(statement, issued, now=NOW)
        verify_sequence(statement, last_seq=self.last_seq, now=NOW)
        source_url = key_set_url(statement.host)
        verify_key_set_origin(statement.host, self.key_set_from)
        keys = {
            KeyReference(source_url=source_url, kid=key.kid): key
            for key in parse_jwks(self.key_set)
        }
        reference = KeyReference(source_url=source_url, kid=jws.kid)
        evidence = KeyEvidence(published=keys.keys())
        decision = decide_key_trust(reference, evidence, now=NOW)
        if isinstance(decision, Distrusted):
            raise Refused(decision.problem)
        verify_jws(jws, keys[reference])
        assert issued is not None
        self.issued[statement.nonce] = replace(issued, consumed_at=NOW)
        self.last_seq = statement.seq
        return statement


def part(value: JsonValue | bytes) -> bytes:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64url.encode(raw).encode()


def token(
    payload: dict[str, JsonValue] | bytes = PAYLOAD,
    header: dict[str, JsonValue] | bytes = HEADER,
    key: Ed25519PrivateKey = OWNER,
) -> bytes:
    signing_input = part(header) + b"." + part(payload)
    return signing_input + b"." + part(sign(key, signing_input))


def with_payload(**changes: JsonValue) -> bytes:
    return token({**PAYLOAD, **changes})


def with_header(**changes: JsonValue) -> bytes:
    return token(header={**HEADER, **changes})


def edit_payload() -> bytes:
    header, _, signature = token().split(b".")
    return b".".join([header, part({**PAYLOAD, "category": "bank"}), signature])


def add_l() -> bytes:
    signing_input, _, last = token().rpartition(b".")
    signature = base64url.decode(last.decode())
    s = int.from_bytes(signature[32:], "little") + L
    return signing_input + b"." + part(signature[:32] + s.to_bytes(32, "little"))


def set_trailing_bit() -> bytes:
    sound = token()
    return sound[:-1] + bytes([sound[-1] + 1])


JWK = public_key_of(STRANGER).jwk
ATTACKS: dict[str, tuple[Callable[[], bytes], str]] = {
    "alg none": (lambda: with_header(alg="none"), "alg_unsupported"),
    "HS256 with the public key": (lambda: with_header(alg="HS256"), "alg_unsupported"),
    "embedded jwk": (
        lambda: token(header={**HEADER, "jwk": dict(JWK)}, key=STRANGER),
        "header_members",
    ),
    "jku": (lambda: with_header(jku="https://evil.example.net/"), "header_members"),
    "crit": (lambda: with_header(crit=["exp"]), "header_members"),
    "b64": (lambda: with_header(b64=False), "header_members"),
    "another site's kid": (
        lambda: sign_compact(PAYLOAD, STRANGER).encode(),
        "key_not_published",
    ),
    "another site's signature": (lambda: token(key=STRANGER), "signature_invalid"),
    "S + L": (add_l, "signature_invalid"),
    "trailing bits": (set_trailing_bit, "token_malformed"),
    "padding": (lambda: token() + b"==", "token_malformed"),
    "edited payload": (edit_payload, "signature_invalid"),
    "wrong aud": (lambda: with_payload(aud="https://other.example"), "aud_wrong"),
    "expired": (
        lambda: with_payload(iat=IAT - 900, exp=IAT - 300),
        "statement_expired",
    ),
    "from the future": (
        lambda: with_payload(iat=IAT + 120, exp=IAT + 600),
        "statement_from_future",
    ),
    "an endless statement": (
        lambda: with_payload(exp=IAT + 86400),
        "lifetime_invalid",
    ),
    "duplicate header key": (
        lambda: token(header=b'{"alg":"none",' + json.dumps(HEADER).encode()[1:]),
        "json_duplicate_key",
    ),
    "duplicate payload key": (
        lambda: token(b'{"sub":"evil.example",' + json.dumps(PAYLOAD).encode()[1:]),
        "json_duplicate_key",
    ),
    "lower seq": (lambda: with_payload(seq=6), "seq_not_increasing"),
    "equal seq": (lambda: with_payload(seq=7), "seq_not_increasing"),
    "nonce of another host": (
        lambda: with_payload(jti=OTHER_NONCE),
        "nonce_of_another_host",
    ),
    "nonce never issued": (lambda: with_payload(jti="D" * 42 + "A"), "nonce_unknown"),
    "nonce used": (lambda: with_payload(jti=USED_NONCE), "nonce_used"),
    "a public suffix": (lambda: with_payload(sub="co.uk"), "public_suffix"),
    "a private suffix": (lambda: with_payload(sub="github.io"), "public_suffix"),
    "an address": (lambda: with_payload(sub="192.0.2.1"), "ip_literal"),
}


def code_of(world: World, body: bytes) -> str:
    with pytest.raises(RegistryError) as caught:
        world.accept(body)
    assert caught.value.problem.fix
    return caught.value.code


def test_the_honest_token_is_accepted() -> None:
    assert World().accept(token()).host.name == "shop.example.com"


@pytest.mark.parametrize(("attack", "code"), ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_is_refused_by_name(attack: Callable[[], bytes], code: str) -> None:
    assert code_of(World(), attack()) == code


def test_a_replay_is_refused() -> None:
    world = World()
    world.accept(token())
    assert code_of(world, token()) == "nonce_used"


def test_a_failed_attempt_does_not_burn_the_nonce() -> None:
    world = World()
    assert code_of(world, edit_payload()) == "signature_invalid"
    assert world.accept(token()).nonce == NONCE


def test_a_key_set_behind_a_redirect_to_another_host_is_refused() -> None:
    world = World(key_set_from="https://evil.example.net/keys.json")
    assert code_of(world, token()) == "key_set_elsewhere"


def key_set_of(x: bytes, **members: JsonValue) -> bytes:
    entry = {"kty": "OKP", "crv": "Ed25519", "x": base64url.encode(x), **members}
    return json.dumps({"keys": [entry]}).encode()


def test_a_private_key_in_the_key_set_is_refused() -> None:
    world = World(key_set=key_set_of(public_key_of(OWNER).raw, d="c2VjcmV0"))
    assert code_of(world, token()) == "key_secret_published"


@pytest.mark.parametrize(
    ("x", "code"),
    [
        (b"\x01" + bytes(31), "key_small_order"),
        (P.to_bytes(32, "little"), "key_not_canonical"),
    ],
)
def test_a_forgery_under_a_weak_key_is_refused(x: bytes, code: str) -> None:
    """R = identity, S = 0: under the identity point it fits every message."""
    thumbprint = base64url.encode(bytes(32))
    signing_input = part({**HEADER, "kid": thumbprint}) + b"." + part(PAYLOAD)
    forged = signing_input + b"." + part(b"\x01" + bytes(63))
    assert code_of(World(key_set=key_set_of(x)), forged) == code
