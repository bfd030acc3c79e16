from datetime import UTC, datetime, timedelta

import pytest

from registry.errors import RegistryError
from registry.identity.statements.challenge import (
    CHALLENGE_LIFETIME,
    IssuedChallenge,
    make_challenge,
    verify_challenge,
)
from registry.identity.statements.nonce import format_nonce, parse_nonce
from registry.identity.statements.registration import parse_statement, verify_statement
from registry.sites.host import parse_host

NOW = datetime(2026, 11, 20, 12, 0, 0, 500_000, tzinfo=UTC)
AUDIENCE = "https://registry.example"
CHALLENGE = make_challenge(
    parse_host("shop.example.com"),
    audience=AUDIENCE,
    next_seq=4,
    now=NOW,
    randomness=bytes(range(32)),
)
STATEMENT = parse_statement(CHALLENGE.payload)
ISSUED = IssuedChallenge(host="shop.example.com", expires_at=CHALLENGE.expires_at)


def test_the_payload_can_be_signed_as_it_stands() -> None:
    verify_statement(STATEMENT, audience=AUDIENCE, now=NOW)
    assert STATEMENT.nonce == CHALLENGE.nonce
    assert STATEMENT.seq == 4


def test_a_challenge_lasts_an_hour() -> None:
    assert CHALLENGE.expires_at == NOW + timedelta(hours=1) == NOW + CHALLENGE_LIFETIME


def test_the_next_steps_say_where_to_put_what() -> None:
    jwks, dns = CHALLENGE.next_steps
    assert jwks.method == "jwks"
    assert jwks.where == (
        "https://shop.example.com/.well-known/agent-registry-keys.json"
    )
    assert "_agent-registry.shop.example.com" in jwks.how
    assert dns.method == "dns"
    assert dns.where == "_wab.example.com"
    assert dns.put.startswith("v=wab1; endpoint=https://shop.example.com/")


def test_a_known_fresh_nonce_verifies() -> None:
    verify_challenge(STATEMENT, ISSUED, now=NOW)


@pytest.mark.parametrize(
    ("issued", "now", "code"),
    [
        (None, NOW, "nonce_unknown"),
        (
            IssuedChallenge(host="other.example.com", expires_at=ISSUED.expires_at),
            NOW,
            "nonce_of_another_host",
        ),
        (
            IssuedChallenge(
                host=ISSUED.host, expires_at=ISSUED.expires_at, consumed_at=NOW
            ),
            NOW,
            "nonce_used",
        ),
        (ISSUED, ISSUED.expires_at, "nonce_expired"),
    ],
)
def test_a_nonce_that_is_not_this_hosts_fresh_one_is_refused(
    issued: IssuedChallenge | None, now: datetime, code: str
) -> None:
    with pytest.raises(RegistryError) as caught:
        verify_challenge(STATEMENT, issued, now=now)
    assert caught.value.code == code
    assert caught.value.problem.pointer == "/jti"


def test_the_refusal_does_not_tell_whose_nonce_it_is() -> None:
    issued = IssuedChallenge(host="other.example.com", expires_at=ISSUED.expires_at)
    with pytest.raises(RegistryError) as caught:
        verify_challenge(STATEMENT, issued, now=NOW)
    assert "other.example.com" not in caught.value.problem.detail


def test_a_nonce_is_32_bytes() -> None:
    nonce = format_nonce(b"\xff" * 32)
    assert parse_nonce(nonce) == nonce
    with pytest.raises(ValueError, match="32"):
        format_nonce(bytes(16))
    with pytest.raises(ValueError, match="16 bytes"):
        parse_nonce("A" * 22)
