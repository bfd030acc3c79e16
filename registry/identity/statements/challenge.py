"""The challenge: a single-use nonce, the payload to sign, and how to prove control.

The nonce makes each statement fresh; it is consumed in the transaction of the effect,
so that a failed attempt does not burn it. Who asks for a challenge is not known, and
need not be: only the holder of a published key can use it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from registry.errors import Conflict, Refused
from registry.identity import refusals
from registry.identity.keys.key_source import (
    key_set_url,
    pin_record_name,
    wab_record_name,
)
from registry.identity.statements.nonce import format_nonce
from registry.identity.statements.registered_claims import MAX_LIFETIME
from registry.identity.statements.registration import SiteStatement
from registry.sites.host import Host
from registry.strict_json import JsonValue

CHALLENGE_LIFETIME = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextStep:
    """A way to prove control; each suffices alone.

    where: a URL, or the name of a TXT record. put: its content, with a blank to fill in.
    """

    method: Literal["jwks", "dns"]
    where: str
    put: str
    how: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """Nonce and payload; to be signed within ten minutes, later with new `iat` and `exp`."""

    host: Host
    nonce: str
    expires_at: datetime
    payload: Mapping[str, JsonValue]
    next_steps: tuple[NextStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedChallenge:
    """Record of an issued nonce. host: the name it was issued for."""

    host: str
    expires_at: datetime
    consumed_at: datetime | None = None


def make_challenge(
    host: Host, *, audience: str, next_seq: int, now: datetime, randomness: bytes
) -> Challenge:
    """Make a challenge. next_seq: above every accepted `seq`. randomness: 32 bytes."""
    nonce = format_nonce(randomness)
    issued = int(now.timestamp())
    payload: dict[str, JsonValue] = {
        "aud": audience,
        "sub": host.name,
        "iat": issued,
        "exp": issued + int(MAX_LIFETIME.total_seconds()),
        "jti": nonce,
        "seq": next_seq,
        "act": "register",
        "docs": [],
    }
    return Challenge(
        host=host,
        nonce=nonce,
        expires_at=now + CHALLENGE_LIFETIME,
        payload=payload,
        next_steps=(_publish_key_set(host), _publish_wab_record(host)),
    )


def verify_challenge(
    statement: SiteStatement, issued: IssuedChallenge | None, *, now: datetime
) -> None:
    """Check the statement's nonce. issued: its record, None if there is none.

    Raises: Refused, or Conflict(NONCE_USED).
    """
    if issued is None:
        raise Refused(refusals.NONCE_UNKNOWN, pointer="/jti")
    if issued.host != statement.host.name:
        raise Refused(refusals.NONCE_OF_ANOTHER_HOST, pointer="/jti")
    if issued.consumed_at is not None:
        raise Conflict(refusals.NONCE_USED, pointer="/jti")
    if now >= issued.expires_at:
        raise Refused(refusals.NONCE_EXPIRED, pointer="/jti")


def _publish_key_set(host: Host) -> NextStep:
    return NextStep(
        method="jwks",
        where=key_set_url(host),
        put='{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "<public key>"}]}',
        how=(
            "Serve this JSON at the URL. <public key> is the output of: openssl pkey "
            "-in key.pem -pubout -outform DER | tail -c 32 | openssl base64 -A | "
            "tr '+/' '-_' | tr -d '='. To allow no other key, also add a TXT record "
            f"at {pin_record_name(host)}: v=ar1; kid=<thumbprint>."
        ),
    )


def _publish_wab_record(host: Host) -> NextStep:
    endpoint = f"https://{host.name}/agent-bridge.json"
    return NextStep(
        method="dns",
        where=wab_record_name(host),
        put=f"v=wab1; endpoint={endpoint}; pk=ed25519:<public key>",
        how=(
            "Add this as a TXT record. <public key> is the output of: openssl pkey "
            "-in key.pem -pubout -outform DER | tail -c 32 | openssl base64 -A."
        ),
    )
