"""/v1/search: ranked sites, explained, with the receipt of the record."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, get_args

import msgspec
from litestar import get, post
from litestar.params import JSONBody

from registry.errors import Refused
from registry.formats.assemble import PRECEDENCE
from registry.index.columns.rows import FIELDS
from registry.index.query.constants import Filters
from registry.interfaces.http import refusals
from registry.interfaces.http.credentials import ANYBODY, Call, asking_operator
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import pointing_into_body, verify_text
from registry.interfaces.rest.listing import (
    DEFAULT_LIMIT,
    MAX_LIMIT,
    Cursor,
    Limit,
    open_place,
    seal_place,
)
from registry.interfaces.rest.search_answer import (
    FACETS,
    FIELD_OF,
    FacetName,
    PlaceView,
    SearchAnswer,
    view_answer,
)
from registry.interfaces.rest.search_parameters import (
    MAX_FORMAT_LENGTH,
    MAX_NAME_LENGTH,
    MAX_NONCE_LENGTH,
    MAX_QUERY_LENGTH,
    ActionName,
    Category,
    City,
    Conformance,
    Country,
    FacetNames,
    Format,
    Language,
    Latitude,
    Longitude,
    Nonce,
    Permission,
    Query,
    RequiresAuth,
)
from registry.interfaces.rest.wire import Asked
from registry.observability import SEARCH_SECONDS, SEARCHES
from registry.sites import entry
from registry.sites.place import Place, Point, cell_of
from registry.usecases.receipts import make_receipt
from registry.usecases.search import Asked as Request
from registry.usecases.search import Continuation

CONFORMANCES = get_args(entry.Conformance)
_TEXT_FILTERS = tuple(one for one in FIELDS if one != "requires_auth")
_MAY_BE_EMPTY = frozenset({"city", "nonce"})


class SearchRequest(Asked):
    """What should be done, in plain words, and from where: lat and lon, or a city."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_LENGTH)]
    lat: Annotated[float, msgspec.Meta(ge=-90, le=90)] | None = None
    lon: Annotated[float, msgspec.Meta(ge=-180, le=180)] | None = None
    city: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    country: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    category: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    format: Annotated[str, msgspec.Meta(max_length=MAX_FORMAT_LENGTH)] | None = None
    conformance: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    permission: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    requires_auth: bool | None = None
    action: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    language: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    facets: (
        Annotated[tuple[FacetName, ...], msgspec.Meta(max_length=len(FACETS))] | None
    ) = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    cursor: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    nonce: Annotated[str, msgspec.Meta(max_length=MAX_NONCE_LENGTH)] = ""


@get(
    "/search",
    operation_id="search",
    summary="Ask for ranked sites",
    tags=["search"],
    security=ANYBODY,
    responses=problems(401),
)
async def search_by_query(
    request: Call,
    services: Injected,
    *,
    q: Query,
    lat: Latitude = None,
    lon: Longitude = None,
    city: City = None,
    country: Country = None,
    category: Category = None,
    format_: Format = None,
    conformance: Conformance = None,
    permission: Permission = None,
    requires_auth: RequiresAuth = None,
    action: ActionName = None,
    language: Language = None,
    facets: FacetNames = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    nonce: Nonce = "",
) -> SearchAnswer:
    operator = await asking_operator(request, services)
    asked = SearchRequest(
        q=q,
        lat=lat,
        lon=lon,
        city=city,
        country=country,
        category=category,
        format=format_,
        conformance=conformance,
        permission=permission,
        requires_auth=_parse_truth(requires_auth),
        action=action,
        language=language,
        facets=_parse_facets(facets),
        limit=limit,
        cursor=cursor,
        nonce=nonce,
    )
    return await answer_search(services, asked, operator)


@post(
    "/search",
    operation_id="searchWithBody",
    summary="Ask for ranked sites, the request in the body",
    tags=["search"],
    security=ANYBODY,
    status_code=200,
    responses=problems(401, 408, 413, 415),
)
async def search_by_body(
    data: JSONBody[SearchRequest], request: Call, services: Injected
) -> SearchAnswer:
    operator = await asking_operator(request, services)
    with pointing_into_body():
        return await answer_search(services, data, operator)


