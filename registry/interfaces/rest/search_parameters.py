"""The parameters of a search, as the address takes them and OpenAPI tells them."""

from typing import Annotated

from litestar.params import QueryParameter

from registry.formats.assemble import PRECEDENCE
from registry.interfaces.rest.search_answer import FACETS

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
        description=f"only sites with a document of this format: {', '.join(PRECEDENCE)}",
    ),
]
Conformance = Annotated[
    str | None,
    _text(
        "strict: only sites whose documents all keep to their format; tolerated: only"
        " the others"
    ),
]
Permission = Annotated[
    str | None, _text("only sites that grant this permission, such as readContent")
]
# As a truth it would be taken from "1" and, silently left out, from "null".
RequiresAuth = Annotated[
    str | None,
    QueryParameter(
        name="requiresAuth",
        pattern="^(true|false)$",
        description="only sites with an action that declares that it needs"
        " authentication (true), or none (false)",
    ),
]
ActionName = Annotated[
    str | None,
    _text("only sites with an action of this name; addToCart is add-to-cart too"),
]
Language = Annotated[
    str | None, _text("only sites in this language, such as de; de-AT is taken as de")
]
FacetNames = Annotated[
    str | None,
    _text(
        "the fields whose values are to be counted over all eligible sites, with commas"
        f" between them: {', '.join(FACETS)}"
    ),
]
Nonce = Annotated[
    str,
    QueryParameter(
        max_length=MAX_NONCE_LENGTH,
        description="yours, so that equal scores are not ordered by the registry alone",
    ),
]
