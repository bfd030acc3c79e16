"""POST /ard/search, POST /ard/explore and GET /ard/agents."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
from litestar import Router, get, post
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.types import Scope

from registry.db.engine.engines import reading
from registry.db.sites import documents
from registry.errors import NotFound, Refused
from registry.formats.untrusted_text import neutralise
from registry.index.query.facets import ValueCount
from registry.interfaces.ard.ard_entries import (
    ARTIFACTS,
    MOST_CAPABILITIES,
    OF_TYPE,
    ArdEntry,
    Artifact,
    artifact_url,
    entry_of_site,
    identifier_of,
    parse_identifier,
)
from registry.interfaces.ard.ard_query import (
    FIELDS,
    ArdExplore,
    ArdSearch,
    FacetRequest,
    facet_query,
    read_filter,
    search_query,
)
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.credentials import ANYBODY, Call, admit_caller
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import (
    EXCEPTION_HANDLERS,
    ProblemResponse,
    respond_to,
)
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import pointing_into_body
from registry.interfaces.rest.paging import MAX_LIMIT
from registry.interfaces.rest.search.search import answer_search, count_matches
from registry.interfaces.rest.sites.sites import find_registered, page_of_sites
from registry.interfaces.rest.wire_model import WireModel
from registry.sites.identifier import parse_site_id
from registry.usecases.refusals import SITE_UNKNOWN
from registry.usecases.search.result import Result
from registry.usecases.search.search_query import FIELD_OF_FACET

PAGE_RESULTS = 20
PageSize = Annotated[
    int,
    QueryParameter(
        name="pageSize", ge=1, le=MAX_LIMIT, description="Most entries of the page"
    ),
]
PageToken = Annotated[
    str | None,
    QueryParameter(
        name="pageToken", max_length=1_000, description="pageToken of the page before"
    ),
]
_POINTS = 100
"""Parts of relevance that make one of a score of 100."""


class SearchResult(WireModel, omit_defaults=True):
    """score: relevance only, 0..100; no word on trust. source: this registry's ARD."""

    identifier: str
    display_name: str
    type: str
    url: str
    score: int
    source: str
    tags: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


class SearchResults(WireModel, omit_defaults=True):
    """referrals: none, since this registry has no upstream. ranking: id of the record."""

    results: tuple[SearchResult, ...]
    referrals: tuple[ArdEntry, ...] | None = None
    page_token: str | None = None
    ranking: str | None = None


class Bucket(WireModel):
    value: str
    count: int


class FacetView(WireModel):
    """otherCount: of the values beyond the limit."""

    buckets: tuple[Bucket, ...]
    other_count: int


class FacetsView(WireModel):
    result_type: str
    facets: dict[str, FacetView]


class EntryPage(WireModel, omit_defaults=True):
    """Entries in the order of their registration: a list, not a ranking."""

    items: tuple[ArdEntry, ...]
    page_token: str | None = None


@post("/search", security=ANYBODY, status_code=200)
async def search_by_ard(
    data: JSONBody[ArdSearch], request: Call, services: Injected
) -> SearchResults:
    """Give the fair first sites, sorted by relevance, or by `order`: `fair` in their order.

    The answer is on record like any other.
    """
    operator = await admit_caller(request, services, Kind.SEARCH)
    referrals = () if data.federation == "referrals" else None
    with pointing_into_body():
        artifact, filters = read_filter(data.query.filter)
        query = search_query(data, filters)
        if artifact is None:
            return SearchResults(results=(), referrals=referrals)
        answer = await answer_search(services, query, request.scope, operator)
    results = await _view_results(services, answer.results, artifact)
    if data.order == "relevance":
        results.sort(key=lambda result: -result.score)
    return SearchResults(
        results=tuple(results),
        referrals=referrals,
        page_token=answer.next_cursor,
        ranking=answer.ranking.id,
    )


@post("/explore", security=ANYBODY, status_code=200)
async def explore_by_ard(
    data: JSONBody[ArdExplore], request: Call, services: Injected
) -> FacetsView:
    """Counts show no site, so nothing of them is on record."""
    await admit_caller(request, services, Kind.SEARCH)
    fields = [facet.field for facet in data.result_type.facets]
    with pointing_into_body():
        _verify_fields(fields)
        artifact, filters = read_filter(data.query.filter)
        if data.query.text:
            total, counts = await _count(
                services, request.scope, data.query.text, filters, fields
            )
        else:
            total, counts = await _count_all(services, filters, fields), {}
    if artifact is None:
        total, counts = 0, {}
    return FacetsView(
        result_type="facets",
        facets={
            facet.field: _view_facet(facet, total, counts)
            for facet in data.result_type.facets
        },
    )


@get("/agents")
async def list_ard_entries(
    services: Injected, page_size: PageSize = PAGE_RESULTS, page_token: PageToken = None
) -> EntryPage:
    """A list and no ranking; follow `pageToken`."""
    page, following = await page_of_sites(services, "ard", page_size, page_token)
    return EntryPage(
        items=tuple(
            entry_of_site(entry, ARTIFACTS[0], origin=services.origin) for entry in page
        ),
        page_token=following,
    )


