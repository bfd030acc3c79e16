"""Signatures inside WAB documents.

Kind A is flat: a top-level `signature` object over the RFC 8785 form of the rest. Kind B
is an envelope: `signature` over the RFC 8785 form of `payload`. Two more kinds occur and
are refused by name: A's envelope over the members in the order written (C), and
ECDSA-SHA256 over bytes from before the signing (D).

A document's own `public_key` proves nothing, since anybody can sign anybody's document
again: only keys pinned by DNS or by registration count. Kind A's `signed_at` stands
outside the signature and is not read.

An envelope speaks for its `host`, until its `expires_at`, and for nothing beside its
payload. The host is compared exactly: one key in the DNS serves every host of a domain,
so the envelope of one host could otherwise be shown on another. Its `endpoint` is a claim.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.identity import base64url, refusals
from registry.identity.keys.private_keys import public_key_of, sign
from registry.identity.keys.public_keys import PublicKey, verify_signature, wab_key_id
from registry.sites.host import parse_host
from registry.strict_json import JsonValue

ENVELOPE_TYPE = "wab.trust"
MAX_CLOCK_SKEW = timedelta(minutes=10)
_ALGORITHM = "ed25519"
_PREFIX = "ed25519:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A verified signature. key_id: WAB's name of the pinned key. expires_at: kind B only."""

    kind: Literal["A", "B"]
    key_id: str
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsigned:
    """A document without a signature, or with null for it."""


def verify_document_signature(
    document: Mapping[str, JsonValue],
    *,
    host: str,
    pinned: Sequence[PublicKey],
    now: datetime,
) -> Signed | Unsigned:
    """Verify a document's signature, of either kind, if it has one.

    host: the crawled one, an A-label. pinned: its keys by DNS record or registration.

    Raises: Refused.
    """
    match document.get("signature"):
        case None:
            return Unsigned()
        case dict() as signature:
            return _verify_flat(document, signature, pinned)
        case str() as signature:
            payload = _verify_envelope(document, signature, pinned)
            return _verify_claims(payload, host, now)
        case _:
            raise _malformed("signature must be an object or a string", "/signature")


