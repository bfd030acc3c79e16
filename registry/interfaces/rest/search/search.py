"""/v1/search: ranked sites, explained, with the receipt of the record."""

import hashlib
from collections.abc import Callable
from typing import TypeVar

import msgspec
from litestar import get, post
from litestar.params import JSONBody
from litestar.types import Scope

from registry.errors import Refused
from registry.index.columns.filters import FILTER_NAMES, FILTERS, Filters
from registry.index.query.facets import Facets
from registry.interfaces.http import refusals
from registry.interfaces.http.client_networks import network_of
from registry.interfaces.http.credentials import ANYBODY, Call, admit_caller
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.query_string import (
    none_of,
    read_query,
    reading_query,
    required_parameters,
)
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import pointing_into_body, verify_text
from registry.interfaces.rest.paging import open_position, seal_position
from registry.interfaces.rest.search.search_answer import (
    AnyAnswer,
    BriefAnswer,
    PlaceView,
    SearchAnswer,
    pick_fields,
    view_answer,
    view_brief,
)
from registry.observability import SEARCH_SECONDS, SEARCHES
from registry.sites.gazetteer import Gazetteer
from registry.sites.place import Place, Point, cell_of
from registry.usecases.search.answer_search import Continuation, ResolvedQuery
from registry.usecases.search.receipts import make_receipt
from registry.usecases.search.result import MEMBERS
from registry.usecases.search.search_query import MAX_QUERY_LENGTH, SearchQuery

View = TypeVar("View", SearchAnswer, BriefAnswer)
_MAY_BE_EMPTY = frozenset({"city", "nonce"})


@get(
    "/search",
    operation_id="search",
    untagged=True,
    security=ANYBODY,
    operation_class=reading_query(SearchQuery),
    query=required_parameters(SearchQuery),
)
async def search_by_query(request: Call, services: Injected) -> AnyAnswer:
    """The order is by five factors and nothing else.

    The answer is on record in the log before it is sent, so each request is a new one:
    it has no ETag.
    """
    operator = await admit_caller(request, services, Kind.SEARCH)
    query = read_query(request.query_params, SearchQuery)
    return await search_and_pick(services, query, request.scope, operator)


@post("/search", security=ANYBODY, status_code=200)
async def search_with_body(
    data: JSONBody[SearchQuery], request: Call, services: Injected
) -> AnyAnswer:
    """Answer as GET does, for requests that should stand in no address."""
    operator = await admit_caller(request, services, Kind.SEARCH)
    with pointing_into_body():
        return await search_and_pick(services, data, request.scope, operator)


async def answer_search(
    services: Services, query: SearchQuery, scope: Scope, operator: str | None = None
) -> SearchAnswer:
    """Answer in full, for any face. operator: for whom it is counted.

    Raises: Refused, Unavailable.
    """
    return await _answer(services, query, scope, operator, view_answer)


async def search_and_pick(
    services: Services, query: SearchQuery, scope: Scope, operator: str | None
) -> AnyAnswer:
    """Answer in the detail of the query. Raises: Refused, Unavailable."""
    fields = _fields(query)
    answer = (
        await _answer(services, query, scope, operator, view_brief)
        if query.detail == "brief"
        else await answer_search(services, query, scope, operator)
    )
    return pick_fields(answer, fields) if fields else answer


def _fields(query: SearchQuery) -> tuple[str, ...]:
    """Return the members of results that are picked. Raises: Refused."""
    for name in query.fields or ():
        if name not in MEMBERS[query.detail]:
            raise none_of(MEMBERS[query.detail], name, "fields")
    return query.fields or ()


