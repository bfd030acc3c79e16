"""The registry's promise to log a record, given with every answer (like a CT SCT).

Signed with Ed25519, 65 bytes in all:

    "fair-registry/promise/v1" 0x0A   25 bytes
    unix_ms                            8 bytes, unsigned, big-endian
    leaf hash                         32 bytes

The first line keeps a promise from being read as a checkpoint, should one key sign both.
Key id: the first eight bytes of SHA-256 over that line and the 32-byte public key, in
hex. A promise without such a leaf in the log within the merge delay is the proof of an
omission.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from registry.errors import Refused
from registry.identity import base64url
from registry.records.refusals import PROMISE_INVALID, PROMISE_MALFORMED
from registry.tlog.merkle import HASH_BYTES

_DOMAIN = b"fair-registry/promise/v1\n"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_KEY_ID_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """unix_ms: when the record was accepted. key_id: 16 hex digits."""

    unix_ms: int
    key_id: str
    signature: bytes

    @property
    def promised_at(self) -> datetime:
        return _EPOCH + self.unix_ms * _MILLISECOND


def promise_key_id(public: bytes) -> str:
    """public: 32 bytes."""
    return sha256(_DOMAIN + public).digest()[:_KEY_ID_BYTES].hex()


@lru_cache(maxsize=2)
def _key_id_of(private: Ed25519PrivateKey) -> str:
    return promise_key_id(private.public_key().public_bytes_raw())


def sign_promise(leaf: bytes, at: datetime, private: Ed25519PrivateKey) -> Promise:
    """leaf: the leaf hash of a record that is already durable."""
    unix_ms = (at - _EPOCH) // _MILLISECOND
    return Promise(
        unix_ms=unix_ms,
        key_id=_key_id_of(private),
        signature=private.sign(_message(leaf, unix_ms)),
    )


def verify_promise(promise: Promise, leaf: bytes, public: bytes) -> Promise:
    """public: the registry's promise key, 32 bytes. Raises: Refused."""
    if promise.key_id != promise_key_id(public):
        raise Refused(PROMISE_INVALID, "it names another key")
    if len(leaf) != HASH_BYTES or not 0 <= promise.unix_ms < 2**63:
        raise Refused(PROMISE_INVALID, "no such leaf hash or time")
    message = _message(leaf, promise.unix_ms)
    with Refused.on(InvalidSignature, PROMISE_INVALID):
        Ed25519PublicKey.from_public_bytes(public).verify(promise.signature, message)
    return promise


def format_promise(promise: Promise) -> dict[str, str]:
    """Format a promise as answers carry it: RFC 3339 UTC with milliseconds, hex, base64url."""
    return {
        "time": format_millisecond(promise.promised_at),
        "keyId": promise.key_id,
        "signature": base64url.encode(promise.signature),
    }


def parse_promise(members: Mapping[str, object]) -> Promise:
    """Raises: Refused."""
    return Promise(
        unix_ms=_parse_time(_string(members, "time")),
        key_id=_string(members, "keyId"),
        signature=_parse_signature(_string(members, "signature")),
    )


def _message(leaf: bytes, unix_ms: int) -> bytes:
    return _DOMAIN + unix_ms.to_bytes(8, "big") + leaf


def _string(members: Mapping[str, object], name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str):
        raise Refused(PROMISE_MALFORMED, f"{name} is a string", pointer=f"/{name}")
    return value


def format_millisecond(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _parse_time(text: str) -> int:
    with Refused.on(ValueError, PROMISE_MALFORMED, pointer="/time"):
        at = datetime.fromisoformat(text)
    if at.utcoffset() != timedelta() or format_millisecond(at) != text:
        raise Refused(PROMISE_MALFORMED, "not UTC with milliseconds", pointer="/time")
    return (at - _EPOCH) // _MILLISECOND


def _parse_signature(text: str) -> bytes:
    with Refused.on(ValueError, PROMISE_MALFORMED, pointer="/signature"):
        return base64url.decode(text)
