"""POST /v1/counterfactual: one question of an auditor, asked of a shadow index."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody

from registry.index.columns.filters import Filters
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import Kind, limit_writes
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.http.strict import pointing_into_body, verify_text
from registry.interfaces.rest.search.search import (
    resolve_filters,
    verify_filters,
    verify_radius,
)
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.records.auditor_signature import parse_signature
from registry.records.counterfactual import Inquiry, verify_inquiry
from registry.records.refusals import COUNTERFACTUAL_INVALID
from registry.reports.invariance import HOLDS, PERTURBATIONS, Page
from registry.sites.identifier import format_site_id
from registry.usecases.log.attest import verify_known
from registry.usecases.reports.answer_counterfactual import CHANGED_MAX, Counterfactual
from registry.usecases.search.search_query import MAX_QUERY_LENGTH

TABLE = "; ".join(f"{row.name}: {row.changes}, {row.holds}" for row in PERTURBATIONS)


class CounterfactualRequest(RequestBody):
    """A question about an answer in which one thing of these sites were otherwise.

    auditor: a C2SP verifier key that the registry knows. aud: the origin of /v1/log.
    iat: seconds since 1970, of now. sites: ids of those that are changed; none where a
    site joins. ranking: id of a record, whose query is asked again; or else q, with
    cell and filters. sig: Ed25519 over the line `fair-registry/counterfactual/v1` and
    the canonical JSON of the other members, those that are null or empty left out,
    base64url.
    """

    auditor: Annotated[str, msgspec.Meta(max_length=256)]
    aud: Annotated[str, msgspec.Meta(max_length=256)]
    iat: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]
    perturbation: Annotated[str, msgspec.Meta(max_length=32, description=TABLE)]
    sig: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{86}$")]
    sites: Annotated[
        tuple[Annotated[str, msgspec.Meta(pattern="^[0-9A-Z]{13}$")], ...],
        msgspec.Meta(max_length=CHANGED_MAX),
    ] = ()
    ranking: Annotated[str, msgspec.Meta(pattern="^[0-9A-Z]{26}$")] | None = None
    q: (
        Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_LENGTH)] | None
    ) = None
    cell: Annotated[str, msgspec.Meta(pattern="^[0-9b-hjkmnp-z]{1,4}$")] | None = None
    filters: Filters | None = None


class PlaceOfSite(WireModel):
    """score: 0..10^8. behind: sites that share the place."""

    site_id: str
    score: int
    behind: tuple[str, ...]


class OrderView(WireModel):
    """isWhole: there are no more places."""

    places: tuple[PlaceOfSite, ...]
    is_whole: bool


class CounterfactualView(WireModel):
    """changes: what was otherwise. expected, expectation: what has to hold, as a code and as a sentence.

    held: whether it did. changed: ids of the sites that were otherwise, or that joined.
    shadow: sites that were ranked, of all those listed.
    """

    perturbation: str
    changes: str
    expected: str
    expectation: str
    held: bool
    changed: tuple[str, ...]
    policy_digest: str
    asked_at: datetime
    shadow: int
    listed: int
    before: OrderView
    after: OrderView


@post(
    "/counterfactual",
    operation_id="askCounterfactual",
    summary="Ask, as an auditor, what an answer would be if one thing were otherwise",
    tags=["audit"],
    status_code=200,
    guards=[limit_writes],
    responses=problems(403, 404, 408, 410, 413, 415, 429),
)
async def answer_counterfactual(
    data: JSONBody[CounterfactualRequest], request: Call, services: Injected
) -> CounterfactualView:
    """Try a perturbation for an auditor. Nothing of it is put on record."""
    inquiry = _inquiry_of(data)
    verify_known(inquiry.auditor, services.auditors)
    verify_inquiry(
        inquiry,
        parse_signature(data.sig, COUNTERFACTUAL_INVALID),
        audience=services.log_vkey.partition("+")[0],
        now=services.clock(),
    )
    await services.limits.admit(request.scope, Kind.INQUIRY, inquiry.auditor)
    with pointing_into_body():
        verify_text(data.q or "", "q", max_length=MAX_QUERY_LENGTH)
    given = data.filters or Filters()
    with pointing_into_body("/filters"):
        verify_filters(given)
        verify_radius(given, data.cell)
        filters = resolve_filters(given, services.gazetteer, with_country=True)
    return _view(await services.counterfactuals.answer(inquiry, filters))


def _inquiry_of(data: CounterfactualRequest) -> Inquiry:
    return Inquiry(
        auditor=data.auditor,
        audience=data.aud,
        issued_at=data.iat,
        perturbation=data.perturbation,
        sites=data.sites,
        ranking=data.ranking,
        query=data.q,
        cell=data.cell,
        filters=msgspec.to_builtins(data.filters) if data.filters else {},
    )


def _view(outcome: Counterfactual) -> CounterfactualView:
    perturbation = outcome.perturbation
    return CounterfactualView.of(
        outcome,
        perturbation=perturbation.name,
        changes=perturbation.changes,
        expected=perturbation.holds,
        expectation=HOLDS[perturbation.holds],
        changed=tuple(map(format_site_id, outcome.changed)),
        asked_at=outcome.at,
        before=_view_page(outcome.before),
        after=_view_page(outcome.after),
    )


def _view_page(page: Page) -> OrderView:
    return OrderView(
        places=tuple(
            PlaceOfSite(
                site_id=format_site_id(place.site_id),
                score=place.score,
                behind=tuple(map(format_site_id, place.behind)),
            )
            for place in page.places
        ),
        is_whole=page.is_whole,
    )
