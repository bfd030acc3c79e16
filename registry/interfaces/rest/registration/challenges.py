"""POST /v1/challenges: a nonce, the payload to sign and the ways to prove control."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import post
from litestar.params import JSONBody

from registry.identity.json_fields import pointing_at
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.http.strict import verify_text
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.sites.host import MAX_HOST_LENGTH, parse_host
from registry.usecases.registration.issue_challenge import issue_challenge

MAX_TEXT_LENGTH = 2 * MAX_HOST_LENGTH  # U-labels may be longer than their A-labels


class ChallengeRequest(RequestBody):
    """host: the name of the site, such as shop.example."""

    host: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_LENGTH)]


class NextStepView(WireModel):
    """One way to prove control; any one is enough."""

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
    operation_id="createChallenge",
    summary="Ask for a challenge",
    tags=["registration"],
    guards=[limit_writes],
    responses=problems(408, 413, 415, 429),
)
async def create_challenge(
    data: JSONBody[ChallengeRequest], services: Injected
) -> ChallengeView:
    text = verify_text(data.host, "/host", max_length=MAX_TEXT_LENGTH)
    with pointing_at("/host"):
        host = parse_host(text, test_hosts=services.test_hosts)
    async with services.api.begin() as connection:
        challenge = await issue_challenge(
            connection, host, audience=services.origin, ids=services.ids
        )
    return ChallengeView(
        host=host.name,
        nonce=challenge.nonce,
        expires_at=challenge.expires_at,
        payload=dict(challenge.payload),
        next_steps=tuple(
            NextStepView(
                method=step.method, where=step.where, put=step.put, how=step.how
            )
            for step in challenge.next_steps
        ),
    )
