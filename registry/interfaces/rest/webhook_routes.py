"""/v1/webhooks: an operator's subscriptions to what changes, and their dead letters."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Response, delete, get, post
from litestar.params import FromPath, JSONBody

from registry.db.engine.engines import Connection
from registry.db.webhooks import State, Webhook, remove_webhooks, webhooks_of
from registry.errors import Unavailable
from registry.interfaces.http.client_networks import client_of, networks_of
from registry.interfaces.http.conditional import verify_if_match
from registry.interfaces.http.credentials import (
    OPERATOR_SECURITY,
    Call,
    require_operator,
)
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.media_types import documented
from registry.interfaces.rest.wire_model import RequestBody, WireModel
from registry.usecases import subscriptions
from registry.usecases.refusals import WEBHOOKS_OFF


class WebhookRequest(RequestBody, frozen=True):
    """url: https, port 443, a public host; it has to answer the challenge first."""

    url: Annotated[str, msgspec.Meta(max_length=2048)]


class WebhookProblem(WireModel):
    code: str
    detail: str


class WebhookView(WireModel):
    """state: pending until the challenge is answered; suspended after too many failures.

    failures: in a row. problem: of the last one. nextAttemptAt: not before.
    """

    id: str
    url: str
    state: State
    created_at: datetime
    delivered_at: datetime | None
    failures: int
    problem: WebhookProblem | None
    next_attempt_at: datetime | None


class WebhookList(WireModel):
    """An operator's own, the oldest first."""

    webhooks: tuple[WebhookView, ...]


class DeadLetterView(WireModel):
    """body: as it was sent for the last time."""

    id: str
    attempts: int
    died_at: datetime
    problem: WebhookProblem
    body: str


class DeadLetterList(WireModel):
    """The newest first, twenty at most."""

    letters: tuple[DeadLetterView, ...]


@post(
    "/webhooks",
    operation_class=takes_key(),
    security=OPERATOR_SECURITY,
    response_headers=[documented("Location", "Where the subscription is seen")],
)
async def subscribe(
    data: JSONBody[WebhookRequest], request: Call, services: Injected
) -> Response[WebhookView]:
    """A crawler asks the address first: POST {"type":"challenge","challenge":…}.

    It answers 200 with {"challenge":…}, the same, and is sent what changes from now on.
    """
    operator = await require_operator(request, services, Kind.WRITE)
    if services.bot.agent is None:
        raise Unavailable(WEBHOOKS_OFF)
    async with idempotent(request, services, services.api, operator) as call:
        row = await subscriptions.subscribe(
            call.connection, operator, data.url, services.ids, _network_of(request)
        )
        location = {"Location": f"/v1/webhooks/{row.webhook_id}"}
        return await call.answer(_view(row), location)


@get("/webhooks", security=OPERATOR_SECURITY)
async def list_webhooks(request: Call, services: Injected) -> WebhookList:
    """An operator sees its own, and nobody those of others."""
    operator = await require_operator(request, services)
    async with services.api.connect() as connection:
        rows = await webhooks_of(connection, operator)
    return WebhookList(webhooks=tuple(map(_view, rows)))


@get("/webhooks/{webhook_id:str}", security=OPERATOR_SECURITY)
async def get_webhook(
    webhook_id: FromPath[str], request: Call, services: Injected
) -> WebhookView:
    """The answer's ETag is what `If-Match` of resume and delete takes."""
    operator = await require_operator(request, services)
    async with services.api.connect() as connection:
        return _view(await subscriptions.find_webhook(connection, operator, webhook_id))


@get("/webhooks/{webhook_id:str}/letters", security=OPERATOR_SECURITY)
async def get_dead_letters(
    webhook_id: FromPath[str], request: Call, services: Injected
) -> DeadLetterList:
    """A letter is a delivery that was given up. What it reported is at `/v1/changes`."""
    operator = await require_operator(request, services)
    async with services.api.connect() as connection:
        rows = await subscriptions.dead_letters(connection, operator, webhook_id)
    return DeadLetterList(
        letters=tuple(
            DeadLetterView.of(
                row, id=row.delivery_id, problem=WebhookProblem(**row.problem)
            )
            for row in rows
        )
    )


@post(
    "/webhooks/{webhook_id:str}/resume",
    takes_if_match=True,
    security=OPERATOR_SECURITY,
    status_code=200,
)
async def resume_webhook(
    webhook_id: FromPath[str], request: Call, services: Injected
) -> WebhookView:
    """A suspended address gets a new challenge; no change is lost meanwhile."""
    operator = await require_operator(request, services, Kind.WRITE)
    async with services.api.begin() as connection:
        await _verify_seen(connection, request, operator, webhook_id)
        row = await subscriptions.resume(
            connection, operator, webhook_id, services.ids, _network_of(request)
        )
    return _view(row)


@delete("/webhooks/{webhook_id:str}", takes_if_match=True, security=OPERATOR_SECURITY)
async def unsubscribe(
    webhook_id: FromPath[str], request: Call, services: Injected
) -> None:
    """End it with its dead letters; nothing is sent from now on."""
    operator = await require_operator(request, services)
    async with services.api.begin() as connection:
        await _verify_seen(connection, request, operator, webhook_id)
        await remove_webhooks(connection, operator, webhook_id)


async def _verify_seen(
    connection: Connection, request: Call, operator: str, webhook_id: str
) -> None:
    """Raises: NotFound, PreconditionFailed if the caller saw it as it is no more."""
    row = await subscriptions.find_webhook(connection, operator, webhook_id, lock=True)
    verify_if_match(request, _view(row))


def _network_of(request: Call) -> str | None:
    return networks_of(client_of(request.scope))[-1] or None


def _view(row: Webhook) -> WebhookView:
    return WebhookView.of(
        row,
        id=row.webhook_id,
        problem=WebhookProblem(**row.problem) if row.problem else None,
        next_attempt_at=row.due_at if row.state != "suspended" else None,
    )
