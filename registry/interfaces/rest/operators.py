"""/v1/operators: who runs agents registers with a signed statement, and sees its figures."""

from datetime import datetime
from typing import Literal

from litestar import Response, get, post
from litestar.params import FromPath
from msgspec import structs

from registry.db.operators import StoredOperator
from registry.errors import NotFound
from registry.identity.keys.public_keys import parse_thumbprint
from registry.identity.statements.operator_statement import Contact
from registry.interfaces.http.credentials import (
    OPERATOR_SECURITY,
    Call,
    require_operator,
)
from registry.interfaces.http.limits import Kind, limit_accounts, limit_writes
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.media_types import also_as, documented
from registry.interfaces.rest.registration.jose import JoseOperation, read_statement
from registry.interfaces.rest.reports.kept_reports import SIGNED, FormParameter
from registry.interfaces.rest.reports.reports import (
    REPORT_RESPONSE,
    Category,
    End,
    Start,
    hand_out_report,
    parse_ends,
)
from registry.interfaces.rest.wire_model import WireModel
from registry.reports.render.report_files import MEDIA_TYPES
from registry.usecases.operators.register_operator import find_operator, take_statement
from registry.usecases.refusals import OPERATOR_UNKNOWN


class DeclaredView(WireModel):
    """The statement of an operator about itself; nobody has checked it."""

    name: str
    contact: str


class OperatorView(WireModel):
    """id: the RFC 7638 thumbprint of its first key; keyThumbprint: of the present one.

    rankings: how many it has asked for, which is the highest `opn` of its records in the
    log. declared: null unless it wants that to be public.
    """

    id: str
    status: Literal["active", "closed"]
    key_thumbprint: str | None
    registered_at: datetime
    closed_at: datetime | None
    rankings: int
    declared: DeclaredView | None


class OwnOperatorView(OperatorView):
    """An operator as it sees itself. public: `declared` is shown to others."""

    public: bool
    api_key_made_at: datetime | None


class StatedOperatorView(OwnOperatorView):
    """apiKey: the new one, if one was requested; it is shown this once."""

    api_key: str | None


@post(
    "/operators",
    operation_class=takes_key(JoseOperation),
    guards=[limit_accounts],
    response_headers=[documented("Location", "Where anybody sees the operator")],
)
async def register_operator(
    request: Call, services: Injected
) -> Response[StatedOperatorView]:
    """The header's typ is operator-statement+jws.

    The payload has aud, sub, iat, exp, act (register), jwk, name and contact, and may
    have public and api_key.
    """
    return await _take(request, services, None)


@post(
    "/operators/{operator_id:str}/statements",
    operation_class=takes_key(JoseOperation),
    status_code=200,
    guards=[limit_writes],
)
async def change_operator(
    operator_id: FromPath[str], request: Call, services: Injected
) -> Response[StatedOperatorView]:
    """Take the same statement as registering, with one of these acts, each of which may have api_key, too.

    update: name, contact, public. rotate: next_jwk. close: nothing, nor api_key.
    """
    return await _take(request, services, operator_id)


async def _take(
    request: Call, services: Services, operator_id: str | None
) -> Response[StatedOperatorView]:
    token = await read_statement(request)
    async with idempotent(request, services, services.api) as call:
        stated = await take_statement(
            call.connection,
            token,
            operator_id=operator_id,
            audience=services.origin,
            ids=services.ids,
        )
        own = _view_own(stated.operator)
        view = StatedOperatorView(**structs.asdict(own), api_key=stated.api_key)
        location = {} if operator_id else {"Location": f"/v1/operators/{view.id}"}
        return await call.answer(view, location)


@get("/operators/{operator_id:str}")
async def get_operator(operator_id: FromPath[str], services: Injected) -> OperatorView:
    """Name and contact are shown if the operator wants it."""
    with NotFound.on(ValueError, OPERATOR_UNKNOWN):
        parse_thumbprint(operator_id)
    async with services.api.connect() as connection:
        operator = await find_operator(connection, operator_id)
    contact = (
        operator.contact if operator.contact and operator.contact.is_public else None
    )
    return _view(operator, contact)


@get("/operators/self", security=OPERATOR_SECURITY)
async def get_own_operator(request: Call, services: Injected) -> OwnOperatorView:
    """Asked with an API key or a signature."""
    operator_id = await require_operator(request, services)
    async with services.api.connect() as connection:
        return _view_own(await find_operator(connection, operator_id))


@get(
    "/operators/self/report",
    operation_class=also_as(*MEDIA_TYPES.values()),
    security=OPERATOR_SECURITY,
    response_headers=SIGNED,
    responses=REPORT_RESPONSE,
)
async def get_own_report(
    services: Injected,
    request: Call,
    *,
    start: Start = None,
    end: End = None,
    category: Category = None,
    form: FormParameter = None,
) -> Response[bytes]:
    """Signed by the registry, so that the operator can publish it as it is."""
    operator_id = await require_operator(request, services, Kind.REPORT)
    return await hand_out_report(
        request,
        services,
        caller=operator_id,
        between=parse_ends(start, end),
        operator=operator_id,
        category=category,
        form=form,
    )


def _view(operator: StoredOperator, contact: Contact | None) -> OperatorView:
    declared = (
        DeclaredView(name=contact.name, contact=contact.contact) if contact else None
    )
    return OperatorView.of(
        operator,
        id=operator.operator_id,
        status="closed" if operator.closed_at else "active",
        key_thumbprint=operator.kid,
        declared=declared,
    )


def _view_own(operator: StoredOperator) -> OwnOperatorView:
    return OwnOperatorView(
        **structs.asdict(_view(operator, operator.contact)),
        public=operator.contact is not None and operator.contact.is_public,
        api_key_made_at=operator.api_key_made_at,
    )