@get("/agents/{identifier:str}")
async def get_ard_entry(identifier: FromPath[str], services: Injected) -> ArdEntry:
    """An entry has no `score` and no `source`: only a result of a search has them."""
    host, artifact = parse_identifier(identifier)
    if artifact is None:
        raise NotFound(SITE_UNKNOWN, pointer="identifier")
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
        own = await documents.current_documents(connection, entry.site_id)
    document = next((row.url for row in own if row.format == artifact.format), "")
    is_had = artifact.format is None or document
    if entry.host != host or not entry.is_listed or not is_had:
        raise NotFound(SITE_UNKNOWN, pointer="identifier")
    return entry_of_site(entry, artifact, origin=services.origin, document=document)


async def _view_results(
    services: Services, results: Sequence[Result], artifact: Artifact
) -> list[SearchResult]:
    """Return one for each, but for a site whose document has gone meanwhile."""
    addresses: Mapping[str, str] = {}
    if artifact.format is not None:
        addresses = await _addresses(services, results, artifact.format)
        results = [result for result in results if result.site.id in addresses]
    source = f"{services.origin}/ard"
    return [
        SearchResult(
            identifier=identifier_of(result.site.host, artifact),
            display_name=neutralise(result.site.provider.name),
            type=artifact.media_type,
            url=artifact_url(
                services.origin,
                result.site.host,
                artifact,
                addresses.get(result.site.id, ""),
            ),
            score=round(result.factors.relevance.value / _POINTS),
            source=source,
            tags=tuple(filter(None, (result.site.provider.category,))),
            capabilities=result.site.capabilities_summary[:MOST_CAPABILITIES],
        )
        for result in results
    ]


async def _addresses(
    services: Services, results: Sequence[Result], format_: str
) -> dict[str, str]:
    """Return, by the id of a site, where its document of the format is."""
    numbers = {parse_site_id(result.site.id): result.site.id for result in results}
    async with reading(services.api).connect() as connection:
        own = await documents.documents_of_sites(connection, list(numbers))
    return {
        numbers[number]: row.url
        for number, rows in own.items()
        for row in reversed(rows)
        if row.format == format_
    }


def _verify_fields(fields: Sequence[str]) -> None:
    for field in fields:
        if field != "type" and field not in FIELDS:
            known = ", ".join(("type", *FIELDS))
            detail = f"{field[:64]!r} can't be counted; the fields are {known}"
            raise Refused(PARAMETER_INVALID, detail, pointer="/resultType/facets")


async def _count(
    services: Services,
    scope: Scope,
    text: str,
    filters: Mapping[str, Any],
    fields: Sequence[str],
) -> tuple[int, Mapping[str, Sequence[ValueCount]]]:
    """Return how many sites match, and the values of each field of ours."""
    own = {FIELDS.get(field, "format") for field in fields}
    facets = [name for name, field in FIELD_OF_FACET.items() if field in own]
    query = facet_query(text, filters, facets)
    total, counts = await count_matches(services, query, scope)
    return total, {FIELD_OF_FACET[name]: values for name, values in counts.items()}


async def _count_all(
    services: Services, filters: Mapping[str, Any], fields: Sequence[str]
) -> int:
    """Return how many sites are listed. Raises: Refused for what only a text can count."""
    if filters or any(field != "type" for field in fields):
        detail = "without query.text only type can be counted, over all sites"
        raise Refused(PARAMETER_INVALID, detail, pointer="/query/text")
    return await services.listed_count.current()


def _view_facet(
    facet: FacetRequest, total: int, counts: Mapping[str, Sequence[ValueCount]]
) -> FacetView:
    if facet.field == "type":
        values = list(_types(total, counts.get("format", ())))
    else:
        values = [
            Bucket(value=row.value, count=row.count)
            for row in counts.get(FIELDS[facet.field], ())
            if row.value is not None
        ]
    buckets = [row for row in values if row.count >= facet.min_count]
    rest = buckets[facet.limit :]
    return FacetView(
        buckets=tuple(buckets[: facet.limit]),
        other_count=sum(row.count for row in rest),
    )


def _types(total: int, formats: Sequence[ValueCount]) -> Iterator[Bucket]:
    """Count sites by type: all in our own form, some in others too."""
    of_format = {row.value: row.count for row in formats}
    for media_type, artifact in OF_TYPE.items():
        count = total if artifact.format is None else of_format.get(artifact.format, 0)
        if count:
            yield Bucket(value=media_type, count=count)


_CODES = {
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "UNAUTHENTICATED",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.GONE: "NOT_FOUND",
    HTTPStatus.TOO_MANY_REQUESTS: "RATE_LIMIT_EXCEEDED",
}


def ard_code(status: int) -> str:
    """Return the code of ARD's Appendix B that is nearest to a status."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return "INTERNAL_ERROR"
    return _CODES.get(HTTPStatus(status), "INVALID_ARGUMENT")


def respond_with_code(request: Call, error: Exception) -> ProblemResponse:
    """Answer with the problem, and with errorCode and message of Appendix B."""
    response = respond_to(error, request)
    document = msgspec.json.decode(response.content)
    status = response.status_code or HTTPStatus.INTERNAL_SERVER_ERROR
    members = {"errorCode": ard_code(status), "message": document["detail"]}
    response.content = msgspec.json.encode({**document, **members})
    return response


ARD = Router(
    "/ard",
    route_handlers=[search_by_ard, explore_by_ard, list_ard_entries, get_ard_entry],
    exception_handlers=dict.fromkeys(EXCEPTION_HANDLERS, respond_with_code),
    middleware=[Conditional()],
)
