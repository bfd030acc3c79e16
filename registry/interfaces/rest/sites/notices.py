"""/v1/sites/{host}/notices: what the owner of a site should know, also as a feed."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from litestar import Response, get
from litestar.params import FromPath, QueryParameter

from registry.db.sites import notices
from registry.db.sites.notices import StoredNotice
from registry.interfaces.http.problems import answer, problems
from registry.interfaces.http.services import Injected
from registry.interfaces.rest import wire_model as wire
from registry.interfaces.rest.media_types import also_as
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.sites import atom
from registry.interfaces.rest.sites.sites import find_registered
from registry.sites.entry import SiteEntry
from registry.usecases.sites.notices import KINDS


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
    operation_class=also_as(atom.MEDIA_TYPE),
    summary="What the owner of a site should know, the newest first",
    tags=["sites"],
    responses=problems(404, 410) | answer("A page, or a feed", NoticePage),
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
        place=int,
        place_of=lambda stored: stored.notice_id,
        find=partial(notices.notices_of, site_id=entry.site_id),
    )
    page, following = await listing.page(services, limit, cursor)
    if form == "atom":
        feed = _feed(services.origin, entry, page, following, limit)
        return Response(atom.spell(feed), media_type=atom.MEDIA_TYPE)
    view = NoticePage(
        host=entry.host,
        status=entry.shown_status,
        notices=tuple(_view(stored) for stored in page),
        next_cursor=following,
    )
    return Response(view)


def _view(stored: StoredNotice) -> NoticeView:
    notice = stored.notice
    return NoticeView.of(
        notice,
        id=str(stored.notice_id),
        noted_at=stored.noted_at,
        title=KINDS.get(notice.code, notice.code),
    )


def _feed(
    origin: str,
    entry: SiteEntry,
    page: Sequence[StoredNotice],
    following: str | None,
    limit: int,
) -> atom.Feed:
    place = f"{origin}/v1/sites/{entry.host}/notices"
    limited = "" if limit == DEFAULT_LIMIT else f"&limit={limit}"
    return atom.Feed(
        address=f"{place}?as=atom",
        title=f"{entry.host} in the registry",
        author=origin,
        updated_at=page[0].noted_at if page else entry.registered_at,
        entries=tuple(_entry(origin, place, stored) for stored in page),
        next_address=(
            f"{place}?as=atom{limited}&cursor={following}" if following else None
        ),
    )


def _entry(origin: str, place: str, stored: StoredNotice) -> atom.Entry:
    view = _view(stored)
    about = [f"{view.url}"] if view.url else []
    problem = view.problem
    return atom.Entry(
        id=f"{place}#{view.id}",
        title=view.title,
        updated_at=view.noted_at,
        text="\n".join(part for part in (view.detail, view.fix, *about) if part),
        link=f"{origin}/problems/{problem}" if problem else place,
        category=view.code,
    )
