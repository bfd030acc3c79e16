"""Statements of a site's owner that need no look at the site: its known keys decide."""

from collections.abc import Sequence
from datetime import datetime

from registry.db.engine.engines import Connection
from registry.db.sites import listed_sites as sites
from registry.db.sites.listed_sites import StoredKey
from registry.errors import Conflict, Gone, NotFound, Refused
from registry.identity.keys.jwk import parse_jwk
from registry.identity.keys.public_keys import PublicKey
from registry.identity.refusals import KEY_NOT_PUBLISHED, KEY_REVOKED
from registry.identity.statements.jws import parse_compact, verify_jws
from registry.identity.statements.registered_claims import (
    StatementClaims,
    parse_site_claims,
    verify_claims,
)
from registry.sites.entry import SiteEntry
from registry.sites.host import Host
from registry.usecases import refusals


async def verify_owner(
    connection: Connection,
    token: bytes,
    host: Host,
    *,
    typ: str,
    audience: str,
    test_hosts: bool,
    now: datetime,
) -> tuple[SiteEntry, StatementClaims]:
    """Return the site and the claims that its owner signed for this use.

    host: that of the address. Raises: Refused, Conflict, NotFound, Gone.
    """
    jws = parse_compact(token, typ=typ)
    claims = parse_site_claims(jws.payload, test_hosts=test_hosts)
    if claims.host != host:
        raise Refused(refusals.REFRESH_OF_ANOTHER_HOST, pointer="/sub")
    verify_claims(claims, audience=audience, now=now)
    site = await find_registered(connection, host)
    known = await sites.keys_of(connection, site.site_id)
    verify_jws(jws, find_trusted_key(jws.kid, known))
    return site, claims


def find_trusted_key(kid: str, known: Sequence[StoredKey]) -> PublicKey:
    """Return the key among those that the last proof of control left: no site is asked.

    Only a trusted key speaks; one that still waits may at the next proof. A key that
    the site's pins have come to deny counts until then: a hint is worth no look-up.
    Raises: Refused, Conflict.
    """
    own = {
        stored.known.state: stored
        for stored in known
        if stored.known.reference.kid == kid
    }
    if "revoked" in own:
        raise Refused(KEY_REVOKED, pointer="/protected/kid")
    if "trusted" in own:
        return parse_jwk(dict(own["trusted"].jwk))
    if own.keys() & {"cooling", "recovering"}:
        raise Conflict(refusals.KEY_HELD, pointer="/protected/kid")
    raise Refused(
        KEY_NOT_PUBLISHED,
        f"The registry knows no key of the site with the thumbprint {kid}.",
        pointer="/protected/kid",
        fix="Sign with the key of the registration. One that is new is known after "
        "act=update, or after the next proof of control.",
    )


async def find_registered(connection: Connection, host: Host) -> SiteEntry:
    """Raises: NotFound, Gone."""
    site = await sites.find_site(connection, host.name)
    if site is None:
        raise NotFound(refusals.SITE_UNKNOWN, pointer="host")
    if site.status == "withdrawn":
        raise Gone(refusals.SITE_WITHDRAWN, pointer="host")
    return site
