"""Cursors: where a listing goes on, sealed so that only ours are taken back."""

import base64
import binascii
import hashlib
import hmac

from registry.errors import Refused
from registry.interfaces.http.refusals import CURSOR_INVALID

TAG_LENGTH = 16


def seal_cursor(key: bytes, purpose: str, state: bytes) -> str:
    """base64url of an HMAC tag and the state. purpose: the call and its filters."""
    return (
        base64.urlsafe_b64encode(_tag(key, purpose, state) + state).decode().rstrip("=")
    )


def open_cursor(key: bytes, purpose: str, cursor: str) -> bytes:
    """The sealed state. Raises: Refused if it was not sealed for this purpose."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        raw = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(CURSOR_INVALID, pointer="cursor") from error
    tag, state = raw[:TAG_LENGTH], raw[TAG_LENGTH:]
    if not hmac.compare_digest(tag, _tag(key, purpose, state)):
        raise Refused(CURSOR_INVALID, pointer="cursor")
    return state


def _tag(key: bytes, purpose: str, state: bytes) -> bytes:
    message = purpose.encode() + b"\0" + state
    return hmac.digest(key, message, hashlib.sha256)[:TAG_LENGTH]
