"""Signed statements of a site's owner about the site."""

from pathlib import Path
from typing import Any, TypeAlias

from registry.calls.results import ChallengeGiven
from registry.identity.keys.private_keys import PrivateKey, load_private_key
from registry.identity.statements.jws import sign_compact
from registry.sites.host import parse_host
from registry.strict_json import JsonObject

LIFETIME_S = 600
KeyOrFile: TypeAlias = PrivateKey | Path | str
"""A private key, or the PEM file that holds it."""


def key_of(key: KeyOrFile) -> PrivateKey:
    """Raises: OSError, RegistryError."""
    if isinstance(key, str | Path):
        return load_private_key(Path(key).read_bytes())
    return key


def sign_statement(
    challenge: ChallengeGiven,
    key: PrivateKey,
    *,
    host: str,
    origin: str,
    act: str,
    now: int,
    members: dict[str, Any],
) -> str:
    """Sign a statement; of the challenge only its nonce and number are taken.

    What else its template has is not: it could be another registry's challenge. origin:
    of this registry. now: Unix seconds. Raises: RegistryError for what is no host.
    """
    claims: JsonObject = {
        "aud": origin.rstrip("/"),
        "sub": parse_host(host, test_hosts=True).name,
        "jti": challenge.nonce,
        "seq": int(challenge.payload["seq"]),
        "iat": now,
        "exp": now + LIFETIME_S,
    }
    return sign_compact({**claims, "act": act, **members}, key)


def sign_request(key: PrivateKey, typ: str, *, host: str, origin: str, now: int) -> str:
    """Sign a request about a site. typ: says which. now: Unix seconds."""
    claims: JsonObject = {
        "aud": origin.rstrip("/"),
        "sub": host,
        "iat": now,
        "exp": now + LIFETIME_S,
    }
    return sign_compact(claims, key, typ=typ)
