"""/v1/search: ranked sites, explained, with the receipt of the record."""

import hashlib
from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import get, post
from litestar.params import JSONBody, QueryParameter

from registry.errors import Refused
from registry.index.constants import Filters
from registry.interfaces.http import refusals
from registry.interfaces.http.cursors import open_cursor, seal_cursor
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import pointing_into_body, verify_text
from registry.interfaces.rest.sites import DEFAULT_LIMIT, MAX_LIMIT, Cursor, Limit
from registry.interfaces.rest.wire import (
    Asked,
    PromiseView,
    SiteSummary,
    Wire,
    camel,
    view_promise,
    view_summary,
)
from registry.observability import SEARCH_SECONDS, SEARCHES
from registry.ranking.explain import FactorExplanation
from registry.sites.place import Place, Point, cell_of
from registry.usecases.receipts import make_receipt
from registry.usecases.search import Answer, Continuation, RankedEntry
from registry.usecases.search import Asked as Request

MAX_QUERY_LENGTH = 1_000
MAX_NAME_LENGTH = 200
MAX_FORMAT_LENGTH = 50
MAX_NONCE_LENGTH = 64


def _text(told: str) -> QueryParameter:
    return QueryParameter(max_length=MAX_NAME_LENGTH, description=told)


Query = Annotated[
    str,
    QueryParameter(
        min_length=1,
        max_length=MAX_QUERY_LENGTH,
        description="what should be done, in plain words",
    ),
]
Latitude = Annotated[
    float | None, QueryParameter(ge=-90, le=90, description="of the user, with lon")
]
Longitude = Annotated[
    float | None, QueryParameter(ge=-180, le=180, description="of the user, with lat")
]
City = Annotated[str | None, _text("where the user is, instead of lat and lon")]
Country = Annotated[str | None, _text("of the city; alone: only sites of this country")]
Category = Annotated[str | None, _text("only sites of this category")]
Format = Annotated[
    str | None,
    QueryParameter(
        name="format",
        max_length=MAX_FORMAT_LENGTH,
        description="only sites with a document of this format, such as wab",
    ),
]
Nonce = Annotated[
    str,
    QueryParameter(
        max_length=MAX_NONCE_LENGTH,
        description="yours, so that equal scores are not ordered by the registry alone",
    ),
]


class SearchRequest(Asked):
    """What should be done, in plain words, and from where: lat and lon, or a city."""

    q: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_LENGTH)]
    lat: Annotated[float, msgspec.Meta(ge=-90, le=90)] | None = None
    lon: Annotated[float, msgspec.Meta(ge=-180, le=180)] | None = None
    city: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    country: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    category: Annotated[str, msgspec.Meta(max_length=MAX_NAME_LENGTH)] | None = None
    format: Annotated[str, msgspec.Meta(max_length=MAX_FORMAT_LENGTH)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_LIMIT)] = DEFAULT_LIMIT
    cursor: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None
    nonce: Annotated[str, msgspec.Meta(max_length=MAX_NONCE_LENGTH)] = ""


class RankingView(Wire):
    """The receipt. id: its part after the dot is only for you, to report a choice.

    eligible: how many sites could have stood in the answer; where eligibleIsExact is
    false, an estimate from a sample of them.
    """

    id: str
    policy: str
    generated_at: datetime
    eligible: int
    eligible_is_exact: bool
    leaf_hash: str
    promise: PromiseView


class FactorView(Wire):
    """value: 0..10000. weight: basis points. contribution: value times weight."""

    value: int
    weight: int
    contribution: int
    facts: dict[str, Any]


class FactorsView(Wire):
    relevance: FactorView
    proximity: FactorView
    capability_depth: FactorView
    quality: FactorView
    freshness: FactorView


class ResultView(Wire):
    """score: 0..100000000, the sum of the contributions.

    behind: ids of near-duplicates of the same publisher that share this place.
    """

    rank: int
    score: int
    site: SiteSummary
    factors: FactorsView
    behind: tuple[str, ...]


class PlaceView(Wire):
    """What the given place was taken for; the ranking sees the cell only."""

    name: str
    country: str
    cell: str


class SearchAnswer(Wire):
    """corrected: for words taken as mistyped, what was looked for besides."""

    ranking: RankingView
    results: tuple[ResultView, ...]
    corrected: dict[str, str]
    place: PlaceView | None
    next_cursor: str | None


