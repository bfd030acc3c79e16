"""POST /v1/challenges: a nonce, the payload to sign and the ways to prove control."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import Response, post
from litestar.params import JSONBody

from registry.identity.json_fields import pointing_at
from registry.identity.statements.challenge import Challenge
from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.http.strict import verify_text
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.sites.host import MAX_HOST_LENGTH, Host, parse_host
from registry.usecases.registration.issue_challenge import issue_challenge

MAX_TEXT_LENGTH = 2 * MAX_HOST_LENGTH  # U-labels may be longer than their A-labels


class ChallengeRequest(RequestBody):
    """host: the name of the site, such as shop.example."""

    host: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_LENGTH)]


class NextStepView(WireModel):
    """A way to prove control; each suffices alone."""

    method: str
    where: str
    put: str
    how: str


class ChallengeView(WireModel):
    """payload: sign it as it is within ten minutes; later with new `iat` and `exp`."""

    host: str
    nonce: str
    expires_at: datetime
    payload: dict[str, Any]
    next_steps: tuple[NextStepView, ...]


@post(
    "/challenges",
    operation_class=takes_key(),
    operation_id="createChallenge",
    summary="Ask for a challenge",
    tags=["registration"],
    guards=[limit_writes],
    responses=problems(408, 409, 413, 415, 422, 429),
)
async def create_challenge(
    data: JSONBody[ChallengeRequest], request: Call, services: Injected
) -> Response[ChallengeView]:
    """The nonce counts once.

    Sign the payload as it is, or with members of the act, and send it to
    `/v1/registrations`.
    """
    host = _parse_host(services, data)
    async with idempotent(request, services, services.api) as call:
        if call.earlier is not None:
            return call.earlier
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
    return ChallengeView(
        host=host,
        nonce=challenge.nonce,
        expires_at=challenge.expires_at,
        payload=dict(challenge.payload),
        next_steps=tuple(NextStepView.of(step) for step in challenge.next_steps),
    )
