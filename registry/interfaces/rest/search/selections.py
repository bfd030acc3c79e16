"""POST /v1/selections: which site of a ranking was chosen."""

from litestar import Response, post
from litestar.params import JSONBody

from registry.db.engine.engines import Connection
from registry.interfaces.http.credentials import ANYBODY, Call, admit_caller
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.wire_model import PromisedView, view_promised
from registry.observability import SELECTIONS
from registry.usecases.search.select import SelectionRequest, select_site


@post("/selections", operation_class=takes_key(), security=ANYBODY)
async def report_selection(
    data: JSONBody[SelectionRequest], request: Call, services: Injected
) -> Response[PromisedView]:
    """A ranking takes one selection, from who asked.

    It is on record before the answer.
    """
    operator = await admit_caller(request, services, Kind.SELECTION)
    async with idempotent(request, services, services.api, operator) as call:
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
        data,
        operator=operator,
        web_key=services.web_key,
        promiser=services.searcher.promiser,
        ids=services.ids,
    )
    return view_promised(selected)
