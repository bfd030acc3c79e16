"""/v1/sites/{host}/notices: what the owner of a site should know, also as a feed."""

import re
from datetime import datetime
from functools import partial
from importlib.resources import files
from typing import Annotated, Any, Literal

import msgspec
from jinja2 import StrictUndefined, Template
from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from registry.db.sites import notices
from registry.db.sites.notices import StoredNotice
from registry.interfaces.http.problems import answer
from registry.interfaces.http.services import Injected
from registry.interfaces.rest import wire_model as wire
from registry.interfaces.rest.media_types import also_as
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.sites.sites import find_registered
from registry.usecases.sites.notices import KINDS

ATOM = "application/atom+xml; charset=utf-8"
_FEED = Template(
    files(__package__).joinpath("notices.atom").read_text(),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
)
# XML 1.0, 2.2: what no document may hold, not even as a reference.
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class NoticeView(wire.WireModel):
    """url: what it is about. problem: the code of the problem behind it."""

    id: str
    noted_at: datetime
    code: str
    title: str
    detail: str
    fix: str
    url: str | None
    problem: str | None


class NoticePage(wire.WireModel):
    """The newest first; each is a change, so what no later notice ends still holds."""

    host: str
    status: str
    notices: tuple[NoticeView, ...]
    next_cursor: str | None


@get(
    "/sites/{host:str}/notices",
    operation_class=also_as(ATOM),
    responses=answer("A page, or a feed", NoticePage),
)
async def get_notices(
    host: FromPath[str],
    services: Injected,
    form: Annotated[
        Literal["json", "atom"],
        QueryParameter(name="as", description="atom: a feed for any reader (RFC 4287)"),
    ] = "json",
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
) -> Response[Any]:
    """A notice is a change that the crawler saw, for better or worse, with its repair."""
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
    listing: Listing[StoredNotice, int] = Listing(
        purpose=f"notices {entry.site_id}",
        key=int,
        key_of=lambda stored: stored.notice_id,
        find=partial(notices.notices_of, site_id=entry.site_id),
    )
    page, following = await listing.page(services, limit, cursor)
    view = NoticePage(
        host=entry.host,
        status=entry.shown_status,
        notices=tuple(_view(stored) for stored in page),
        next_cursor=following,
    )
    if form == "json":
        return Response(view)
    updated_at = page[0].noted_at if page else entry.registered_at
    feed = spell_feed(services.origin, view, updated_at, limit)
    return Response(feed, media_type=ATOM)


def _view(stored: StoredNotice) -> NoticeView:
    notice = stored.notice
    return NoticeView.of(
        notice,
        id=str(stored.notice_id),
        noted_at=stored.noted_at,
        title=KINDS.get(notice.code, notice.code),
    )


def spell_feed(
    origin: str, view: NoticePage, updated_at: datetime, limit: int
) -> bytes:
    """Return the page as Atom (RFC 4287, 5005), well-formed whatever its texts hold.

    All of them are text constructs of type text: no reader takes them for markup.
    """
    feed = _FEED.render(
        origin=origin,
        page=msgspec.to_builtins(view),
        updated=msgspec.to_builtins(updated_at),
        limit="" if limit == DEFAULT_LIMIT else f"&limit={limit}",
    )
    return _NO_CHARACTER.sub("\ufffd", feed).encode()
