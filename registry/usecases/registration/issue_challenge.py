"""Giving out a challenge: the first step of every registration."""

from registry.db.engine.engines import Connection
from registry.db.registration import challenges
from registry.db.sites import listed_sites as sites
from registry.identity.statements.challenge import Challenge, make_challenge
from registry.identity.statements.nonce import NONCE_BYTES
from registry.sites.host import Host
from registry.usecases.ids import IdSource


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
