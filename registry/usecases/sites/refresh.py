"""Taking an owner's word that the site's documents changed: one crawl comes sooner.

Nothing else moves. Who could time the probes could be at his best for them, and a
schedule that hints could change would not be the same for all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from registry.db.engine.engines import Connection
from registry.db.frontier import tasks
from registry.db.sites import listed_sites as sites
from registry.db.sites import refreshes
from registry.db.sites.listed_sites import StoredKey
from registry.db.sites.refreshes import LastRefresh
from registry.errors import Conflict, Gone, NotFound, RateLimited, Refused
from registry.identity.keys.jwk import parse_jwk
from registry.identity.keys.public_keys import PublicKey
from registry.identity.refusals import KEY_NOT_PUBLISHED, KEY_REVOKED
from registry.identity.statements.jws import REFRESH_TYP, parse_compact, verify_jws
from registry.identity.statements.registered_claims import (
    parse_site_claims,
    verify_claims,
)
from registry.sites.entry import SiteEntry
from registry.sites.host import Host
from registry.usecases.refusals import (
    KEY_HELD,
    REFRESH_OF_ANOTHER_HOST,
    REFRESH_REPLAYED,
    REFRESH_TOO_OFTEN,
    SITE_UNKNOWN,
    SITE_WITHDRAWN,
)

BURST = 3
"""A mistake is mended and mended again; then the site's own pace is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshAllowance:
    """RefreshAllowance of one site: `burst` refreshes at once, one more with each interval.

    What was taken is one instant: if one refresh pays for one interval, and `burst` of
    them may be paid in advance, until when is it paid (GCRA).
    """

    interval: timedelta
    burst: int = BURST

    def take(self, paid_until: datetime, now: datetime) -> datetime:
        """paid_until, with one more. Raises: RateLimited."""
        following = max(paid_until, now) + self.interval
        wait = following - now - self.interval * self.burst
        if wait > timedelta():
            seconds = math.ceil(wait.total_seconds())
            raise RateLimited(
                REFRESH_TOO_OFTEN,
                f"The next one is taken in {seconds} seconds.",
                retry_after_s=seconds,
            )
        return following


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """due_at: from when on a crawler takes the site."""

    host: Host
    due_at: datetime


async def take_refresh(
    connection: Connection,
    token: bytes,
    host: Host,
    *,
    audience: str,
    allowance: RefreshAllowance,
    test_hosts: bool,
    now: datetime,
) -> Refresh:
    """host: that of the address. Raises: Refused, Conflict, NotFound, Gone, RateLimited.

    Whatever is refused leaves nothing behind: nobody but the owner uses up the
    allowance.
    """
    jws = parse_compact(token, typ=REFRESH_TYP)
    claims = parse_site_claims(jws.payload, test_hosts=test_hosts)
    if claims.host != host:
        raise Refused(REFRESH_OF_ANOTHER_HOST, pointer="/sub")
    verify_claims(claims, audience=audience, now=now)
    site = await _find_site(connection, host)
    known = await sites.keys_of(connection, site.site_id)
    verify_jws(jws, find_speaking_key(jws.kid, known))
    last = await refreshes.lock_last(connection, site.site_id)
    if claims.issued_at <= last.issued_at:
        detail = f"The last one was issued at {last.issued_at:%Y-%m-%dT%H:%M:%SZ}."
        raise Conflict(REFRESH_REPLAYED, detail, pointer="/iat")
    taken = LastRefresh(
        issued_at=claims.issued_at, paid_until=allowance.take(last.paid_until, now)
    )
    await refreshes.save_last(connection, site.site_id, taken)
    due_at = await tasks.hint_crawl(connection, site.site_id, now)
    return Refresh(host=host, due_at=due_at or now)


def find_speaking_key(kid: str, known: Sequence[StoredKey]) -> PublicKey:
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
        raise Conflict(KEY_HELD, pointer="/protected/kid")
    raise Refused(
        KEY_NOT_PUBLISHED,
        f"The registry knows no key of the site with the thumbprint {kid}.",
        pointer="/protected/kid",
        fix="Sign with the key of the registration. One that is new is known after "
        "act=update, or after the next proof of control.",
    )


async def _find_site(connection: Connection, host: Host) -> SiteEntry:
    site = await sites.find_site(connection, host.name)
    if site is None:
        raise NotFound(SITE_UNKNOWN, pointer="host")
    if site.status == "withdrawn":
        raise Gone(SITE_WITHDRAWN, pointer="host")
    return site
