"""An owner's hint that the site's documents changed: one crawl comes sooner.

Nothing else moves. Who could time the probes could be at his best for them, and a
schedule that hints could change would not be the same for all.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from registry.db.engine.engines import Connection
from registry.db.frontier import tasks
from registry.db.sites import refreshes
from registry.db.sites.refreshes import LastRefresh
from registry.errors import Conflict, RateLimited
from registry.identity.statements.jws import REFRESH_TYP
from registry.sites.host import Host
from registry.usecases.refusals import REFRESH_REPLAYED, REFRESH_TOO_OFTEN
from registry.usecases.sites.owner_statement import verify_owner

BURST = 3
"""A mistake is mended and mended again; then the site's own pace is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshAllowance:
    """Allowance of one site: `burst` refreshes at once, one more with each interval.

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
    site, claims = await verify_owner(
        connection,
        token,
        host,
        typ=REFRESH_TYP,
        audience=audience,
        test_hosts=test_hosts,
        now=now,
    )
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