@get(
    "/search",
    operation_id="search",
    summary="Ask for ranked sites",
    tags=["search"],
    responses=problems(),
)
async def search_by_query(
    services: Injected,
    *,
    q: Query,
    lat: Latitude = None,
    lon: Longitude = None,
    city: City = None,
    country: Country = None,
    category: Category = None,
    format_: Format = None,
    limit: Limit = DEFAULT_LIMIT,
    cursor: Cursor = None,
    nonce: Nonce = "",
) -> SearchAnswer:
    request = SearchRequest(
        q=q,
        lat=lat,
        lon=lon,
        city=city,
        country=country,
        category=category,
        format=format_,
        limit=limit,
        cursor=cursor,
        nonce=nonce,
    )
    return await answer_search(services, request)


@post(
    "/search",
    operation_id="searchWithBody",
    summary="Ask for ranked sites, the request in the body",
    tags=["search"],
    status_code=200,
    responses=problems(408, 413, 415),
)
async def search_by_body(
    data: JSONBody[SearchRequest], services: Injected
) -> SearchAnswer:
    with pointing_into_body():
        return await answer_search(services, data)


async def answer_search(services: Services, request: SearchRequest) -> SearchAnswer:
    """What both forms, and the page, do. Raises: Refused, Unavailable."""
    _verify_texts(request)
    place, cell = _locate(services, request)
    asked = Request(
        text=request.q,
        cell=cell,
        filters=_filters(services, request, located=place is not None),
        limit=request.limit,
        nonce=request.nonce,
    )
    purpose = _purpose(asked, services.searcher.follower.policy.digest)
    going_on = _open(services, purpose, request.cursor) if request.cursor else None
    with SEARCH_SECONDS.time():
        answer = await services.searcher.search(asked, going_on)
    SEARCHES.inc()
    following = answer.following
    return SearchAnswer(
        ranking=_view_ranking(answer, services.web_key),
        results=tuple(_view_result(one) for one in answer.results),
        corrected=dict(answer.corrected),
        place=_view_place(place, cell),
        next_cursor=_seal(services, purpose, following) if following else None,
    )


def _verify_texts(request: SearchRequest) -> None:
    for name in ("q", "city", "country", "category", "format", "nonce"):
        value = getattr(request, name)
        if value is not None:
            verify_text(value, name, max_length=MAX_QUERY_LENGTH)
    if not request.q.strip():
        raise Refused(refusals.PARAMETER_INVALID, "q says nothing", pointer="q")


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
        format=request.format.strip().lower() if request.format else None,
    )


def _purpose(asked: Request, policy: str) -> str:
    """A cursor goes on with its own request only, under its own policy."""
    told = msgspec.json.encode([asked.text, asked.cell, asked.filters, policy])
    return f"search {hashlib.sha256(told).hexdigest()}"


def _open(services: Services, purpose: str, cursor: str) -> Continuation:
    now = services.chance.now()
    state = open_cursor(services.web_key, purpose, cursor, now)
    return msgspec.json.decode(state, type=Continuation)


def _seal(services: Services, purpose: str, following: Continuation) -> str:
    state = msgspec.json.encode(following)
    return seal_cursor(services.web_key, purpose, state, services.chance.now())


def _view_ranking(answer: Answer, web_key: bytes) -> RankingView:
    return RankingView(
        id=make_receipt(web_key, answer.record.id),
        policy=answer.policy,
        generated_at=answer.generated_at,
        eligible=answer.eligible,
        eligible_is_exact=answer.is_exact,
        leaf_hash=answer.record.leaf_hash.hex(),
        promise=view_promise(answer.promise),
    )


def _view_result(one: RankedEntry) -> ResultView:
    by_name = {factor.factor: _view_factor(factor) for factor in one.factors}
    return ResultView(
        rank=one.rank,
        score=one.score,
        site=view_summary(one.entry),
        factors=FactorsView(**by_name),
        behind=one.behind,
    )


def _view_factor(factor: FactorExplanation) -> FactorView:
    return FactorView(
        value=factor.value,
        weight=factor.weight,
        contribution=factor.contribution,
        facts={camel(name): value for name, value in factor.facts.items()},
    )


def _view_place(place: Place | None, cell: str | None) -> PlaceView | None:
    if place is None or cell is None:
        return None
    return PlaceView(name=place.name, country=place.country, cell=cell)
