"""The fairness report, for anyone: of all, of the anonymous, of one category.

It goes out as JSON, CSV or a page, each signed byte for byte with the key of the
registry's promises, so that a file that was saved still shows who made it.
"""

import asyncio
from datetime import datetime
from typing import Annotated, Any

from litestar import Response, get
from litestar.params import QueryParameter

from registry.errors import Forbidden, Refused
from registry.identity.statements.detached_jws import REPORT_TYP, sign_detached
from registry.interfaces.http.credentials import ANYBODY, Call, admit_caller
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import answer
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import parse_instant, verify_text
from registry.interfaces.rest.media_types import also_as
from registry.interfaces.rest.reports.kept_reports import (
    SIGNED,
    FormParameter,
    answer_report,
    form_for,
    hand_out_month,
)
from registry.records.record import ANONYMOUS
from registry.reports.render.report_files import FORMAT, MEDIA_TYPES, Form
from registry.usecases.refusals import REPORT_NOT_YOURS, WINDOW_NOT_MONTHS
from registry.usecases.reports.make_report import make_report, month_over, window_of
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
REPORT_RESPONSE = answer(
    "The report; X-JWS-Signature signs its bytes (RFC 7515, appendix F) with "
    "the promiseKey of /v1/log"
)


@get(
    "/reports/fairness",
    operation_class=also_as(*MEDIA_TYPES.values()),
    security=ANYBODY,
    response_headers=SIGNED,
    responses=REPORT_RESPONSE,
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

    A registry that strangers reach gives them the kept one of a month, and any window to
    known auditors.

    Who asks with an operator's key waits before those who don't; a known auditor, who has
    registered his key as an operator's, before all.
    """
    if operator and operator != ANONYMOUS:
        raise Forbidden(REPORT_NOT_YOURS, pointer="operator")
    caller = await admit_caller(request, services, Kind.REPORT)
    between = parse_ends(start, end)
    if services.is_public and not services.limits.is_auditor(caller):
        if operator or category:
            raise Refused(WINDOW_NOT_MONTHS, "no report of a part is kept")
        month = month_over(*between, services.clock())
        return await hand_out_month(request, services, month, form)
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
    wanted = form or form_for(request.headers.get("Accept", ""))
    window = window_of(*between, services.clock())
    operator = verify_text(operator or "", "operator", max_length=NAME_MAX)
    category = verify_text(category or "", "category", max_length=NAME_MAX)
    policy = services.searcher.follower.policy
    async with services.reports.turn(_lane_of(services, caller)):
        async with services.auditor.connect() as connection:
            report = await make_report(
                connection, window, policy, operator=operator, category=category
            )
        body = await asyncio.to_thread(FORMAT[wanted], report)
    signature = sign_detached(body, services.searcher.promiser.private, typ=REPORT_TYP)
    return answer_report(request, wanted, body, signature)


def _lane_of(services: Services, caller: str | None) -> Lane:
    if caller is None:
        return Lane.ANONYMOUS
    return Lane.AUDITOR if services.limits.is_auditor(caller) else Lane.OPERATOR
