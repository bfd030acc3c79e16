"""The one definition of a search.

Each parameter stands here or in the table of filters with its type, range and
description. From them come the readers of the query string and of the JSON body, the
parameters in OpenAPI and the limits of the page's form; a further face is made from them
too.
"""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from registry.index.columns.filters import FILTERS, MAX_VALUE_LENGTH, Filters
from registry.usecases.search.result import MEMBERS, MemberName

MAX_QUERY_LENGTH = 1_000

FIELD_OF_FACET = {
    field.encode_name: field.name
    for field in msgspec.structs.fields(Filters)
    if field.name in FILTERS
}
"""The field of sites by its name in requests and answers; each is a filter too."""

if TYPE_CHECKING:
    FacetName: TypeAlias = str
else:
    FacetName = Literal[tuple(FIELD_OF_FACET)]


Detail: TypeAlias = Literal["brief", "full"]


class SearchQuery(Filters, frozen=True, kw_only=True):
    """Search: what should be done, in plain words, and from where: lat and lon, or a city."""

    q: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_QUERY_LENGTH,
            description="what should be done, in plain words",
        ),
    ]
    lat: (
        Annotated[float, Meta(ge=-90, le=90, description="of the user, with lon")]
        | None
    ) = None
    lon: (
        Annotated[float, Meta(ge=-180, le=180, description="of the user, with lat")]
        | None
    ) = None
    city: (
        Annotated[
            str,
            Meta(
                max_length=MAX_VALUE_LENGTH,
                description="where the user is, instead of lat and lon",
            ),
        ]
        | None
    ) = None
    facets: (
        Annotated[
            tuple[FacetName, ...],
            Meta(
                max_length=len(FIELD_OF_FACET),
                description="the fields whose values are to be counted over all "
                "eligible sites: " + ", ".join(FIELD_OF_FACET),
            ),
        ]
        | None
    ) = None
    detail: Annotated[
        Detail,
        Meta(
            description="brief: each site with the actions that match and how to call "
            "them, in a tenth of the words; full: with the facts behind every factor"
        ),
    ] = "full"
    fields: (
        Annotated[
            tuple[MemberName, ...],
            Meta(
                min_length=1,
                max_length=len(MEMBERS["full"]),
                description="the members of each result that are wanted: "
                + "; ".join(
                    f"{detail}: {', '.join(MEMBERS[detail])}" for detail in MEMBERS
                ),
            ),
        ]
        | None
    ) = None
    limit: Annotated[
        int, Meta(ge=1, le=100, description="the most results of a page")
    ] = 10
    cursor: (
        Annotated[str, Meta(max_length=1_000, description="nextCursor of a page")]
        | None
    ) = None
    nonce: Annotated[
        str,
        Meta(
            max_length=64,
            description="yours, so that equal scores are not ordered by the registry "
            "alone",
        ),
    ] = ""