async def _answer(
    services: Services,
    query: SearchQuery,
    scope: Scope,
    operator: str | None,
    view: Callable[..., View],
) -> View:
    place, resolved = _resolve(services, query, scope, operator)
    purpose = _purpose(resolved, services.searcher.follower.policy.digest)
    continuation = (
        open_position(services, purpose, query.cursor, Continuation)
        if query.cursor
        else None
    )
    with SEARCH_SECONDS.time():
        answer = await services.searcher.search(resolved, continuation)
    SEARCHES.inc()
    following = answer.continuation
    return view(
        answer,
        receipt=make_receipt(services.web_key, answer.record.id),
        place=_view_place(place, resolved.cell),
        next_cursor=seal_position(services, purpose, following) if following else None,
    )


async def count_matches(
    services: Services, query: SearchQuery, scope: Scope
) -> tuple[int, Facets]:
    """Count the eligible sites, and their values by facet. Raises: Refused, Unavailable."""
    _, resolved = _resolve(services, query, scope)
    return await services.searcher.count(resolved)


def _resolve(
    services: Services, query: SearchQuery, scope: Scope, operator: str | None = None
) -> tuple[Place | None, ResolvedQuery]:
    """Return the named city, and the query with its cell and filters. Raises: Refused."""
    for name in ("q", "city", "nonce"):
        _verify_text(query, name)
    verify_filters(query)
    place, cell = _locate(services.gazetteer, query)
    verify_radius(query, cell)
    filters = resolve_filters(query, services.gazetteer, with_country=place is None)
    return place, ResolvedQuery(
        query=query,
        cell=cell,
        filters=filters,
        operator=operator,
        network=network_of(scope),
    )


def verify_radius(filters: Filters, cell: str | None) -> None:
    """Raises: Refused."""
    if filters.within_km is not None and cell is None:
        detail = "nothing says where the user is, from where it counts"
        raise Refused(refusals.PARAMETER_INVALID, detail, pointer="withinKm")


def verify_filters(filters: Filters) -> None:
    """Raises: Refused."""
    for name in FILTERS:
        _verify_text(filters, name)


def _verify_text(query: Filters, name: str) -> None:
    value = getattr(query, name)
    if not isinstance(value, str):
        return
    text = verify_text(value, name, max_length=MAX_QUERY_LENGTH)
    if not text and name not in _MAY_BE_EMPTY:
        raise Refused(refusals.PARAMETER_INVALID, f"{name} says nothing", pointer=name)


def resolve_filters(
    given: Filters, gazetteer: Gazetteer, *, with_country: bool
) -> Filters:
    """Return the filters as they are put on record, the country by its code.

    Raises: Refused if no site can have the value: that is a mistake, not a filter.
    """
    values = given.given()
    country = values.pop("country", None)
    if country and with_country:
        country = gazetteer.find_country(country)
    for name, value in values.items():
        row = FILTERS.get(name)
        if row is None:
            continue
        if row.folded:
            values[name] = row.compared(value)
        if row.choices and values[name] not in row.choices:
            raise none_of(row.choices, value, name)
    return Filters(**values, country=country if with_country else None)


def _locate(
    gazetteer: Gazetteer, query: SearchQuery
) -> tuple[Place | None, str | None]:
    """Return the named city, and the coarse cell: beyond this, nobody sees the point."""
    if (query.lat is None) != (query.lon is None):
        raise Refused(
            refusals.PARAMETER_INVALID,
            "lat and lon go together",
            pointer="lat" if query.lat is None else "lon",
        )
    if query.lat is not None and query.lon is not None:
        return None, cell_of(Point(query.lat, query.lon))
    if not query.city:
        return None, None
    place = gazetteer.find(query.city, query.country or "")
    return place, cell_of(place.point)


def _purpose(resolved: ResolvedQuery, policy: str) -> str:
    """Return what binds a cursor to its own request, under its own policy."""
    values = {name: getattr(resolved.filters, name) for name in FILTER_NAMES}
    request = msgspec.json.encode([resolved.query.q, resolved.cell, values, policy])
    return f"search {hashlib.sha256(request).hexdigest()}"


def _view_place(place: Place | None, cell: str | None) -> PlaceView | None:
    if place is None or cell is None:
        return None
    return PlaceView(name=place.name, country=place.country, cell=cell)
