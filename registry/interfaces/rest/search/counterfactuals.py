"""POST /v1/counterfactual: one question of an auditor, asked of a shadow index."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import post
from litestar.params import JSONBody

from registry.index.columns.filters import Filters
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import Kind, limit_writes
from registry.interfaces.http.services import Injected
from registry.interfaces.http.strict import pointing_into_body, verify_text
from registry.interfaces.rest.search.search import (
    resolve_filters,
    verify_filters,
    verify_radius,
)
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.records.auditor_signature import Signature
from registry.records.counterfactual import Inquiry, SiteId
from registry.reports.invariance import HOLDS, PERTURBATIONS, Page
from registry.sites.identifier import format_site_id
from registry.usecases.log.attest import verify_known
from registry.usecases.reports.answer_counterfactual import CHANGED_MAX, Counterfactual
from registry.usecases.search.search_query import MAX_QUERY_LENGTH

TABLE = "; ".join(f"{row.name}: {row.changes}, {row.holds}" for row in PERTURBATIONS)


class CounterfactualRequest(RequestBody, Inquiry, frozen=True):
    """A question about an answer in which one thing of these sites were otherwise.

    auditor: a C2SP verifier key that the registry knows. aud: the origin of /v1/log.
    iat: seconds since 1970, of now. sites: ids of those that are changed; none where a
    site joins. ranking: id of a record, whose query is asked again; or else q, with
    cell and filters. sig: Ed25519 over the line `fair-registry/counterfactual/v1` and
    the canonical JSON of the other members, those that are null or empty left out,
    base64url.
    """

    perturbation: Annotated[str, msgspec.Meta(max_length=32, description=TABLE)]
    sig: Signature
    sites: Annotated[tuple[SiteId, ...], msgspec.Meta(max_length=CHANGED_MAX)] = ()
    query: (
        Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_QUERY_LENGTH)] | None
    ) = msgspec.field(default=None, name="q")
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
    status_code=200,
    guards=[limit_writes],
)
async def answer_counterfactual(
    data: JSONBody[CounterfactualRequest], request: Call, services: Injected
) -> CounterfactualView:
    """Try a perturbation for an auditor. Nothing of it is put on record."""
    verify_known(data.auditor, services.auditors)
    data.verify_for(services.log_origin)
    data.verify_question(services.clock())
    await services.limits.admit(request.scope, Kind.INQUIRY, data.auditor)
    with pointing_into_body():
        verify_text(data.query or "", "q", max_length=MAX_QUERY_LENGTH)
    given = data.filters or Filters()
    with pointing_into_body("/filters"):
        verify_filters(given)
        verify_radius(given, data.cell)
        filters = resolve_filters(given, services.gazetteer, with_country=True)
    return _view(await services.counterfactuals.answer(data, filters))


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
                site_id=format_site_id(slot.site_id),
                score=slot.score,
                behind=tuple(map(format_site_id, slot.behind)),
            )
            for slot in page.slots
        ),
        is_whole=page.is_whole,
    )
