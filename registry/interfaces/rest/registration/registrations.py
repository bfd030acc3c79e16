"""/v1/challenges and /v1/registrations: how a site proves control and registers.

A challenge is a nonce, the payload to sign and the ways to prove control. Then signed
statements come in, and what became of them goes out, by polling or as events.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath, JSONBody
from litestar.response import ServerSentEvent, ServerSentEventMessage

from registry.db.registration import registrations
from registry.db.registration.registrations import Registration
from registry.errors import NotFound, Problem
from registry.identity.json_fields import pointing_at
from registry.identity.statements.challenge import Challenge, NextStep
from registry.interfaces.http.client_networks import network_of
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.streams import LimitedStream
from registry.interfaces.http.strict import verify_text
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.media_types import documented
from registry.interfaces.rest.registration.jose import JoseOperation, read_statement
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.observability import REGISTRATIONS, STATEMENT_BYTES
from registry.sites.host import MAX_HOST_LENGTH, Host, parse_host
from registry.usecases.background import Cadence
from registry.usecases.refusals import REGISTRATION_UNKNOWN
from registry.usecases.registration.submit_registration import (
    issue_challenge,
    submit_registration,
)

MAX_TEXT_LENGTH = 2 * MAX_HOST_LENGTH  # U-labels may be longer than their A-labels


class ChallengeRequest(RequestBody, frozen=True):
    """host: the name of the site, such as shop.example."""

    host: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_LENGTH)]


class ChallengeView(WireModel):
    """payload: sign it as it is within ten minutes; later with new `iat` and `exp`."""

    host: str
    nonce: str
    expires_at: datetime
    payload: dict[str, Any]
    next_steps: tuple[NextStep, ...]


@post("/challenges", operation_class=takes_key(), guards=[limit_writes])
async def create_challenge(
    data: JSONBody[ChallengeRequest], request: Call, services: Injected
) -> Response[ChallengeView]:
    """The nonce counts once.

    Sign the payload as it is, or with members of the act, and send it to
    `/v1/registrations`.
    """
    host = _parse_host(services, data)
    async with idempotent(request, services, services.api) as call:
        challenge = await issue_challenge(
            call.connection, host, audience=services.origin, ids=services.ids
        )
        return await call.answer(_view(host.name, challenge))


async def save_challenge(services: Services, data: ChallengeRequest) -> ChallengeView:
    """Issue a challenge, for any face. Raises: Refused."""
    host = _parse_host(services, data)
    async with services.api.begin() as connection:
        challenge = await issue_challenge(
            connection, host, audience=services.origin, ids=services.ids
        )
    return _view(host.name, challenge)


def _parse_host(services: Services, data: ChallengeRequest) -> Host:
    text = verify_text(data.host, "/host", max_length=MAX_TEXT_LENGTH)
    with pointing_at("/host"):
        return parse_host(text, test_hosts=services.test_hosts)


def _view(host: str, challenge: Challenge) -> ChallengeView:
    return ChallengeView.of(challenge, host=host, payload=dict(challenge.payload))


POLL_S, SLOWEST_POLL_S = 0.1, 1.0
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
    status_code=202,
    guards=[limit_writes],
    response_headers=[LOCATION],
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
        registration = await submit_registration(
            call.connection,
            statement,
            audience=services.origin,
            test_hosts=services.test_hosts,
            ids=services.ids,
            network=network_of(request.scope) or None,
        )
        view = view_registration(registration)
        answer = await call.answer(view, {"Location": view.status_url})
    REGISTRATIONS.labels(registration.act).inc()
    STATEMENT_BYTES.inc(len(statement))
    return answer


@get("/registrations/{registration_id:str}")
async def get_registration(
    registration_id: FromPath[str], services: Injected
) -> RegistrationView:
    """A statement is `verifying` until a crawler has looked, then accepted or `rejected`.

    `problems` say why, each with its repair.
    """
    return view_registration(await _find(services, registration_id))


@get(
    "/registrations/{registration_id:str}/events",
    untagged=True,
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
    cadence, waited_s = Cadence(POLL_S, SLOWEST_POLL_S), 0.0
    while seen.status == "verifying" and waited_s < STREAM_TIMEOUT_S:
        waited_s += (pause_s := cadence.after(None))
        await asyncio.sleep(pause_s)
        seen = await _find(services, seen.registration_id)
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
