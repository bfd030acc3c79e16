"""The query model of ARD §5.3.1, read as the one definition of a search."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from registry.errors import Refused
from registry.interfaces.ard.ard_entries import ARTIFACTS, OF_TYPE, Artifact
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.rest.wire_model import WireModel
from registry.usecases.search.search_query import (
    FIELD_OF_FACET,
    MAX_QUERY_LENGTH,
    SearchQuery,
)

FIELDS: Mapping[str, str] = {
    **FIELD_OF_FACET,
    "tags": "category",
    "capabilities": "action",
}
"""Filter of a search, by the term of ARD: its own, and ours by their names."""
Value = str | bool
OneOrMore = Value | Annotated[tuple[Value, ...], Meta(max_length=16)]


class ArdQuery(WireModel):
    """text: what should be done, in plain words. filter: values by term.

    Terms: type, tags (categories), capabilities (actions), and the filters of /v1/search.
    One value of each, but for type.
    """

    text: Annotated[str, Meta(max_length=MAX_QUERY_LENGTH)] = ""
    filter: dict[str, OneOrMore] = msgspec.field(default_factory=dict)


class ArdSearch(WireModel):
    """Request of ARD §5.3.2; members that are not known are passed over.

    federation: this registry has no upstream, so all three mean the same. order, city,
    country, lat, lon, nonce: ours, see /v1/search. order: relevance, within a page; or fair: as
    /v1/search orders.
    """

    query: ArdQuery
    federation: Literal["auto", "referrals", "none"] = "auto"
    page_size: Annotated[int, Meta(ge=1, le=100)] = 10
    page_token: Annotated[str, Meta(max_length=1_000)] | None = None
    order: Literal["relevance", "fair"] = "relevance"
    city: Annotated[str, Meta(max_length=200)] | None = None
    country: Annotated[str, Meta(max_length=200)] | None = None
    lat: Annotated[float, Meta(ge=-90, le=90)] | None = None
    lon: Annotated[float, Meta(ge=-180, le=180)] | None = None
    nonce: Annotated[str, Meta(max_length=64)] = ""


class FacetRequest(WireModel):
    """field: a term of filter. minCount: of the values that are listed."""

    field: Annotated[str, Meta(min_length=1, max_length=64)]
    limit: Annotated[int, Meta(ge=1, le=20)] = 20
    min_count: Annotated[int, Meta(ge=0, le=2**31)] = 1


class ResultType(WireModel):
    """facets: what to count."""

    facets: Annotated[tuple[FacetRequest, ...], Meta(min_length=1, max_length=16)]


class ArdExplore(WireModel):
    """Request of ARD §5.3.3. query.text is needed for every field but type."""

    result_type: ResultType
    query: ArdQuery = msgspec.field(default_factory=ArdQuery)


class ArdFilter(NamedTuple):
    """artifact: the form of the results; None: one that no site has."""

    artifact: Artifact | None
    filters: Mapping[str, Any]


def read_filter(terms: Mapping[str, OneOrMore]) -> ArdFilter:
    """Raises: Refused for terms that are not supported, and for several values of one."""
    values = {
        name: value if isinstance(value, tuple) else (value,)
        for name, value in terms.items()
    }
    artifact = _artifact(values.pop("type", None))
    filters: dict[str, Any] = {}
    for term, given in values.items():
        if term not in FIELDS:
            known = ", ".join(("type", *FIELDS))
            raise _refused(term, f"the terms to filter by are {known}")
        if len(given) != 1:
            raise _refused(term, "one value, please: several are not supported")
        filters[FIELDS[term]] = _of_kind(term, given[0])
    if artifact is not None and artifact.format is not None:
        if filters.get("format", artifact.format) != artifact.format:
            raise _refused("format", "type asks for another format")
        filters["format"] = artifact.format
    return ArdFilter(artifact, filters)


def search_query(request: ArdSearch, filters: Mapping[str, Any]) -> SearchQuery:
    """Raises: Refused."""
    return _query(
        {
            "q": request.query.text,
            "city": request.city,
            "country": request.country,
            "lat": request.lat,
            "lon": request.lon,
            **filters,
            "limit": request.page_size,
            "cursor": request.page_token,
            "nonce": request.nonce,
        }
    )


def facet_query(
    text: str, filters: Mapping[str, Any], facets: Sequence[str]
) -> SearchQuery:
    """Raises: Refused."""
    return _query({"q": text, **filters, "facets": facets, "limit": 1})


def _query(values: Mapping[str, Any]) -> SearchQuery:
    """values: by the members' names; None stands for no value."""
    members = {
        field.encode_name: values[field.name]
        for field in msgspec.structs.fields(SearchQuery)
        if values.get(field.name) is not None
    }
    with Refused.on(msgspec.ValidationError, PARAMETER_INVALID, str, pointer="/query"):
        return msgspec.convert(members, SearchQuery)


def _artifact(types: tuple[Value, ...] | None) -> Artifact | None:
    """Return the plainest form among those asked for."""
    if types is None:
        return ARTIFACTS[0]
    known = [row for row in ARTIFACTS if row.media_type in types]
    if len(known) > 1 and known[0].format is not None:
        raise _refused("type", f"one of {', '.join(OF_TYPE)}, please")
    return known[0] if known else None


def _of_kind(term: str, value: Value) -> Value:
    """Return the value as the filter takes it: true and false may come as texts."""
    if FIELDS[term] == "requires_auth" and isinstance(value, str):
        return {"true": True, "false": False}.get(value, value)
    return value


def _refused(term: str, detail: str) -> Refused:
    return Refused(PARAMETER_INVALID, detail, pointer=f"/query/filter/{term}")
