"""/v1/exposure: the daily exposure of sites, for everybody and for each site alone."""

from datetime import date, datetime, timedelta
from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.params import FromPath, QueryParameter

from registry.db.reports import exposure_days
from registry.errors import NotFound, Refused
from registry.identity.statements.detached_jws import HEADER
from registry.identity.statements.jws import OWN_EXPOSURE_TYP
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.problems import answer
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.registration.jose import JoseOperation, read_statement
from registry.interfaces.rest.reports.kept_reports import LEAF, SIGNATURE, leaf_headers
from registry.interfaces.rest.sites.sites import parse_site_host
from registry.interfaces.rest.wire_model import WireModel
from registry.records.record import format_minute
from registry.sites.identifier import format_site_id
from registry.usecases.refusals import EXPOSURE_NOT_KEPT
from registry.usecases.sites.owner_statement import verify_owner

OWN_DAYS = 92
"""Days that one request of a site is answered for."""

DAYS: Listing[Any, date] = Listing(
    purpose="exposure",
    key=date,
    key_of=lambda row: row.day,
    find=exposure_days.list_days,
)
Since = Annotated[
    str | None,
    QueryParameter(
        description=f"First day, such as 2026-11-23; {OWN_DAYS} days from it are given",
        schema_extra={"format": "date"},
    ),
]


class ExposureDayView(WireModel):
    """recordId: of the record in the log; leafIndex: null until it is published."""

    day: str
    made_at: str
    record_id: str
    leaf_index: int | None
    url: str


class ExposureDayPage(WireModel):
    days: tuple[ExposureDayView, ...]
    next_cursor: str | None


class OwnDayView(WireModel):
    """attention: in thousandths of what one ranking gives."""

    day: str
    appearances: int
    attention: int
    selections: int


class OwnMonthView(WireModel):
    """attention: in thousandths of what one ranking gives."""

    month: str
    appearances: int
    attention: int
    selections: int


class OwnExposureView(WireModel):
    """Counts of the site that asks: of days with noise, of months that are over exact."""

    host: str
    site: str
    since: str
    days: tuple[OwnDayView, ...]
    months: tuple[OwnMonthView, ...]


@get("/exposure")
async def list_exposure(
    services: Injected, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> ExposureDayPage:
    """A day is published once it is over, and its digest is in the log."""
    shown, following = await DAYS.page(services, limit, cursor)
    views = [
        ExposureDayView(
            day=row.day.isoformat(),
            made_at=format_minute(row.made_at),
            record_id=row.record_id,
            leaf_index=await services.served.published(row.leaf_index),
            url=f"{services.origin}/v1/exposure/{row.day}",
        )
        for row in shown
    ]
    return ExposureDayPage(days=tuple(views), next_cursor=following)


@get(
    "/exposure/{day:str}",
    response_headers=[SIGNATURE, LEAF],
    responses=answer(
        "Appearances, attention in thousandths of what one ranking "
        "gives, and selections, each with normal noise of the standard deviation in "
        "`noise`; sites with fewer appearances than `minimum` have no row. "
        "X-JWS-Signature signs its bytes, and the record at X-Leaf-Index has their "
        "SHA-256"
    ),
)
async def get_exposure(day: FromPath[str], services: Injected) -> Response[bytes]:
    """A table never changes; anyone can add it up from the archive."""
    with NotFound.on(Refused, EXPOSURE_NOT_KEPT, pointer="day"):
        wanted = _parse_day(day)
    async with services.api.connect() as connection:
        stored = await exposure_days.find_day(connection, wanted)
    if stored is None:
        raise NotFound(EXPOSURE_NOT_KEPT, pointer="day")
    table, leaf_index = stored
    return Response(
        table.body,
        media_type="application/json",
        headers={
            HEADER: table.signature,
            **leaf_headers(await services.served.published(leaf_index)),
        },
    )


@post(
    "/sites/{host:str}/exposure",
    operation_class=JoseOperation,
    status_code=200,
    guards=[limit_writes],
)
async def get_own_exposure(
    request: Request[Any, Any, Any],
    host: FromPath[str],
    services: Injected,
    since: Since = None,
) -> OwnExposureView:
    """The payload is {"aud","sub","iat","exp"}, the header's typ site-exposure+jws."""
    statement = await read_statement(request)
    now: datetime = services.clock()
    start = (
        now.date() - timedelta(days=OWN_DAYS) if since is None else _parse_day(since)
    )
    async with services.api.connect() as connection:
        site, _ = await verify_owner(
            connection,
            statement,
            parse_site_host(host, test_hosts=services.test_hosts),
            typ=OWN_EXPOSURE_TYP,
            audience=services.origin,
            test_hosts=services.test_hosts,
            now=now,
        )
        bounds = (site.site_id, start, start + timedelta(days=OWN_DAYS))
        days = await exposure_days.days_of_site(connection, *bounds)
        months = await exposure_days.months_of_site(connection, *bounds)
    return OwnExposureView(
        host=site.host,
        site=format_site_id(site.site_id),
        since=start.isoformat(),
        days=tuple(OwnDayView(f"{day}", *counts[1:]) for day, counts in days),
        months=tuple(OwnMonthView(f"{month:%Y-%m}", *rest) for month, *rest in months),
    )


def _parse_day(text: str) -> date:
    """Raises: Refused."""
    no_day = (ValueError, OverflowError)
    detail = f"{text[:20]!r} is no day such as 2026-11-23"
    with Refused.on(no_day, PARAMETER_INVALID, detail, pointer="since"):
        day = date.fromisoformat(text)
        day + timedelta(days=OWN_DAYS)
    if day.isoformat() != text:
        detail = f"{text[:20]!r} is not spelled as 2026-11-23"
        raise Refused(PARAMETER_INVALID, detail, pointer="since")
    return day
