"""/v1/reports: the reports of whole months that are kept, byte for byte.

Each form's digest stands in the log, so that what is served here can be told from what
was kept: the header names the leaf.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, cast

from litestar import Request, Response, get
from litestar.openapi import ResponseSpec
from litestar.params import FromPath

from registry.db import kept_reports
from registry.db.kept_reports import KeptReport
from registry.errors import NotFound, Refused
from registry.fairness.forms import page
from registry.fairness.forms.files import MEDIA_TYPES, Form
from registry.identity.detached_jws import HEADER
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.forms import also_as
from registry.interfaces.rest.listing import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.reports import AskedForm, form_for
from registry.interfaces.rest.wire import Wire
from registry.usecases.keep_report import parse_month, spell_month
from registry.usecases.refusals import REPORT_NOT_KEPT

LEAF_HEADER = "X-Leaf-Index"
IMMUTABLE = "public, max-age=31536000, immutable"
REPORTS: Listing[KeptReport, date] = Listing(
    purpose="kept reports", place=date, place_of=lambda report: report.month
)


class KeptFormView(Wire):
    """sha256: of the bytes, as the record in the log has it."""

    form: str
    media_type: str
    size: int
    sha256: str
    url: str


class KeptReportView(Wire):
    """recordId: of the record in the log; leafIndex: null until it is published."""

    month: str
    made_at: datetime
    record_id: str
    leaf_index: int | None
    forms: tuple[KeptFormView, ...]


class KeptReportPage(Wire):
    reports: tuple[KeptReportView, ...]
    next_cursor: str | None


@get(
    "/reports",
    operation_id="listReports",
    summary="The fairness reports of whole months that are kept, the newest first",
    tags=["audit"],
    responses=problems(),
)
async def list_reports(
    services: Injected, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> KeptReportPage:
    before = REPORTS.begin(services, cursor)
    async with services.api.connect() as connection:
        found = await kept_reports.list_reports(
            connection, limit=limit + 1, before=before
        )
    shown, following = REPORTS.page(services, found, limit)
    return KeptReportPage(
        reports=tuple([await _view(services, one) for one in shown]),
        next_cursor=following,
    )


@get(
    "/reports/{month:str}",
    operation_id="getKeptReport",
    operation_class=also_as(*MEDIA_TYPES.values()),
    summary="The fairness report of a month as it was kept",
    tags=["audit"],
    middleware=[Conditional()],
    responses={
        **problems(404),
        200: ResponseSpec(
            dict[str, Any],
            generate_examples=False,
            description="The report; X-JWS-Signature signs its bytes as that of "
            "/v1/reports/fairness, and the record at X-Leaf-Index has their SHA-256",
        ),
    },
)
async def get_kept_report(
    month: FromPath[str],
    services: Injected,
    request: Request[Any, Any, Any],
    form: AskedForm = None,
) -> Response[bytes]:
    wanted = form or form_for(request.headers.get("Accept", ""))
    try:
        wanted_month = parse_month(month)
    except Refused as refused:
        detail = refused.problem.detail
        raise NotFound(REPORT_NOT_KEPT, detail, pointer="month") from refused
    async with services.api.connect() as connection:
        found = await kept_reports.find_form(connection, wanted_month, wanted)
    if found is None:
        raise NotFound(REPORT_NOT_KEPT, pointer="month")
    kept, leaf_index = found
    if wanted == "html":
        headers = headers_of_answer(request.scope)
        headers["Content-Security-Policy"] = page.CONTENT_SECURITY_POLICY
    return Response(
        kept.body,
        media_type=MEDIA_TYPES[wanted],
        headers={
            "Vary": "Accept",
            HEADER: kept.signature,
            **_placed(await services.served.published(leaf_index)),
        },
    )


def _placed(leaf_index: int | None) -> Mapping[str, str]:
    """Until the record is published the answer is not yet what it will be."""
    if leaf_index is None:
        return {}
    return {LEAF_HEADER: str(leaf_index), "Cache-Control": IMMUTABLE}


async def _view(services: Services, one: KeptReport) -> KeptReportView:
    month = spell_month(one.month)
    return KeptReportView(
        month=month,
        made_at=one.made_at,
        record_id=one.record_id,
        leaf_index=await services.served.published(one.leaf_index),
        forms=tuple(
            KeptFormView(
                form=form,
                media_type=MEDIA_TYPES[cast("Form", form)],
                size=one.sizes[form],
                sha256=digest.hex(),
                url=f"{services.origin}/v1/reports/{month}?form={form}",
            )
            for form, digest in one.digests.items()
        ),
    )
