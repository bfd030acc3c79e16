"""/v1/reports: the reports of whole months that are kept, byte for byte.

Each form's digest stands in the log, so that what is served here can be compared with what
was kept: the header names the leaf.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, cast

from litestar import Request, Response, get
from litestar.params import FromPath, QueryParameter

from registry.db.reports import kept_reports
from registry.db.reports.kept_reports import StoredReport
from registry.errors import NotFound, Refused, detail_of
from registry.identity.statements.detached_jws import HEADER
from registry.interfaces.http.envelope import headers_of_answer
from registry.interfaces.http.problems import answer
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.media_types import VARY, also_as, documented
from registry.interfaces.rest.paging import DEFAULT_LIMIT, Cursor, Limit, Listing
from registry.interfaces.rest.wire_model import WireModel
from registry.reports.render import page
from registry.reports.render.report_files import MEDIA_TYPES, Form
from registry.usecases.refusals import REPORT_NOT_KEPT
from registry.usecases.reports.calendar_months import format_month, parse_month

FormParameter = Annotated[
    Form | None,
    QueryParameter(
        description="Without it the Accept header decides, and without that it is json"
    ),
]

SIGNATURE = documented(HEADER, "Over the bytes of the body (RFC 7515, appendix F)")
SIGNED = [VARY, SIGNATURE]
LEAF_HEADER = "X-Leaf-Index"
LEAF = documented(LEAF_HEADER, "The leaf of its record, once that is published")
IMMUTABLE = "public, max-age=31536000, immutable"
REPORTS: Listing[StoredReport, date] = Listing(
    purpose="kept reports",
    key=date,
    key_of=lambda report: report.month,
    find=kept_reports.list_reports,
)


class KeptFormView(WireModel):
    """sha256: of the bytes, as the record in the log has it."""

    form: str
    media_type: str
    size: int
    sha256: str
    url: str


class KeptReportView(WireModel):
    """recordId: of the record in the log; leafIndex: null until it is published."""

    month: str
    made_at: datetime
    record_id: str
    leaf_index: int | None
    forms: tuple[KeptFormView, ...]


class KeptReportPage(WireModel):
    reports: tuple[KeptReportView, ...]
    next_cursor: str | None


@get("/reports")
async def list_reports(
    services: Injected, limit: Limit = DEFAULT_LIMIT, cursor: Cursor = None
) -> KeptReportPage:
    """Each is a record in the log, with the digest of every form."""
    shown, following = await REPORTS.page(services, limit, cursor)
    return KeptReportPage(
        reports=tuple([await _view(services, report) for report in shown]),
        next_cursor=following,
    )


@get(
    "/reports/{month:str}",
    operation_class=also_as(*MEDIA_TYPES.values()),
    response_headers=[*SIGNED, LEAF],
    responses=answer(
        "The report; X-JWS-Signature signs its bytes as that of "
        "/v1/reports/fairness, and the record at X-Leaf-Index has their SHA-256"
    ),
)
async def get_kept_report(
    month: FromPath[str],
    services: Injected,
    request: Request[Any, Any, Any],
    form: FormParameter = None,
) -> Response[bytes]:
    """A kept report never changes; the digest of each form stands in the log."""
    with NotFound.on(Refused, REPORT_NOT_KEPT, detail_of, pointer="month"):
        wanted = parse_month(month)
    return await hand_out_month(request, services, wanted, form)


async def hand_out_month(
    request: Request[Any, Any, Any], services: Services, month: date, form: Form | None
) -> Response[bytes]:
    """Answer with the kept bytes. month: its first day. Raises: NotFound."""
    wanted = form or form_for(request.headers.get("Accept", ""))
    async with services.api.connect() as connection:
        stored = await kept_reports.find_form(connection, month, wanted)
    if stored is None:
        raise NotFound(REPORT_NOT_KEPT, pointer="month")
    file, leaf_index = stored
    more = leaf_headers(await services.served.published(leaf_index))
    return answer_report(request, wanted, file.body, file.signature, **more)


def answer_report(
    request: Request[Any, Any, Any],
    form: Form,
    body: bytes,
    signature: str,
    **headers: str,
) -> Response[bytes]:
    """Answer with the bytes of a form of a report, as they are signed."""
    if form == "html":
        of_answer = headers_of_answer(request.scope)
        of_answer["Content-Security-Policy"] = page.CONTENT_SECURITY_POLICY
    return Response(
        body,
        media_type=MEDIA_TYPES[form],
        headers={"Vary": "Accept", HEADER: signature, **headers},
    )


def form_for(accept: str) -> Form:
    """The first form that the header names; browsers name HTML first."""
    named = (item.partition(";")[0].strip().lower() for item in accept.split(","))
    forms: dict[str, Form] = {
        media_type: form for form, media_type in MEDIA_TYPES.items()
    }
    return next((forms[item] for item in named if item in forms), "json")


def leaf_headers(leaf_index: int | None) -> Mapping[str, str]:
    """Return the headers of a published record; none before it is published."""
    if leaf_index is None:
        return {}
    return {LEAF_HEADER: str(leaf_index), "Cache-Control": IMMUTABLE}


async def _view(services: Services, report: StoredReport) -> KeptReportView:
    month = format_month(report.month)
    return KeptReportView(
        month=month,
        made_at=report.made_at,
        record_id=report.record_id,
        leaf_index=await services.served.published(report.leaf_index),
        forms=tuple(
            KeptFormView(
                form=form,
                media_type=MEDIA_TYPES[cast("Form", form)],
                size=report.sizes[form],
                sha256=digest.hex(),
                url=f"{services.origin}/v1/reports/{month}?form={form}",
            )
            for form, digest in report.digests.items()
        ),
    )
