"""/v1/registrations: signed statements in, their fate out, by polling or events."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath
from litestar.response import ServerSentEvent, ServerSentEventMessage

from registry.db.registration import registrations
from registry.db.registration.registrations import Registration
from registry.errors import NotFound, Problem
from registry.interfaces.http.client_networks import networks_of
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.streams import LimitedStream
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.media_types import documented
from registry.interfaces.rest.registration.jose import JoseOperation, read_statement
from registry.interfaces.rest.wire_model import WireModel
from registry.observability import REGISTRATIONS, STATEMENT_BYTES
from registry.usecases.refusals import REGISTRATION_UNKNOWN
from registry.usecases.registration.submit_registration import submit_registration

POLL_S, SLOWEST_POLL_S, SLOWER = 0.1, 1.0, 1.2
STREAM_TIMEOUT_S = 60


class RegistrationView(WireModel):
    id: str
    host: str
    act: str
    status: str
    problems: tuple[Problem, ...]
    status_url: str
    submitted_at: datetime
    decided_at: datetime | None


LOCATION = documented("Location", "The statusUrl of the registration")


@post(
    "/registrations",
    operation_class=takes_key(JoseOperation),
    operation_id="submitRegistration",
    summary="Register, update, rotate, revoke or withdraw with a signed statement",
    tags=["registration"],
    status_code=202,
    guards=[limit_writes],
    response_headers=[LOCATION],
    responses=problems(408, 409, 413, 415, 422, 429),
)
async def submit(
    request: Request[Any, Any, Any], services: Injected
) -> Response[RegistrationView]:
    """The signature is verified afterwards, against the keys that the site publishes.

    The payload is the challenge's, with the act and its members: register and update
    take docs, category, location, size, commission_rate, is_independent and chain,
    rotate takes next_kid, revoke takes revoked_kid, both thumbprints (RFC 7638), and
    withdraw takes none. docs/keys.md is the how-to.
    """
    statement = await read_statement(request)
    async with idempotent(request, services, services.api) as call:
        if call.earlier is not None:
            return call.earlier
        registration = await submit_registration(
            call.connection,
            statement,
            audience=services.origin,
            test_hosts=services.test_hosts,
            ids=services.ids,
            network=networks_of(request.client.host)[0] if request.client else None,
        )
        view = view_registration(registration)
        answer = await call.answer(view, {"Location": view.status_url})
    REGISTRATIONS.labels(registration.act).inc()
    STATEMENT_BYTES.inc(len(statement))
    return answer


@get(
    "/registrations/{registration_id:str}",
    operation_id="getRegistration",
    summary="What became of a statement",
    tags=["registration"],
    responses=problems(404),
)
async def get_registration(
    registration_id: FromPath[str], services: Injected
) -> RegistrationView:
    """A statement is `verifying` until a crawler has looked, then accepted or `rejected`.

    `problems` say why, each with its repair.
    """
    return view_registration(await _find(services, registration_id))


@get(
    "/registrations/{registration_id:str}/events",
    operation_id="watchRegistration",
    untagged=True,
    summary="What becomes of a statement, as server-sent events",
    tags=["registration"],
    responses=problems(404, 429),
    media_type="text/event-stream",
    middleware=[LimitedStream()],
)
async def watch_registration(
    registration_id: FromPath[str], services: Injected
) -> ServerSentEvent:
    """An event comes at once, and one when it is decided; a stream ends after a minute."""
    first = await _find(services, registration_id)
    return ServerSentEvent(_changes(services, first))


async def _changes(
    services: Services, seen: Registration
) -> AsyncIterator[ServerSentEventMessage]:
    """The status now, and once more when it is decided; asked ever more slowly."""
    yield _event(seen)
    pause_s = waited_s = POLL_S
    while seen.status == "verifying" and waited_s < STREAM_TIMEOUT_S:
        await asyncio.sleep(pause_s)
        seen = await _find(services, seen.registration_id)
        pause_s = min(pause_s * SLOWER, SLOWEST_POLL_S)
        waited_s += pause_s
        if seen.status != "verifying":
            yield _event(seen)


def _event(registration: Registration) -> ServerSentEventMessage:
    data = msgspec.json.encode(view_registration(registration)).decode()
    return ServerSentEventMessage(data=data, event="status")


async def _find(services: Services, registration_id: str) -> Registration:
    if registration_id.isascii() and registration_id.isalnum():
        async with services.api.connect() as connection:
            registration = await registrations.find_registration(
                connection, registration_id
            )
        if registration is not None:
            return registration
    raise NotFound(REGISTRATION_UNKNOWN)


def view_registration(registration: Registration) -> RegistrationView:
    return RegistrationView.of(
        registration,
        id=registration.registration_id,
        status_url=f"/v1/registrations/{registration.registration_id}",
    )
