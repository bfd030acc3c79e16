"""The fairness report, for anyone: of all, of the anonymous, of one category.

It goes out as JSON, CSV or a page, each signed byte for byte with the key of the
registry's promises, so that a file that was saved still shows who made it.
"""

import asyncio
from datetime import datetime
from typing import Annotated, Any

from litestar import Response, get
from litestar.params import QueryParameter

from registry.errors import Forbidden
from registry.identity.statements.detached_jws import HEADER, REPORT_TYP, sign_detached
from registry.interfaces.http.credentials import ANYBODY, Call, admit_caller
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import answer, problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import parse_instant, verify_text
from registry.interfaces.rest.media_types import VARY, also_as, documented
from registry.records.record import ANONYMOUS
from registry.reports.render import page
from registry.reports.render.report_files import FORMAT, MEDIA_TYPES, Form
from registry.usecases.refusals import REPORT_NOT_YOURS
from registry.usecases.reports.make_report import make_report, whole_months, window_of
from registry.usecases.reports.recent_reports import ReportRequest
from registry.usecases.work_queue import Lane

Ends = tuple[datetime | None, datetime | None]

INSTANT: dict[str, Any] = {"schema_extra": {"format": "date-time"}}
NAME_MAX = 256

Start = Annotated[
    str | None, QueryParameter(name="from", description="RFC 3339", **INSTANT)
]
End = Annotated[
    str | None, QueryParameter(name="to", description="RFC 3339", **INSTANT)
]
Operator = Annotated[
    str | None,
    QueryParameter(
        max_length=NAME_MAX,
        description="anon: only the rankings for which no operator was named",
    ),
]
Category = Annotated[
    str | None,
    QueryParameter(max_length=NAME_MAX, description="Only the sites of this category"),
]
FormParameter = Annotated[
    Form | None,
    QueryParameter(
        description="Without it the Accept header decides, and without that it is json"
    ),
]

SIGNATURE = documented(HEADER, "Over the bytes of the body (RFC 7515, appendix F)")
SIGNED = [VARY, SIGNATURE]
REPORT_RESPONSE = answer(
    "The report; X-JWS-Signature signs its bytes (RFC 7515, appendix F) with "
    "the promiseKey of /v1/log"
)


@get(
    "/reports/fairness",
    operation_class=also_as(*MEDIA_TYPES.values()),
    summary="The four items of WAB 9.7, each beside what would be expected",
    tags=["audit"],
    security=ANYBODY,
    response_headers=SIGNED,
    responses=problems(401, 403, 429) | REPORT_RESPONSE,
)
async def get_fairness_report(  # noqa: PLR0917 — one for each parameter
    services: Injected,
    request: Call,
    start: Start = None,
    end: End = None,
    operator: Operator = None,
    category: Category = None,
    form: FormParameter = None,
) -> Response[bytes]:
    """The report of one operator is for it alone, at /v1/operators/self/report.

    A registry that strangers reach gives them whole months that are over, and any window
    to known auditors.

    Without a key it may be a minute old, and its window ends then. Who asks with an
    operator's key gets it made anew and waits before those who don't; a known auditor,
    who has registered his key as an operator's, before all.
    """
    if operator and operator != ANONYMOUS:
        raise Forbidden(REPORT_NOT_YOURS, pointer="operator")
    caller = await admit_caller(request, services, Kind.REPORT)
    between = parse_ends(start, end)
    if services.is_public and not services.limits.is_auditor(caller):
        between = whole_months(*between, services.clock())
    return await hand_out_report(
        request,
        services,
        caller=caller,
        between=between,
        operator=operator,
        category=category,
        form=form,
    )


def parse_ends(start: str | None, end: str | None) -> Ends:
    """Return from and to of RFC 3339; None: open. Raises: Refused."""
    return (
        None if start is None else parse_instant(start, "from"),
        None if end is None else parse_instant(end, "to"),
    )


async def hand_out_report(
    request: Call,
    services: Services,
    *,
    caller: str | None,
    between: Ends,
    operator: str | None,
    category: str | None,
    form: Form | None,
) -> Response[bytes]:
    """Answer with the report. between: from and to; None: open. operator: None: all.

    caller: id of the operator who asks. Raises: Refused, Unavailable.
    """
    start, end = between
    wanted = form or form_for(request.headers.get("Accept", ""))
    body = await _find_or_make(
        services,
        ReportRequest(
            start=start,
            end=end,
            operator=verify_text(operator or "", "operator", max_length=NAME_MAX),
            category=verify_text(category or "", "category", max_length=NAME_MAX),
            form=wanted,
        ),
        caller,
    )
    if wanted == "html":
        headers = headers_of_answer(request.scope)
        headers["Content-Security-Policy"] = page.CONTENT_SECURITY_POLICY
    signature = sign_detached(body, services.searcher.promiser.private, typ=REPORT_TYP)
    return Response(
        body,
        media_type=MEDIA_TYPES[wanted],
        headers={"Vary": "Accept", HEADER: signature},
    )


async def _find_or_make(
    services: Services, wanted: ReportRequest, caller: str | None
) -> bytes:
    """Return the body. Raises: Refused, Unavailable."""
    recent = services.recent_reports
    window = window_of(wanted.start, wanted.end, services.clock())
    if caller is None and (copy := recent.find(wanted)):
        return copy
    async with services.reports.turn(_lane_of(services, caller)):
        # Another may have waited for the same.
        if caller is None and (copy := recent.find(wanted)):
            return copy
        async with services.auditor.connect() as connection:
            report = await make_report(
                connection,
                window,
                services.searcher.follower.policy,
                operator=wanted.operator,
                category=wanted.category,
            )
        body = await asyncio.to_thread(FORMAT[wanted.form], report)
        recent.save(wanted, body)
    return body


def _lane_of(services: Services, caller: str | None) -> Lane:
    if caller is None:
        return Lane.ANONYMOUS
    return Lane.AUDITOR if services.limits.is_auditor(caller) else Lane.OPERATOR


def form_for(accept: str) -> Form:
    """The first form that the header names; browsers name HTML first."""
    named = (item.partition(";")[0].strip().lower() for item in accept.split(","))
    forms: dict[str, Form] = {
        media_type: form for form, media_type in MEDIA_TYPES.items()
    }
    return next((forms[item] for item in named if item in forms), "json")
