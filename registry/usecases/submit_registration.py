"""Taking a signed statement: all that can be refused at once is refused at once.

The web tier makes no outbound request, so the keys are not known here and the signature
is not checked: the row that is left is leased by a crawler, which decides.
"""

from registry.db import challenges, registrations, sites
from registry.db.engine import Connection
from registry.db.registrations import Registration
from registry.errors import Conflict
from registry.identity.challenge import verify_challenge
from registry.identity.jws import parse_compact
from registry.identity.registration import (
    parse_statement,
    verify_sequence,
    verify_statement,
)
from registry.usecases.chance import Chance
from registry.usecases.refusals import SITE_NOT_REGISTERED


async def submit_registration(
    connection: Connection,
    token: bytes,
    *,
    audience: str,
    test_hosts: bool,
    chance: Chance,
) -> Registration:
    """Form, audience, time, nonce and sequence. Raises: Refused, Conflict, TooLarge."""
    jws = parse_compact(token)
    statement = parse_statement(jws.payload, test_hosts=test_hosts)
    now = chance.now()
    verify_statement(statement, audience=audience, now=now)
    issued = await challenges.find_challenge(connection, statement.nonce)
    verify_challenge(statement, issued, now=now)
    site = await sites.find_site(connection, statement.host.name)
    if site is None and statement.act != "register":
        raise Conflict(SITE_NOT_REGISTERED, pointer="/act")
    verify_sequence(statement, last_seq=site.seq if site else None)
    registration = Registration(
        registration_id=chance.ulid(),
        host=statement.host.name,
        act=statement.act,
        status="verifying",
        kid=jws.kid,
        seq=statement.seq,
        nonce=statement.nonce,
        token=token,
        token_digest=jws.digest,
        problems=(),
        submitted_at=now,
    )
    await registrations.save_registration(connection, registration)
    return registration
