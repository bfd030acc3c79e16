"""The fairness report, for whoever asks: of all, of one operator, of one category.

It goes out as JSON, CSV or a page, each signed byte for byte with the key of the
registry's promises, so that a file that was kept still says who told it.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response, get
from litestar.openapi import ResponseSpec
from litestar.params import QueryParameter

from registry.errors import Refused
from registry.fairness.figures import FairnessReport
from registry.fairness.forms import comma_separated, page
from registry.identity.detached_jws import HEADER, REPORT_TYP, sign_detached
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.problems import problems
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected
from registry.interfaces.http.strict import verify_text
from registry.interfaces.rest.forms import also_as
from registry.interfaces.rest.wire import camel
from registry.usecases.report import make_report, window_of

INSTANT: dict[str, Any] = {"schema_extra": {"format": "date-time"}}
NAME_MAX = 256
JSON = "application/json"
Form = Literal["json", "csv", "html"]
MEDIA_TYPES: Mapping[Form, str] = {
    "json": JSON,
    "csv": comma_separated.MEDIA_TYPE,
    "html": page.MEDIA_TYPE,
}

Start = Annotated[
    str | None, QueryParameter(name="from", description="RFC 3339", **INSTANT)
]
End = Annotated[
    str | None, QueryParameter(name="to", description="RFC 3339", **INSTANT)
]
Operator = Annotated[
    str | None,
    QueryParameter(
        max_length=NAME_MAX, description="Only the rankings that it asked for"
    ),
]
Category = Annotated[
    str | None,
    QueryParameter(max_length=NAME_MAX, description="Only the sites of this category"),
]
AskedForm = Annotated[
    Form | None,
    QueryParameter(
        description="Without it the Accept header decides, and without that it is json"
    ),
]


@get(
    "/reports/fairness",
    operation_id="getFairnessReport",
    operation_class=also_as(*MEDIA_TYPES.values()),
    summary="The four items of WAB 9.7, each beside what would be expected",
    tags=["audit"],
    responses={
        **problems(),
        200: ResponseSpec(
            dict[str, Any],
            generate_examples=False,
            description="The report; X-JWS-Signature signs its bytes (RFC 7515, "
            "appendix F) with the promiseKey of /v1/log",
        ),
    },
)
async def get_fairness_report(  # noqa: PLR0917 — one for each parameter
    services: Injected,
    request: Request[Any, Any, Any],
    start: Start = None,
    end: End = None,
    operator: Operator = None,
    category: Category = None,
    form: AskedForm = None,
) -> Response[bytes]:
    asked = _parse_instant(start, "from"), _parse_instant(end, "to")
    window = window_of(*asked, services.chance.now())
    wanted = form or _wanted(request.headers.get("Accept", ""))
    async with services.auditor.connect() as connection:
        report = await make_report(
            connection,
            window,
            services.searcher.follower.policy,
            operator=verify_text(operator or "", "operator", max_length=NAME_MAX),
            category=verify_text(category or "", "category", max_length=NAME_MAX),
        )
    body = await asyncio.to_thread(_SPELLED[wanted], report)
    if wanted == "html":
        headers = headers_of_answer(request.scope)
        headers["Content-Security-Policy"] = page.CONTENT_SECURITY_POLICY
    signature = sign_detached(body, services.searcher.promiser.private, typ=REPORT_TYP)
    return Response(
        body,
        media_type=MEDIA_TYPES[wanted],
        headers={"Vary": "Accept", HEADER: signature},
    )


def _parse_instant(text: str | None, name: str) -> datetime | None:
    """Strictly: Litestar would take a bare number for seconds since 1970."""
    try:
        return None if text is None else msgspec.convert(text, datetime)
    except msgspec.ValidationError as error:
        raise Refused(PARAMETER_INVALID, str(error), pointer=name) from error


def _wanted(accept: str) -> Form:
    """The first form that the header names; browsers name HTML first."""
    named = (one.partition(";")[0].strip().lower() for one in accept.split(","))
    forms: dict[str, Form] = {told: form for form, told in MEDIA_TYPES.items()}
    return next((forms[one] for one in named if one in forms), "json")


def _spell_json(report: FairnessReport) -> bytes:
    return msgspec.json.encode(_camel(msgspec.to_builtins(report)))


def _camel(value: Any) -> Any:
    """Member names as the rest of /v1 spells them."""
    if isinstance(value, dict):
        return {camel(name): _camel(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_camel(member) for member in value]
    return value


_SPELLED: Mapping[Form, Callable[[FairnessReport], bytes]] = {
    "json": _spell_json,
    "csv": comma_separated.format_csv,
    "html": page.format_page,
}
