"""Challenges, and signed statements: what can be refused at once is refused at once.

The web tier makes no outbound request, so the keys are not known here and the signature
is not checked: the row that is left is leased by a crawler, which decides. Of one network
one statement waits for a host, and a newer one takes its place; what a stranger sends
takes no place of the owner's.

Anybody can send a statement that no key of the site signed. Once it has been rejected for
a week its bytes are dropped, for nobody asks any more why; its digest stays.
"""

from datetime import timedelta

from registry.db.engine.engines import Connection, Engine
from registry.db.registration import challenges, registrations
from registry.db.registration.registrations import Registration
from registry.db.sites import listed_sites as sites
from registry.errors import Conflict, RateLimited, Refused
from registry.identity.statements.challenge import (
    Challenge,
    make_challenge,
    verify_challenge,
)
from registry.identity.statements.jws import parse_compact
from registry.identity.statements.nonce import NONCE_BYTES
from registry.identity.statements.registration import (
    parse_statement,
    verify_sequence,
    verify_statement,
)
from registry.sites.host import Host
from registry.usecases import refusals
from registry.usecases.ids import Clock, IdSource


async def issue_challenge(
    connection: Connection, host: Host, *, audience: str, ids: IdSource
) -> Challenge:
    """A nonce for the host, remembered until it expires."""
    known = await sites.find_site(connection, host.name)
    now = ids.clock()
    challenge = make_challenge(
        host,
        audience=audience,
        next_seq=known.seq + 1 if known else 1,
        now=now,
        randomness=ids.random_bytes(NONCE_BYTES),
    )
    await challenges.save_challenge(
        connection, host.name, challenge.nonce, now, challenge.expires_at
    )
    return challenge


MAX_PER_NONCE = 10
"""A failed try does not burn the nonce; but one nonce is no licence for any number."""


RETRY_AFTER_S = 5
MAX_WAITING = 200
"""Statements of one network that wait for a crawler, for whatever hosts."""


async def submit_registration(
    connection: Connection,
    token: bytes,
    *,
    audience: str,
    test_hosts: bool,
    ids: IdSource,
    network: str | None = None,
) -> Registration:
    """Verify form, audience, time, nonce and sequence. Raises: Refused, Conflict, TooLarge, RateLimited.

    network: from which it came.
    """
    jws = parse_compact(token)
    statement = parse_statement(jws.payload, test_hosts=test_hosts)
    now = ids.clock()
    verify_statement(statement, audience=audience, now=now)
    issued = await challenges.find_challenge(connection, statement.nonce)
    verify_challenge(statement, issued, now=now)
    tries = await registrations.count_of_nonce(connection, statement.nonce)
    if tries >= MAX_PER_NONCE:
        raise Conflict(refusals.NONCE_TRIED_OFTEN, pointer="/jti")
    site = await sites.find_site(connection, statement.host.name)
    if site is None and statement.act != "register":
        raise Conflict(refusals.SITE_NOT_REGISTERED, pointer="/act")
    verify_sequence(statement, last_seq=site.seq if site else None, now=now)
    registration = Registration(
        registration_id=ids.ulid(),
        host=statement.host.name,
        act=statement.act,
        status="verifying",
        kid=jws.kid,
        seq=statement.seq,
        nonce=statement.nonce,
        token=token,
        token_digest=jws.digest,
        registrable_domain=statement.host.registrable_domain,
        network=network,
        problems=(),
        submitted_at=now,
    )
    await _supersede(connection, registration)
    return registration


async def _supersede(connection: Connection, new: Registration) -> None:
    superseded = Refused(refusals.REGISTRATION_SUPERSEDED).problem
    await registrations.supersede(
        connection, new.host, new.network, superseded, new.submitted_at
    )
    if new.network is not None:
        waiting = await registrations.count_waiting(connection, new.network)
        if waiting >= MAX_WAITING:
            raise RateLimited(
                refusals.REGISTRATIONS_WAITING, retry_after_s=RETRY_AFTER_S
            )
    await registrations.save_registration(connection, new)


BYTES_RETENTION, ROW_RETENTION = timedelta(hours=1), timedelta(days=7)
"""Ages of a rejection at which the schema's trigger `keep_statement` lets it go."""


async def drop_rejected_statements(engine: Engine, clock: Clock) -> int:
    """Drop what was rejected; return how many lost their bytes. engine: the reporter's."""
    async with engine.begin() as connection:
        before, long_before = clock() - BYTES_RETENTION, clock() - ROW_RETENTION
        return await registrations.drop_rejected(connection, before, long_before)
