"""Webhooks: an operator's subscription to the change feed.

A delivery is a hint: it names sites that changed. What they are now, and whatever a
receiver missed, is at /v1/changes.
"""

import secrets
from urllib.parse import urlsplit

import msgspec

from registry.db import webhooks
from registry.db.engine.engines import Connection
from registry.db.webhooks import DeadLetter, Webhook
from registry.errors import Conflict, NotFound, Refused
from registry.identity.https_url import parse_https_url
from registry.sites.host import parse_host
from registry.usecases import refusals
from registry.usecases.ids import IdSource
from registry.usecases.sites.change_feed import begin_feed

WEBHOOKS_OF_OPERATOR = 10
_CHALLENGE_BYTES = 24


async def subscribe(
    connection: Connection,
    operator: str,
    url: str,
    ids: IdSource,
    network: str | None = None,
) -> Webhook:
    """Subscribe to what changes from now on. Raises: Refused, Conflict."""
    with Refused.on(
        ValueError, refusals.WEBHOOK_URL_INVALID, "url {}".format, pointer="/url"
    ):
        name = urlsplit(parse_https_url(url)).hostname or ""
        host = parse_host(name, test_hosts=True)
    own = await webhooks.webhooks_of(connection, operator, lock=True)
    if len(own) >= WEBHOOKS_OF_OPERATOR:
        raise Conflict(refusals.WEBHOOKS_MANY)
    now = ids.clock()
    new = Webhook(
        webhook_id=ids.ulid(),
        operator_id=operator,
        url=url,
        state="pending",
        challenge=secrets.token_urlsafe(_CHALLENGE_BYTES),
        cursor=msgspec.json.encode(await begin_feed(connection, from_now=True)),
        created_at=now,
        registrable_domain=host.registrable_domain,
        network=network,
        due_at=now,
    )
    await webhooks.add_webhook(connection, new)
    return new


async def find_webhook(
    connection: Connection, operator: str, webhook_id: str, *, lock: bool = False
) -> Webhook:
    """lock: it stays as it is until the end. Raises: NotFound, also for those of others."""
    own = await webhooks.webhooks_of(connection, operator, lock=lock)
    for row in own:
        if row.webhook_id == webhook_id:
            return row
    raise NotFound(refusals.WEBHOOK_UNKNOWN, pointer="webhookId")


async def resume(
    connection: Connection,
    operator: str,
    webhook_id: str,
    ids: IdSource,
    network: str | None = None,
) -> Webhook:
    """Repeat the challenge of a suspended subscription. Raises: NotFound."""
    challenge, now = secrets.token_urlsafe(_CHALLENGE_BYTES), ids.clock()
    await webhooks.renew(
        connection, webhook_id, challenge=challenge, network=network, due_at=now
    )
    return await find_webhook(connection, operator, webhook_id)


async def dead_letters(
    connection: Connection, operator: str, webhook_id: str
) -> list[DeadLetter]:
    """Raises: NotFound."""
    await find_webhook(connection, operator, webhook_id)
    return await webhooks.letters_of(connection, webhook_id)
