"""/v1/changes: every change of what is listed, without a gap, as pages and as events."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Request, get
from litestar.datastructures import State
from litestar.params import QueryParameter
from litestar.response import ServerSentEvent, ServerSentEventMessage

from registry.errors import Refused
from registry.interfaces.http.refusals import CURSOR_INVALID
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.streams import LimitedStream
from registry.interfaces.rest.paging import open_cursor, seal_cursor
from registry.interfaces.rest.wire_model import WireModel
from registry.sites.identifier import format_site_id
from registry.sites.summary import SiteSummary, summary_of
from registry.usecases.sites.change_feed import (
    FeedCursor,
    FeedPage,
    SiteChange,
    begin_feed,
    read_feed,
)

PURPOSE = "changes"
NOW = "now"
MOST = 1_000
POLL_S, KEEP_ALIVE_S, STREAM_S = 1.0, 15.0, 600.0
RECONNECT_MS = 2_000

Since = Annotated[
    str | None,
    QueryParameter(
        max_length=5_000,
        description="next of an answer, or the id of an event; now: only what is to "
        "come; left out: from the beginning",
    ),
]


class SiteChangeView(WireModel):
    """A site that changed. site: as it is now; null: it is listed no more, or not yet.

    status: as at /v1/sites/HOST.
    """

    id: str
    host: str
    status: str
    updated_at: datetime
    site: SiteSummary | None


class ChangePage(WireModel):
    """next: to ask with, at once where hasMore, else later. Each site comes once a pass."""

    changes: tuple[SiteChangeView, ...]
    next: str
    has_more: bool


@get("/changes")
async def get_changes(
    services: Injected,
    since: Since = None,
    limit: Annotated[
        int, QueryParameter(ge=1, le=MOST, description="Most changes of the page")
    ] = 100,
) -> ChangePage:
    """A site that changed twice comes once, as it is; one that left comes without `site`.

    The cursor never expires: who comes back after a year gets what differs.
    """
    page = await _read(services, await _begin(services, since), limit)
    return ChangePage(
        changes=tuple(_view(change) for change in page.changes),
        next=_seal(services, page.cursor),
        has_more=page.has_more,
    )


@get(
    "/changes/events",
    untagged=True,
    media_type="text/event-stream",
    middleware=[LimitedStream()],
)
async def watch_changes(
    request: Request[object, object, State], services: Injected, since: Since = NOW
) -> ServerSentEvent:
    """Stream changes. The id of an event is the cursor behind it: nothing is lost.

    A stream ends after ten minutes; an EventSource comes back by itself, where it was.
    """
    named = request.headers.get("last-event-id") or since
    cursor = await _begin(services, named)
    first = await _read(services, cursor, MOST)  # a refusal is a status of its own
    return ServerSentEvent(_events(services, first))


async def _events(
    services: Services, page: FeedPage
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield changes as they come, and comments while there are none."""
    clock = asyncio.get_running_loop().time
    ends_at, silent_since = clock() + STREAM_S, clock()
    yield ServerSentEventMessage(
        comment="changes", retry=RECONNECT_MS, id=_seal(services, page.cursor)
    )
    while True:
        for change in page.changes:
            yield _event(services, change)
        silent_since = clock() if page.changes else silent_since
        if clock() > ends_at:
            return
        if not page.has_more:
            await asyncio.sleep(POLL_S)
        if clock() - silent_since > KEEP_ALIVE_S:
            yield ServerSentEventMessage(comment="still here")
            silent_since = clock()
        page = await _read(services, page.cursor, MOST)


def _event(services: Services, change: SiteChange) -> ServerSentEventMessage:
    return ServerSentEventMessage(
        data=msgspec.json.encode(_view(change)).decode(),
        event="change",
        id=_seal(services, change.cursor),
    )


async def _begin(services: Services, since: str | None) -> FeedCursor:
    """Raises: Refused."""
    if since is None or since == NOW:
        async with services.api.connect() as connection:
            return await begin_feed(connection, from_now=since == NOW)
    state = open_cursor(services.web_key, PURPOSE, since, None, pointer="since")
    # One of a version before may have another shape.
    with Refused.on(msgspec.MsgspecError, CURSOR_INVALID, pointer="since"):
        return msgspec.json.decode(state, type=FeedCursor)


async def _read(services: Services, cursor: FeedCursor, most: int) -> FeedPage:
    async with services.api.connect() as connection:
        return await read_feed(connection, cursor, most)


def _seal(services: Services, cursor: FeedCursor) -> str:
    state = msgspec.json.encode(cursor)
    return seal_cursor(services.web_key, PURPOSE, state, services.clock())


def _view(change: SiteChange) -> SiteChangeView:
    entry = change.entry
    return SiteChangeView.of(
        entry,
        id=format_site_id(entry.site_id),
        status=entry.shown_status,
        site=summary_of(entry.short) if entry.is_listed else None,
    )
