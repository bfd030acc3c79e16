"""The one form of signed statement: a compact JWS with three header members.

Profile of RFC 7515: the protected header holds exactly `alg`, `kid` and `typ`, so no
token can bring its own key (`jwk`, `jku`, `x5u`) or change its own reading (`crit`,
`b64`); `alg` is bound to the key and never chosen by the token. The steps of
`parse_compact` keep the order of the registration protocol, so that each token has one
refusal.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from registry.errors import Refused
from registry.identity import base64url, refusals
from registry.identity.json_fields import parse_object
from registry.identity.keys.private_keys import PrivateKey, public_key_of, sign
from registry.identity.keys.public_keys import (
    Algorithm,
    PublicKey,
    parse_thumbprint,
    verify_signature,
)
from registry.strict_json import JsonValue

REGISTRATION_TYP = "site-registration+jws"
REFRESH_TYP = "site-refresh+jws"
OWN_EXPOSURE_TYP = "site-exposure+jws"
OPERATOR_TYP = "operator-statement+jws"
MAX_TOKEN_BYTES = 16 * 1024
_PART_NAMES = ("header", "payload", "signature")
_HEADER_MEMBERS = frozenset({"alg", "kid", "typ"})
# EdDSA is what RFC 8037 called it before RFC 9864 named the curve.
_ALGORITHMS: dict[str, Algorithm] = {
    "Ed25519": "Ed25519",
    "EdDSA": "Ed25519",
    "ES256": "ES256",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactJws:
    """A well-formed token whose signature is not checked yet.

    alg: EdDSA is already Ed25519 here. digest: SHA-256 of the whole token, 32 bytes.
    """

    alg: Algorithm
    kid: str
    typ: str
    payload: Mapping[str, JsonValue]
    signing_input: bytes
    signature: bytes
    digest: bytes


def parse_compact(token: bytes, *, typ: str = REGISTRATION_TYP) -> CompactJws:
    """Parse a token in the protocol's order of steps. Raises: Refused."""
    # 1. size
    if len(token) > MAX_TOKEN_BYTES:
        raise Refused(refusals.TOKEN_TOO_LARGE, f"The token has {len(token)} bytes.")
    # 2. three parts of base64url, one spelling each
    header_bytes, payload_bytes, signature = _split(token)
    # 3. header without a duplicate, extra or missing member
    header = parse_object(header_bytes, "protected header")
    _verify_header_members(header)
    # 4. typ, alg, kid
    if header["typ"] != typ:
        raise Refused(
            refusals.TYP_WRONG, f"typ must be {typ!r}.", pointer="/protected/typ"
        )
    alg = _parse_alg(header["alg"])
    kid = _parse_kid(header["kid"])
    # 5. payload without duplicates
    payload = parse_object(payload_bytes, "payload")
    return CompactJws(
        alg=alg,
        kid=kid,
        typ=typ,
        payload=payload,
        signing_input=token.rpartition(b".")[0],
        signature=signature,
        digest=hashlib.sha256(token).digest(),
    )


def verify_jws(jws: CompactJws, key: PublicKey) -> CompactJws:
    """Verify against a key of the site's own source; a token never brings its key.

    Raises: Refused.
    """
    if jws.kid != key.kid:
        raise Refused(refusals.KID_MISMATCH, pointer="/protected/kid")
    if jws.alg != key.alg:
        detail = f"The token says {jws.alg}, the key is for {key.alg}."
        raise Refused(refusals.ALG_MISMATCH, detail, pointer="/protected/alg")
    verify_signature(key, jws.signing_input, jws.signature)
    return jws


def sign_compact(
    payload: Mapping[str, JsonValue], key: PrivateKey, *, typ: str = REGISTRATION_TYP
) -> str:
    public = public_key_of(key)
    header: dict[str, JsonValue] = {"alg": public.alg, "kid": public.kid, "typ": typ}
    signing_input = f"{_encode(header)}.{_encode(payload)}"
    signature = sign(key, signing_input.encode("ascii"))
    return f"{signing_input}.{base64url.encode(signature)}"


def _encode(members: Mapping[str, JsonValue]) -> str:
    text = json.dumps(dict(members), separators=(",", ":"), ensure_ascii=False)
    return base64url.encode(text.encode())


def _split(token: bytes) -> tuple[bytes, bytes, bytes]:
    with Refused.on(ValueError, refusals.TOKEN_MALFORMED, "The token is not ASCII."):
        parts = token.decode("ascii").split(".")
    if len(parts) != len(_PART_NAMES):
        detail = f"The token has {len(parts)} parts between dots, not 3."
        raise Refused(refusals.TOKEN_MALFORMED, detail)
    header, payload, signature = map(decode_part, _PART_NAMES, parts)
    return header, payload, signature


def decode_part(name: str, part: str) -> bytes:
    try:
        return base64url.decode(part)
    except ValueError as error:
        raise Refused(refusals.TOKEN_MALFORMED, f"The {name} part {error}.") from error


def _verify_header_members(header: Mapping[str, JsonValue]) -> None:
    for name in sorted(header.keys() - _HEADER_MEMBERS):
        detail = f"The protected header holds {name[:80]!r} besides alg, kid and typ."
        raise Refused(refusals.HEADER_MEMBERS, detail, pointer="/protected")
    for name in sorted(_HEADER_MEMBERS - header.keys()):
        detail = f"The protected header lacks {name!r}."
        raise Refused(refusals.HEADER_MEMBERS, detail, pointer=f"/protected/{name}")


def _parse_alg(value: JsonValue) -> Algorithm:
    alg = _ALGORITHMS.get(value) if isinstance(value, str) else None
    if alg is None:
        detail = f"alg is {str(value)[:80]!r}."
        raise Refused(refusals.ALG_UNSUPPORTED, detail, pointer="/protected/alg")
    return alg


def _parse_kid(value: JsonValue) -> str:
    if not isinstance(value, str):
        detail = "kid must be a string."
        raise Refused(refusals.KID_MALFORMED, detail, pointer="/protected/kid")
    with Refused.on(
        ValueError, refusals.KID_MALFORMED, "kid {}.".format, pointer="/protected/kid"
    ):
        return parse_thumbprint(value)
