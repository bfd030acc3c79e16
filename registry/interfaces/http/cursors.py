"""Cursors: where a listing goes on, sealed so that only ours are taken back."""

import base64
import binascii
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

from registry.errors import Refused
from registry.interfaces.http.refusals import CURSOR_EXPIRED, CURSOR_INVALID

TAG_BYTES = 16
TIME_BYTES = 5  # seconds since 1970
LIFETIME = timedelta(days=1)
HOUR_S = 3_600


def seal_cursor(key: bytes, purpose: str, state: bytes, now: datetime) -> str:
    """base64url of an HMAC tag, the end of this hour and the state.

    purpose: the call and its filters. Within an hour the same state has the same cursor,
    and so an unchanged page the same entity tag.
    """
    hour = int(now.timestamp()) // HOUR_S + 1
    sealed = (hour * HOUR_S).to_bytes(TIME_BYTES, "big") + state
    tagged = _tag(key, purpose, sealed) + sealed
    return base64.urlsafe_b64encode(tagged).decode().rstrip("=")


def open_cursor(
    key: bytes,
    purpose: str,
    cursor: str,
    now: datetime | None,
    *,
    pointer: str = "cursor",
) -> bytes:
    """The state. now: None: it never expires.

    Raises: Refused if it was not sealed for this purpose, or long ago.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        raw = base64.b64decode(padded.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(CURSOR_INVALID, pointer=pointer) from error
    tag, sealed = raw[:TAG_BYTES], raw[TAG_BYTES:]
    if not hmac.compare_digest(tag, _tag(key, purpose, sealed)):
        raise Refused(CURSOR_INVALID, pointer=pointer)
    seconds = int.from_bytes(sealed[:TIME_BYTES], "big")
    if now is not None and datetime.fromtimestamp(seconds, UTC) + LIFETIME < now:
        raise Refused(CURSOR_EXPIRED, pointer=pointer)
    return sealed[TIME_BYTES:]


def _tag(key: bytes, purpose: str, sealed: bytes) -> bytes:
    message = b"cursor\0" + purpose.encode() + b"\0" + sealed
    return hmac.digest(key, message, hashlib.sha256)[:TAG_BYTES]
