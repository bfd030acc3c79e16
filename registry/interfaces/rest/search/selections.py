"""POST /v1/selections: which site of a ranking was chosen."""

from typing import Annotated

import msgspec
from litestar import Response, post
from litestar.params import JSONBody

from registry.db.engine.engines import Connection
from registry.interfaces.http.credentials import ANYBODY, Call, admit_caller
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.wire_model import PromisedView, RequestBody, view_promised
from registry.observability import SELECTIONS
from registry.usecases.search.select import Selection, select_site

OUTCOME = r"^[a-z][a-z0-9_-]{0,31}$"


class SelectionRequest(RequestBody, frozen=True):
    """rankingId: the whole id of the answer. siteId: or the host; null: none was chosen.

    outcome: one word, such as succeeded or failed.
    """

    ranking_id: Annotated[str, msgspec.Meta(max_length=100)]
    site_id: Annotated[str, msgspec.Meta(max_length=253)] | None
    outcome: Annotated[str, msgspec.Meta(pattern=OUTCOME)] | None = None


@post(
    "/selections",
    operation_class=takes_key(),
    summary="Report which site was chosen from a ranking, once",
    tags=["search"],
    security=ANYBODY,
    responses=problems(401, 403, 404, 408, 409, 413, 415, 422, 429),
)
async def report_selection(
    data: JSONBody[SelectionRequest], request: Call, services: Injected
) -> Response[PromisedView]:
    """A ranking takes one selection, from who asked.

    It is on record before the answer.
    """
    operator = await admit_caller(request, services, Kind.SELECTION)
    async with idempotent(request, services, services.api, operator) as call:
        if call.earlier is not None:
            return call.earlier
        view = await _select(call.connection, services, data, operator)
        answer = await call.answer(view)
    SELECTIONS.inc()
    return answer


async def save_selection(
    services: Services, data: SelectionRequest, operator: str | None
) -> PromisedView:
    """Put a selection on record, for any face. operator: who reports it, if known.

    Raises: Refused, Forbidden, NotFound, Conflict, Unavailable.
    """
    async with services.api.begin() as connection:
        view = await _select(connection, services, data, operator)
    SELECTIONS.inc()
    return view


async def _select(
    connection: Connection,
    services: Services,
    data: SelectionRequest,
    operator: str | None,
) -> PromisedView:
    selected = await select_site(
        connection,
        Selection(
            ranking_id=data.ranking_id,
            site_id=data.site_id,
            outcome=data.outcome,
            operator=operator,
        ),
        web_key=services.web_key,
        promiser=services.searcher.promiser,
        ids=services.ids,
    )
    return view_promised(selected)
