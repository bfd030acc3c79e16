"""Labels of sites for reports: set by auditors, shown by host, published as of an instant.

No label is an input of ranking. What is published is signed byte for byte, as reports
are, so that who computes a report again can show what he computed it from.
"""

import asyncio
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath, JSONBody, QueryParameter

from registry.db import labels
from registry.errors import Refused
from registry.identity.statements.detached_jws import HEADER, LABELS_TYP, sign_detached
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.problems import answer
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import parse_instant
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.labels.label_views import (
    DisclosuresView,
    view_disclosures,
)
from registry.interfaces.rest.media_types import also_as, documented
from registry.interfaces.rest.reports.kept_reports import SIGNED
from registry.interfaces.rest.reports.reports import INSTANT
from registry.interfaces.rest.sites.sites import find_registered
from registry.interfaces.rest.wire_model import PromisedView, RequestBody, view_promised
from registry.records.auditor_signature import Signature
from registry.records.labelling import MAX_SOURCE_LENGTH, Labelling, digest_source
from registry.reports.render import label_table
from registry.reports.render.report_rows import format_instant
from registry.sites.identifier import parse_site_id
from registry.sites.label import CHAIN, PERCENT, Independence, Size
from registry.usecases.labels import accept_label

PAGE_MAX = 10_000
HISTORY_MAX = 100

At = Annotated[
    str | None,
    QueryParameter(
        description="RFC 3339: the labels that counted then; without it now", **INSTANT
    ),
]


class LabelRequest(RequestBody, frozen=True):
    """An auditor's label of a site. What is null he does not say.

    It replaces all earlier labels of his for the site; an empty one withdraws them.
    auditor: a C2SP verifier key. aud: the log's origin. chain: an identifier of the chain, such as its domain.
    commission: such as "12.5%". observed: the day for which the source states it. iat:
    seconds since 1970. source: where it comes from, one line, naming no person. sig:
    Ed25519 over the line `fair-registry/label/v1` and the canonical JSON (RFC 8785) of
    the other members, with `sha256:` and the hash in hex in the place of the source.
    """

    auditor: Annotated[str, msgspec.Meta(max_length=256)]
    aud: Annotated[str, msgspec.Meta(max_length=256)]
    site: Annotated[str, msgspec.Meta(min_length=13, max_length=13)]
    observed: Annotated[str, msgspec.Meta(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    source: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_SOURCE_LENGTH)]
    iat: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
    sig: Signature
    size: Size | None = None
    independence: Independence | None = None
    chain: Annotated[str, msgspec.Meta(pattern=f"^{CHAIN}$")] | None = None
    commission: Annotated[str, msgspec.Meta(pattern=f"^{PERCENT}$")] | None = None


@post("/labels", operation_class=takes_key(), guards=[limit_writes])
async def set_label(
    data: JSONBody[LabelRequest], request: Call, services: Injected
) -> Response[PromisedView]:
    """Auditors of `/v1/log` alone.

    A later label of the same auditor takes the place of an earlier one.
    """
    members = msgspec.to_builtins(data)
    labelling = Labelling.parse({**members, "source": digest_source(data.source)})
    async with idempotent(request, services, services.labeller) as call:
        attested = await accept_label(
            call.connection,
            labelling,
            data.source,
            auditors=services.auditors,
            origin=services.log_origin,
            promiser=services.searcher.promiser,
            ids=services.ids,
        )
        return await call.answer(view_promised(attested))


@get("/sites/{host:str}/disclosures")
async def get_disclosures(
    host: FromPath[str], services: Injected, at: At = None
) -> DisclosuresView:
    """Labels are counted in reports; no label is an input of ranking."""
    instant = _instant(services, at)
    async with services.api.connect() as connection:
        entry = await find_registered(connection, host, test_hosts=services.test_hosts)
    site_id = entry.site_id
    async with services.auditor.connect() as connection:
        statements = await labels.statements_at(connection, instant, [site_id])
        history = await labels.history_of(connection, site_id, instant, HISTORY_MAX)
    return view_disclosures(entry, instant, statements.get(site_id, ()), history)


@get(
    "/labels",
    operation_class=also_as(label_table.CSV),
    response_headers=[*SIGNED, documented("Link", "rel=next: the following page")],
    responses=answer(
        "A page of sites in the order of their ids; X-JWS-Signature "
        "signs its bytes as that of a report, and Link names the next page"
    ),
)
async def get_labels(  # noqa: PLR0917 — one for each parameter
    services: Injected,
    request: Request[Any, Any, Any],
    at: At = None,
    after: Annotated[
        str | None,
        QueryParameter(
            min_length=13, max_length=13, description="A site's id: those behind it"
        ),
    ] = None,
    limit: Annotated[
        int, QueryParameter(ge=1, le=PAGE_MAX, description="Most sites of the page")
    ] = PAGE_MAX,
    form: Annotated[
        Literal["json", "csv"] | None,
        QueryParameter(
            description="Without it json, unless Accept begins with text/csv"
        ),
    ] = None,
) -> Response[bytes]:
    """A page is signed byte for byte, to show what a report was computed from."""
    instant = _instant(services, at)
    async with services.auditor.connect() as connection:
        labelled = await labels.labelled_sites(
            connection, instant, after=_after(after), most=limit + 1
        )
    page = labelled[:limit]
    following = page[-1].site_id if len(labelled) > limit else None
    accept = request.headers.get("Accept", "")
    wanted = form or ("csv" if accept.startswith(label_table.CSV) else "json")
    spell = label_table.FORMAT[wanted]
    body = await asyncio.to_thread(spell, page, instant, following)
    private = services.searcher.promiser.private
    headers = {"Vary": "Accept", HEADER: sign_detached(body, private, typ=LABELS_TYP)}
    if following is not None:
        window = f"at={format_instant(instant)}&after={following}"
        target = f"/v1/labels?{window}&limit={limit}&form={wanted}"
        headers["Link"] = f'<{target}>; rel="next"'
    return Response(body, media_type=label_table.MEDIA_TYPES[wanted], headers=headers)


def _instant(services: Services, text: str | None) -> datetime:
    """Raises: Refused."""
    now = services.clock()
    if text is None:
        return now
    at = parse_instant(text, "at")
    if at.tzinfo is None:
        detail = "an instant needs its time zone, such as Z"
        raise Refused(PARAMETER_INVALID, detail, pointer="at")
    if at > now:
        raise Refused(PARAMETER_INVALID, "it has not come yet", pointer="at")
    return at


def _after(text: str | None) -> int:
    """Raises: Refused."""
    if text is None:
        return -1
    with Refused.on(ValueError, PARAMETER_INVALID, str, pointer="after"):
        return parse_site_id(text)
