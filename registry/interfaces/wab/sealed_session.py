"""Session tokens of WAB (§8.4): sealed, so that nothing is stored and any process opens them.

A token is 128 random bits, by which its key is derived, and the session encrypted under
that key. It is opaque to the agent, and bound to the network that it was given to: from
elsewhere it is no token (§8.7).
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from registry.errors import Unauthorized
from registry.identity import base64url
from registry.interfaces.wab.refusals import SESSION_ENDED, SESSION_INVALID

LIFETIME = timedelta(hours=1)
PREFIX = "sess_"
MAX_TOKEN_LENGTH = 512
PERMISSIONS: Mapping[str, bool] = {
    "readContent": True,
    "click": False,
    "fillForms": False,
    "scroll": False,
    "navigate": False,
    "apiAccess": True,
    "automatedLogin": False,
    "extractData": True,
}
"""Permissions that an agent has here at most: there is no page to click on."""
GRANTED = frozenset(name for name, granted in PERMISSIONS.items() if granted)

_ID_BYTES = _TAG_BYTES = 16
_NO_NONCE = bytes(12)  # each key encrypts once


class _Sealed(msgspec.Struct, array_like=True, frozen=True):
    expires: int
    network: bytes
    permissions: tuple[str, ...]
    api_key: bytes
    signs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """id: 128 bits in hex. api_key: digest of the operator's, b"" of an anonymous agent.

    permissions: a part of GRANTED. signs: every command that acts has to be signed.
    """

    id: str
    expires_at: datetime
    permissions: frozenset[str] = GRANTED
    api_key: bytes = b""
    signs: bool = False

    def secret(self, key: bytes) -> bytes:
        """Return what commands of the session are signed with (§8.8)."""
        return hmac.digest(key, b"wab signing\0" + self.id.encode(), hashlib.sha256)


def seal_session(key: bytes, session: Session, network: str) -> str:
    sealed = _Sealed(
        expires=int(session.expires_at.timestamp()),
        network=_digest(network),
        permissions=tuple(sorted(session.permissions)),
        api_key=session.api_key,
        signs=session.signs,
    )
    number = bytes.fromhex(session.id)
    body = _cipher(key, number).encrypt(_NO_NONCE, msgspec.msgpack.encode(sealed), None)
    return PREFIX + base64url.encode(number + body)


def open_session(key: bytes, token: str, network: str, now: datetime) -> Session:
    """Raises: Unauthorized for what is no token, of another network, or has ended."""
    number, body = _parts(token)
    with Unauthorized.on(InvalidTag, SESSION_INVALID):
        opened = _cipher(key, number).decrypt(_NO_NONCE, body, None)
    sealed = msgspec.msgpack.decode(opened, type=_Sealed)
    if not hmac.compare_digest(sealed.network, _digest(network)):
        raise Unauthorized(SESSION_INVALID)
    expires_at = datetime.fromtimestamp(sealed.expires, UTC)
    if expires_at <= now:
        raise Unauthorized(SESSION_ENDED)
    return Session(
        id=number.hex(),
        expires_at=expires_at,
        permissions=frozenset(sealed.permissions),
        api_key=sealed.api_key,
        signs=sealed.signs,
    )


def _parts(token: str) -> tuple[bytes, bytes]:
    """Return the id and what is sealed. Raises: Unauthorized."""
    with Unauthorized.on(ValueError, SESSION_INVALID):
        raw = base64url.decode(token[:MAX_TOKEN_LENGTH].removeprefix(PREFIX))
    if not token.startswith(PREFIX) or len(raw) <= _ID_BYTES + _TAG_BYTES:
        raise Unauthorized(SESSION_INVALID)
    return raw[:_ID_BYTES], raw[_ID_BYTES:]


def _cipher(key: bytes, number: bytes) -> AESGCM:
    return AESGCM(hmac.digest(key, b"wab session\0" + number, hashlib.sha256))


def _digest(network: str) -> bytes:
    return hashlib.sha256(network.encode()).digest()[:16]