def sign_document(
    document: Mapping[str, JsonValue], key: Ed25519PrivateKey, *, signed_at: datetime
) -> dict[str, JsonValue]:
    """Sign as kind A, replacing an earlier signature."""
    unsigned = _without_signature(document)
    public = public_key_of(key)
    signature: dict[str, JsonValue] = {
        "algorithm": _ALGORITHM,
        "value": _base64(sign(key, rfc8785.dumps(unsigned))),
        "key_id": wab_key_id(public.raw),
        "public_key": _base64(public.raw),
        "signed_at": signed_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    return {**unsigned, "signature": signature}


def _verify_flat(
    document: Mapping[str, JsonValue],
    signature: Mapping[str, JsonValue],
    pinned: Sequence[PublicKey],
) -> Signed:
    _verify_algorithm(signature)
    key = _find_pinned(_parse_key_id(signature), pinned)
    value = _read_base64(signature.get("value"), "/signature/value")
    unsigned = _without_signature(document)
    content = _canonical(unsigned)
    try:
        verify_signature(key, content, value)
    except Refused as refused:
        if _is_signed_as_written(unsigned, key, value):
            raise Refused(
                refusals.DOCUMENT_SIGNATURE_NOT_CANONICAL, pointer="/signature"
            ) from refused
        raise Refused(
            refusals.DOCUMENT_SIGNATURE_INVALID, pointer="/signature"
        ) from refused
    return Signed(kind="A", key_id=wab_key_id(key.raw))


def _verify_algorithm(signature: Mapping[str, JsonValue]) -> None:
    algorithm = signature.get("algorithm")
    if not isinstance(algorithm, str):
        raise _malformed("algorithm must be a string", "/signature/algorithm")
    if algorithm.lower() != _ALGORITHM:
        detail = f"The algorithm is {algorithm[:80]!a}."
        raise Refused(
            refusals.DOCUMENT_SIGNATURE_ALGORITHM,
            detail,
            pointer="/signature/algorithm",
        )


def _parse_key_id(signature: Mapping[str, JsonValue]) -> str:
    """Return the key id that the signature names; it must fit a key embedded there."""
    key_id = signature.get("key_id")
    if not isinstance(key_id, str):
        raise _malformed("key_id must be a string", "/signature/key_id")
    if signature.get("public_key") is not None:
        raw = _read_base64(signature["public_key"], "/signature/public_key")
        if wab_key_id(raw) != key_id:
            raise _malformed("key_id is not that of public_key", "/signature/key_id")
    return key_id


def _find_pinned(key_id: str, pinned: Sequence[PublicKey]) -> PublicKey:
    for key in pinned:
        if key.alg == "Ed25519" and wab_key_id(key.raw) == key_id:
            return key
    detail = f"The key_id is {key_id[:80]!a}."
    raise Refused(refusals.DOCUMENT_KEY_NOT_PINNED, detail, pointer="/signature/key_id")


def _is_signed_as_written(
    unsigned: Mapping[str, JsonValue], key: PublicKey, value: bytes
) -> bool:
    text = json.dumps(dict(unsigned), separators=(",", ":"), ensure_ascii=False)
    try:
        verify_signature(key, text.encode(), value)
    except Refused:
        return False
    return True


def _verify_envelope(
    document: Mapping[str, JsonValue], signature: str, pinned: Sequence[PublicKey]
) -> "_Payload":
    """Return the signed payload; its host and times are not checked yet."""
    payload = document.get("payload")
    if not isinstance(payload, dict):
        raise _malformed("payload must be an object", "/payload")
    if payload.get("type") != ENVELOPE_TYPE:
        raise _malformed(f"type must be {ENVELOPE_TYPE!r}", "/payload/type")
    key = _find_envelope_key(payload, pinned)
    value = _read_base64(signature, "/signature", prefix=_PREFIX)
    content = _canonical(payload)
    with Refused.on(Refused, refusals.DOCUMENT_SIGNATURE_INVALID, pointer="/signature"):
        verify_signature(key, content, value)
    return _Payload(payload, wab_key_id(key.raw))


def _find_envelope_key(
    payload: Mapping[str, JsonValue], pinned: Sequence[PublicKey]
) -> PublicKey:
    trust = payload.get("trust")
    if not isinstance(trust, dict):
        raise _malformed("trust must be an object", "/payload/trust")
    raw = _read_base64(trust.get("pk"), "/payload/trust/pk", prefix=_PREFIX)
    for key in pinned:
        if key.alg == "Ed25519" and key.raw == raw:
            return key
    raise Refused(refusals.DOCUMENT_KEY_NOT_PINNED, pointer="/payload/trust/pk")


@dataclass(frozen=True, slots=True)
class _Payload:
    """Payload of an envelope with a valid signature."""

    members: Mapping[str, JsonValue]
    key_id: str


def _verify_claims(payload: _Payload, host: str, now: datetime) -> Signed:
    _verify_host(payload.members, host)
    if payload.members.get("issued_at") is not None:
        issued_at = _parse_time(payload.members, "issued_at")
        if issued_at - now > MAX_CLOCK_SKEW:
            detail = f"It was issued at {issued_at.isoformat()}."
            raise Refused(
                refusals.DOCUMENT_SIGNATURE_FROM_FUTURE,
                detail,
                pointer="/payload/issued_at",
            )
    expires_at = _parse_time(payload.members, "expires_at")
    if now >= expires_at:
        detail = f"It expired at {expires_at.isoformat()}."
        raise Refused(
            refusals.DOCUMENT_SIGNATURE_EXPIRED, detail, pointer="/payload/expires_at"
        )
    return Signed(kind="B", key_id=payload.key_id, expires_at=expires_at)


def _verify_host(payload: Mapping[str, JsonValue], host: str) -> None:
    text = payload.get("host")
    pointer = "/payload/host"
    if not isinstance(text, str):
        raise _malformed("host must be a string", pointer)
    try:
        # Under .test too: the crawled host is what it is compared with.
        named = parse_host(text, test_hosts=True).name
    except Refused:
        named = ""
    if named != host:
        detail = f"It speaks for {text[:80]!a}, and stands on {host}."
        raise Refused(refusals.DOCUMENT_SIGNATURE_HOST, detail, pointer=pointer)


def _parse_time(payload: Mapping[str, JsonValue], name: str) -> datetime:
    text = payload.get(name)
    pointer = f"/payload/{name}"
    if not isinstance(text, str):
        raise _malformed(f"{name} must be a string", pointer)
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise _malformed(f"{name} must be an RFC 3339 time", pointer) from error
    if instant.tzinfo is None:
        raise _malformed(f"{name} must state its offset from UTC", pointer)
    return instant


def _without_signature(document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value for name, value in document.items() if name != "signature"}


def _canonical(value: dict[str, JsonValue]) -> bytes:
    try:
        return rfc8785.dumps(value)
    except (ValueError, RecursionError) as error:
        raise _malformed("the content has no RFC 8785 form", "/signature") from error


def _read_base64(value: JsonValue, pointer: str, *, prefix: str = "") -> bytes:
    name = pointer.rpartition("/")[2]
    if not isinstance(value, str) or not value.startswith(prefix):
        raise _malformed(f"{name} must be a string '{prefix}<base64>'", pointer)
    try:
        return base64url.decode_either(value.removeprefix(prefix))
    except ValueError as error:
        raise _malformed(f"{name} {error}", pointer) from error


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")


def _malformed(reason: str, pointer: str) -> Refused:
    return Refused(
        refusals.DOCUMENT_SIGNATURE_MALFORMED,
        f"In the document {reason}.",
        pointer=pointer,
    )