async def answer_search(
    services: Services, request: SearchRequest, operator: str | None = None
) -> SearchAnswer:
    """What both forms, and the page, do. operator: for whom it is counted.

    Raises: Refused, Unavailable.
    """
    _verify_texts(request)
    place, cell = _locate(services, request)
    asked = Request(
        text=request.q,
        cell=cell,
        filters=_filters(services, request, located=place is not None),
        limit=request.limit,
        nonce=request.nonce,
        facets=tuple(FIELD_OF[name] for name in dict.fromkeys(request.facets or ())),
    )
    purpose = _purpose(asked, services.searcher.follower.policy.digest)
    going_on = (
        open_place(services, purpose, request.cursor, Continuation)
        if request.cursor
        else None
    )
    with SEARCH_SECONDS.time():
        answer = await services.searcher.search(asked, going_on, operator)
    SEARCHES.inc()
    following = answer.following
    return view_answer(
        answer,
        receipt=make_receipt(services.web_key, answer.record.id),
        place=_view_place(place, cell),
        next_cursor=seal_place(services, purpose, following) if following else None,
    )


def _verify_texts(request: SearchRequest) -> None:
    for name in ("q", "city", "nonce", *_TEXT_FILTERS):
        value = getattr(request, name)
        if value is None:
            continue
        text = verify_text(value, name, max_length=MAX_QUERY_LENGTH)
        if not text and name not in _MAY_BE_EMPTY:
            raise Refused(
                refusals.PARAMETER_INVALID, f"{name} says nothing", pointer=name
            )


def _parse_truth(told: str | None) -> bool | None:
    if told is None:
        return None
    if told not in {"true", "false"}:
        raise Refused(
            refusals.PARAMETER_INVALID,
            "neither true nor false",
            pointer="requiresAuth",
        )
    return told == "true"


def _parse_facets(told: str | None) -> tuple[FacetName, ...] | None:
    if told is None:
        return None
    return tuple(map(_parse_facet, told.split(",")))


def _parse_facet(told: str) -> FacetName:
    for name in FACETS:
        if name == told.strip():
            return name
    raise _none_of(FACETS, told, "facets")


def _one_of(known: Sequence[str], told: str | None, name: str) -> str | None:
    """Raises: Refused: what no site can have is a mistake, not a filter."""
    if told is None:
        return None
    value = told.strip().lower()
    if value not in known:
        raise _none_of(known, told, name)
    return value


def _none_of(known: Sequence[str], told: str, name: str) -> Refused:
    return Refused(
        refusals.PARAMETER_INVALID,
        f"{told[:80]!r} is none of {', '.join(known)}",
        pointer=name,
    )


def _locate(
    services: Services, request: SearchRequest
) -> tuple[Place | None, str | None]:
    """The named city, and the coarse cell: beyond this, nobody sees the point."""
    if (request.lat is None) != (request.lon is None):
        raise Refused(
            refusals.PARAMETER_INVALID,
            "lat and lon go together",
            pointer="lat" if request.lat is None else "lon",
        )
    if request.lat is not None and request.lon is not None:
        return None, cell_of(Point(request.lat, request.lon))
    if not request.city:
        return None, None
    place = services.gazetteer.find(request.city, request.country or "")
    return place, cell_of(place.point)


def _filters(services: Services, request: SearchRequest, *, located: bool) -> Filters:
    """A country beside a city says where the user is; alone it filters."""
    country = None
    if request.country and not located:
        country = services.gazetteer.find_country(request.country)
    return Filters(
        category=request.category.strip().casefold() if request.category else None,
        country=country,
        format=_one_of(PRECEDENCE, request.format, "format"),
        conformance=_one_of(CONFORMANCES, request.conformance, "conformance"),
        permission=request.permission,
        requires_auth=request.requires_auth,
        action=request.action,
        language=request.language,
    )


def _purpose(asked: Request, policy: str) -> str:
    """A cursor goes on with its own request only, under its own policy."""
    told = msgspec.json.encode([asked.text, asked.cell, asked.filters, policy])
    return f"search {hashlib.sha256(told).hexdigest()}"


def _view_place(place: Place | None, cell: str | None) -> PlaceView | None:
    if place is None or cell is None:
        return None
    return PlaceView(name=place.name, country=place.country, cell=cell)
