"""Listings page by page, and the cursors that lead from one page to the next."""

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Generic, TypeVar

import msgspec
from litestar.params import QueryParameter

from registry.db.engine.engines import Connection
from registry.errors import Refused
from registry.identity import base64url
from registry.interfaces.http.refusals import CURSOR_EXPIRED, CURSOR_INVALID
from registry.interfaces.http.services import Services

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
    return base64url.encode(_tag(key, purpose, sealed) + sealed)


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
    with Refused.on(ValueError, CURSOR_INVALID, pointer=pointer):
        raw = base64url.decode(cursor)
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


DEFAULT_LIMIT, MAX_LIMIT = 30, 100

Limit = Annotated[
    int, QueryParameter(ge=1, le=MAX_LIMIT, description="Most rows of the page")
]
Cursor = Annotated[
    str | None, QueryParameter(max_length=1000, description="nextCursor of a page")
]
Row = TypeVar("Row")
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[Row, Key]):
    """purpose: the call and its filters; no other listing takes its cursors.

    key_of: the sort key of a row; a page begins behind the key of the last row before it.
    find: at most so many rows, behind a key or from the beginning.
    """

    purpose: str
    key: type[Key]
    key_of: Callable[[Row], Key]
    find: Callable[[Connection, int, Key | None], Awaitable[Sequence[Row]]]

    async def page(
        self, services: Services, limit: int, cursor: str | None
    ) -> tuple[Sequence[Row], str | None]:
        """Return at most `limit` rows, and the cursor of what follows. Raises: Refused."""
        after = None
        if cursor is not None:
            after = open_position(services, self.purpose, cursor, self.key)
        async with services.api.connect() as connection:
            rows = await self.find(connection, limit + 1, after)
        if len(rows) <= limit:
            return rows, None
        shown = rows[:limit]
        return shown, seal_position(services, self.purpose, self.key_of(shown[-1]))


def open_position(
    services: Services, purpose: str, cursor: str, kind: type[Key]
) -> Key:
    """Return the position that `seal_position` put into the cursor.

    Raises: Refused, also if an earlier version sealed it in another shape.
    """
    state = open_cursor(services.web_key, purpose, cursor, services.clock())
    with Refused.on(msgspec.DecodeError, CURSOR_INVALID, pointer="cursor"):
        return msgspec.json.decode(state, type=kind)


def seal_position(services: Services, purpose: str, position: object) -> str:
    """The cursor of a page that begins there."""
    state = msgspec.json.encode(position)
    return seal_cursor(services.web_key, purpose, state, services.clock())
